# verdict: FAIL
# says: apply_rope returned
def apply_rope(x, positions, base=10000):
    return np.float64(1.0)
