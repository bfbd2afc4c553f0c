"""A right solution for rows from position 0 on alone, from which traps differ by one slip."""

import numpy as np

capabilities = {"positions": "from zero", "decode_incremental": False}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    if list(positions) != list(range(len(x))):
        raise ValueError("positions must be 0, 1, 2 and so on")
    angles = np.outer(np.arange(len(x)), rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated
