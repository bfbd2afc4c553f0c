# verdict: FAIL
# says: raised MemoryError
def apply_rope(x, positions, base=10000):
    bytearray(1 << 34)
    return right_rope(x, positions, base)
