"""Style: keys are cached unrotated and all of them are rotated again whenever they are used."""

import numpy as np


def rope_freqs(d, base=10000):
    return 1 / np.float64(base) ** (2 * np.arange(d // 2) / d)


def apply_rope(x, positions, base=10000):
    d = x.shape[-1]
    # The sinusoidal-encoding form: divide the position by base ** (2i / d).
    wavelengths = np.float64(base) ** (np.arange(0, d, 2) / d)
    angles = np.asarray(positions)[:, None] / wavelengths
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty((x.shape[0], d), dtype=np.float64)
    rotated[:, 0::2] = even * np.cos(angles) - odd * np.sin(angles)
    rotated[:, 1::2] = odd * np.cos(angles) + even * np.sin(angles)
    return rotated


def decode_incremental(decoder, x_embedded):
    t_total, d = x_embedded.shape
    raw_keys = np.empty((t_total, d))
    values = np.empty((t_total, d))
    out = np.empty((t_total, d))
    for t in range(t_total):
        row = x_embedded[t : t + 1].copy()
        raw_keys[t], values[t] = decoder.project_k(row)[0], decoder.project_v(row)[0]
        seen = t + 1
        query = apply_rope(decoder.project_q(row), np.array([t]), decoder.base)
        keys = apply_rope(raw_keys[:seen], np.arange(seen, dtype=np.int32), decoder.base)
        scores = (keys @ query.T).ravel() / np.sqrt(d)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        out[t] = decoder.project_out(weights.reshape(1, seen) @ values[:seen])[0]
    return out
