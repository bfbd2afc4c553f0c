# verdict: FAIL PROTOCOL
# says: apply_rope
# The number is there to be read: what it sends is then what it answered, and is wrong.


def apply_rope(x, positions, base=10000):
    answer = {"number": -77, "writeable": True}
    worker()._send(14, b"", answer, np.zeros(np.shape(x)))
    return np.zeros(np.shape(x))
