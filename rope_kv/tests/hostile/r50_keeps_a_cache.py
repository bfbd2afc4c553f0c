# verdict: FAIL
# says: a later call is not answered as it is alone
kept = {}


def decode_incremental(decoder, x):
    if "rows" not in kept:
        kept["rows"] = []
    kept["rows"] += list(np.asarray(x, dtype=float))
    every = np.array([row for row in kept["rows"] if len(row) == np.shape(x)[1]])
    return right_decode(decoder, every)[-len(x) :]
