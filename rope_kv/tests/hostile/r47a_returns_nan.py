# verdict: FAIL
# says: nan
def apply_rope(x, positions, base=10000):
    return right_rope(x, positions, base) * np.nan
