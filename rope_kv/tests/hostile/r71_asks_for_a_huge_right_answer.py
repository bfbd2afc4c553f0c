# verdict: FAIL
# says: raised


def right_one(question, *arrays):
    w = worker()
    return w._asked(5, 0, question, *arrays)


def apply_rope(x, positions, base=10000):
    if "__right_one__" in globals():
        right_one({"arguments": [], "named": {"d": 300_000_000}})
    raise ValueError
