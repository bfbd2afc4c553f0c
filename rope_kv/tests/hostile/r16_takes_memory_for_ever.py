# verdict: TIMEOUT CRASH
# call timeout: 0.4
# time limit: 4
# says: apply_rope
taken = []


def apply_rope(x, positions, base=10000):
    while True:
        try:
            taken.append(bytearray(1 << 24))
        except MemoryError:
            pass
