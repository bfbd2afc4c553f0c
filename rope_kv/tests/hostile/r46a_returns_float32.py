# verdict: FAIL
# says: apply_rope returned a float32 array
def apply_rope(x, positions, base=10000):
    return right_rope(x, positions, base).astype(np.float32)
