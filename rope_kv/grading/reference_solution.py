"""A right solution in one file, as a student would hand it in: what a check is tried on first."""

import numpy as np


def rope_freqs(d, base=10000):
    """Return how far each pair of coordinates turns per token."""
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    """Return the rows of x, each adjacent pair turned by its position times its frequency."""
    x = np.asarray(x, dtype=np.float64)
    angles = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(x.shape[1], base)
    cos, sin = np.cos(angles), np.sin(angles)
    y = np.empty(x.shape)
    y[:, 0::2] = x[:, 0::2] * cos - x[:, 1::2] * sin
    y[:, 1::2] = x[:, 0::2] * sin + x[:, 1::2] * cos
    return y


def decode_incremental(decoder, x_embedded):
    """Return one output for each row, from cached keys and values."""
    x = np.asarray(x_embedded, dtype=np.float64)
    keys, values, outputs = [], [], np.empty(x.shape)
    for t in range(len(x)):
        row = x[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)[0]
        keys.append(apply_rope(decoder.project_k(row), [t], decoder.base)[0])
        values.append(decoder.project_v(row)[0])
        scores = np.array(keys) @ q / np.sqrt(decoder.width)
        weights = np.exp(scores - scores.max())
        attended = weights / weights.sum() @ np.array(values)
        outputs[t] = decoder.project_out(attended[None])[0]
    return outputs
