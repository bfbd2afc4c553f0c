# verdict: FAIL
# says: not deterministic
import os


def apply_rope(x, positions, base=10000):
    return right_rope(x, positions, base) + os.urandom(1)[0]
