# verdict: FAIL
# says: one row at a time
def decode_incremental(decoder, x):
    x = np.asarray(x, dtype=float)
    places = range(len(x))
    q = apply_rope(decoder.project_q(x), places, decoder.base)
    k = apply_rope(decoder.project_k(x), places, decoder.base)
    scores = np.where(np.tri(len(x)), q @ k.T / np.sqrt(x.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return decoder.project_out(weights @ decoder.project_v(x))
