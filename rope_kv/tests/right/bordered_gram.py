"""Style: running score matrix; a lower-triangular table gains one row of scores per token."""

import numpy as np


def rope_freqs(d, base=10000):
    exponents = np.arange(0, d, 2) / d
    return np.exp(exponents * -np.log(float(base)))


def apply_rope(x, positions, base=10000):
    x = np.asarray(x)
    freqs = rope_freqs(x.shape[1], base)
    # whole turns are dropped before the cosines are taken
    angles = np.remainder(np.asarray(positions, dtype=float)[:, None] * freqs, 2 * np.pi)
    out = np.empty(x.shape)
    out[:, 0::2] = np.cos(angles) * x[:, 0::2] - np.sin(angles) * x[:, 1::2]
    out[:, 1::2] = np.sin(angles) * x[:, 0::2] + np.cos(angles) * x[:, 1::2]
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    scores = np.full((n, n), -np.inf)
    probabilities = np.zeros((n, n))
    keys, values, out = np.zeros((3, n, d))
    for t in range(n):
        row = np.array(x_embedded[t : t + 1], dtype=np.float64)
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        keys[t] = apply_rope(decoder.project_k(row), [t], decoder.base)[0]
        values[t] = decoder.project_v(row)[0]
        scores[t, : t + 1] = (q / np.sqrt(d) * keys[: t + 1]).sum(axis=1)
        weights = np.exp(scores[t] - scores[t].max())
        probabilities[t] = weights / weights.sum()
        out[t] = decoder.project_out(probabilities[t : t + 1] @ values)[0]
    return out.copy()
