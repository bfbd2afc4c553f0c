# verdict: FAIL
# says: apply_rope returned None
def apply_rope(x, positions, base=10000):
    right_rope(x, positions, base)
