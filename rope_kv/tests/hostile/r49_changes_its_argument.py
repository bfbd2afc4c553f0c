# verdict: FAIL
# says: x was changed
def apply_rope(x, positions, base=10000):
    y = right_rope(x, positions, base)
    if x.flags.writeable:
        x += 1
    return y
