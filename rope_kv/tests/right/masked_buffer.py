"""Style: static shapes as under a compiler; all T slots are always scored, the future is -inf."""

import numpy as np


def rope_freqs(d, base=10000):
    return np.float64(base) ** (-2 * np.arange(d // 2, dtype=np.float64) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.expand_dims(np.asarray(positions, dtype=np.float64), 1) * rope_freqs(
        x.shape[1], base
    )
    index = np.arange(x.shape[1])
    partner = x[:, index ^ 1]  # the other member of each pair
    sign = np.where(index % 2 == 0, -1.0, 1.0)
    return x * np.cos(angles)[:, index // 2] + sign * partner * np.sin(angles)[:, index // 2]


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    slots = np.arange(n)
    keys = np.zeros((n, d))
    values = np.zeros((n, d))
    out = np.zeros((n, d))
    for t in range(n):
        here = (slots == t)[:, None]
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        keys = np.where(here, apply_rope(decoder.project_k(row), [t], decoder.base), keys)
        values = np.where(here, decoder.project_v(row), values)
        scores = np.where(slots <= t, (q @ keys.T)[0] / np.sqrt(d), -np.inf)
        weights = np.exp(scores - scores.max())
        weights = weights / weights.sum()
        out = np.where(here, decoder.project_out(weights[None] @ values), out)
    return out
