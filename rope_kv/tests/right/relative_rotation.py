"""Style: relative positions; keys stay unrotated and the query is turned by t - j for key j."""

import numpy as np


def rope_freqs(d, base=10000):
    return float(base) ** np.linspace(0, -1, d // 2, endpoint=False)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(x.shape[1], base)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.zeros(x.shape)
    out[:, 0::2] = x[:, 0::2] * cos - x[:, 1::2] * sin
    out[:, 1::2] = x[:, 0::2] * sin + x[:, 1::2] * cos
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys, values = [], []
    out = np.zeros((n, d))
    for t in range(n):
        row = x_embedded[t].reshape(1, -1)
        query = decoder.project_q(row)
        keys.append(decoder.project_k(row)[0])
        values.append(decoder.project_v(row)[0])
        # <R(t) q, R(j) k> = <R(t - j) q, k>
        distances = t - np.arange(t + 1)
        queries = apply_rope(np.repeat(query, t + 1, axis=0), distances, decoder.base)
        scores = np.sum(queries * np.array(keys), axis=1) / np.sqrt(d)
        weights = np.exp(scores - np.max(scores))
        attended = np.average(np.array(values), axis=0, weights=weights)
        out[t] = decoder.project_out(attended[None])[0]
    return out
