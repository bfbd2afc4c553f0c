# verdict: FAIL
# says: apply_rope returned
def apply_rope(x, positions, base=10000):
    return right_rope(x, positions, base).reshape(1, 1, 1, 1, 1, 1, 1, *np.shape(x))
