# verdict: PASS
# verdict at process: FAIL
import socket

opened = []
for family, kind in (
    (socket.AF_INET, socket.SOCK_STREAM),
    (socket.AF_INET, socket.SOCK_DGRAM),
    (socket.AF_INET6, socket.SOCK_STREAM),
    (socket.AF_UNIX, socket.SOCK_STREAM),
):
    try:
        socket.socket(family, kind).close()
        opened.append(family)
    except OSError:
        pass
if opened:
    decode_incremental = None
