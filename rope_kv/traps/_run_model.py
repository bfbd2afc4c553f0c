"""A right solution that slices its table for a run of positions, from which traps differ."""

import numpy as np

MAX_POSITION = 64
capabilities = {
    "positions": "consecutive",
    "max_position": MAX_POSITION,
    "decode_incremental": False,
}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    first = int(positions[0])
    if list(positions) != list(range(first, first + len(x))):
        raise ValueError("positions must be a run: p, p + 1, p + 2")
    if first < 0 or first + len(x) > MAX_POSITION:
        raise IndexError(f"positions must be from 0 to {MAX_POSITION - 1}")
    table = np.outer(np.arange(MAX_POSITION), rope_freqs(x.shape[1], base))
    angles = table[first : first + len(x)]
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated
