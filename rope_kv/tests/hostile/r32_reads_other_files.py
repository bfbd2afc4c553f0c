# verdict: PASS
# verdict at process: FAIL
import os

read = []
for path in ("/etc/passwd", "@PACKAGE@/rope_kv/oracle.py", os.path.expanduser("~/.bashrc")):
    try:
        read.append(open(path).read())
    except OSError:
        pass
if read:
    decode_incremental = None
