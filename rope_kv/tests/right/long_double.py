"""Style: numpy.longdouble for all the inner arithmetic, rounded to float64 once at the end."""

import numpy as np

LD = np.longdouble


def _freqs(d, base):
    return LD(base) ** (-np.arange(0, d, 2).astype(LD) / LD(d))


def _rope(x, positions, base):
    x = np.asarray(x).astype(LD)
    angles = np.asarray(positions).astype(LD)[:, None] * _freqs(x.shape[1], base)
    cos, sin = np.cos(angles), np.sin(angles)
    out = np.empty(x.shape, dtype=LD)
    out[:, 0::2] = x[:, 0::2] * cos - x[:, 1::2] * sin
    out[:, 1::2] = x[:, 0::2] * sin + x[:, 1::2] * cos
    return out


def rope_freqs(d, base=10000):
    return _freqs(d, base).astype(np.float64)


def apply_rope(x, positions, base=10000):
    return _rope(x, positions, base).astype(np.float64)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys = np.zeros((n, d), dtype=LD)
    values = np.zeros((n, d), dtype=LD)
    out = np.zeros((n, d))
    for t in range(n):
        row = x_embedded[t : t + 1]
        q = _rope(decoder.project_q(row), [t], decoder.base)[0]
        keys[t] = _rope(decoder.project_k(row), [t], decoder.base)[0]
        values[t] = decoder.project_v(row)[0]
        scores = (keys[: t + 1] * q).sum(axis=1) / np.sqrt(LD(d))
        weights = np.exp(scores - scores.max())
        attended = (weights[:, None] * values[: t + 1]).sum(axis=0) / weights.sum()
        out[t] = decoder.project_out(attended.astype(np.float64)[None, :])[0]
    return out
