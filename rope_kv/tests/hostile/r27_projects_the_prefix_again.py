# verdict: FAIL
# says: 3 calls of project_k for 2 rows
def decode_incremental(decoder, x):
    x = np.asarray(x, dtype=float)
    rows = []
    for t in range(len(x)):
        q = apply_rope(decoder.project_q(x[t : t + 1]), [t], decoder.base)
        keys = [
            apply_rope(decoder.project_k(x[s : s + 1]), [s], decoder.base) for s in range(t + 1)
        ]
        values = [decoder.project_v(x[s : s + 1]) for s in range(t + 1)]
        scores = q @ np.concatenate(keys).T / np.sqrt(x.shape[1])
        weights = np.exp(scores - scores.max())
        rows.append(decoder.project_out(weights / weights.sum() @ np.concatenate(values)))
    return np.concatenate(rows)
