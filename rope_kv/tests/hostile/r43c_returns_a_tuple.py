# verdict: FAIL
# says: apply_rope returned a tuple
def apply_rope(x, positions, base=10000):
    return tuple(right_rope(x, positions, base))
