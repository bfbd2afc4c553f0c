"""Style: the attended rows are collected and projected once, by a single call at the end."""

import numpy as np


def rope_freqs(d, base=10000):
    """Running product in extended precision: each frequency is the last one times a ratio."""
    ratios = np.full(d // 2, np.longdouble(base) ** (np.longdouble(-2) / d))
    ratios[:1] = 1
    return np.cumprod(ratios).astype(np.float64)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angle = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(x.shape[1], base)
    c, s = np.cos(angle), np.sin(angle)
    columns = []
    for i in range(x.shape[1] // 2):
        a, b = x[:, 2 * i], x[:, 2 * i + 1]
        columns.append(a * c[:, i] - b * s[:, i])
        columns.append(a * s[:, i] + b * c[:, i])
    return np.column_stack(columns)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys = np.zeros((n, d))
    values = np.zeros((n, d))
    attended = np.zeros((n, d))
    for t in range(n):
        row = x_embedded[t : t + 1]
        values[t : t + 1] = decoder.project_v(row)
        keys[t : t + 1] = apply_rope(decoder.project_k(row), [t], decoder.base)
        query = apply_rope(decoder.project_q(row), [t], decoder.base)
        scores = np.inner(query, keys[: t + 1]) / np.sqrt(d)
        weights = np.exp(scores - scores.max())
        attended[t] = (weights @ values[: t + 1] / weights.sum())[0]
    return decoder.project_out(attended)
