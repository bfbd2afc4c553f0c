# verdict: FAIL
# says: of forward_full: it is there to compare with
def decode_incremental(decoder, x):
    return decoder.forward_full(np.asarray(x, dtype=float))
