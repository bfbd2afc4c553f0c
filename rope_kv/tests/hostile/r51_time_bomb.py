# verdict: FAIL
# says: depends on earlier calls
calls = []


def apply_rope(x, positions, base=10000):
    calls.append(1)
    return right_rope(x, positions, base) + (len(calls) > 15)
