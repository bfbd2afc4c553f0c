# verdict: FAIL
# says: apply_rope returned a list
def apply_rope(x, positions, base=10000):
    return right_rope(x, positions, base).tolist()
