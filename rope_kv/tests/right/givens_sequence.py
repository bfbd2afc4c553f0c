"""Style: a sequence of plane (Givens) rotations, a coarse one and a fine one for every pair."""

import numpy as np

_FINE = 256


def rope_freqs(d, base=10000):
    return np.array([np.float64(base) ** (-(2 * i) / d) for i in range(d // 2)])


def _givens(matrix, i, j, angles):
    """Rotate the (i, j) plane of every row, in place."""
    c, s = np.cos(angles), np.sin(angles)
    old_i, old_j = matrix[:, i].copy(), matrix[:, j].copy()
    matrix[:, i] = c * old_i - s * old_j
    matrix[:, j] = s * old_i + c * old_j


def apply_rope(x, positions, base=10000):
    out = np.array(x, dtype=np.float64, order="F")  # columns are what a plane rotation touches
    positions = np.asarray(positions, dtype=np.int64)
    fine = np.fmod(positions, _FINE)  # the sign of the position, so small angles stay small
    coarse = positions - fine
    for i, freq in enumerate(rope_freqs(out.shape[1], base)):
        _givens(out, 2 * i, 2 * i + 1, coarse * freq)
        _givens(out, 2 * i, 2 * i + 1, fine * freq)
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys = np.zeros((n, d), order="F")
    values = np.zeros((n, d), order="F")
    out = np.zeros((n, d))
    for t in range(n):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        keys[t] = apply_rope(decoder.project_k(row), [t], decoder.base)
        values[t] = decoder.project_v(row)
        scores = keys[: t + 1].dot(q[0]) / np.sqrt(d)
        weights = np.exp(scores - scores.max())
        out[t] = decoder.project_out(weights.dot(values[: t + 1])[None] / weights.sum())
    return out
