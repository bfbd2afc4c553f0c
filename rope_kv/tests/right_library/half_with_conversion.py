"""Rotation alone, in halves, and weights that are converted by reshape and transpose."""

import numpy as np

capabilities = {
    "layout": "half",
    "decode_incremental": False,
    "convert_layout": True,
    "rotary_dim": True,
    "min_width": 4,
    "width_multiple": 4,
}


def rope_freqs(d, base=10000):
    return 1.0 / np.power(base, np.arange(0, d, 2, dtype=np.float64) / d)


def convert_layout(x, source, target):
    n, d = np.shape(x)
    if source == target:
        return np.array(x)
    if source == "interleaved":
        return np.reshape(x, (n, d // 2, 2)).transpose(0, 2, 1).reshape(n, d)
    return np.reshape(x, (n, 2, d // 2)).transpose(0, 2, 1).reshape(n, d)


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[1]
    if d < 4 or d % 4:
        raise ValueError(f"rows of width {d} are not supported")
    rotary_dim = d if rotary_dim is None else rotary_dim
    if rotary_dim > d or rotary_dim % 4:
        raise ValueError(f"{rotary_dim} of {d} entries cannot be turned")
    part, passed = np.split(x, [rotary_dim], axis=1)
    freqs = np.tile(rope_freqs(rotary_dim, base), 2)
    angles = np.asarray(positions)[:, None] * freqs
    other = np.roll(part, rotary_dim // 2, axis=1)
    other[:, : rotary_dim // 2] *= -1
    return np.concatenate([part * np.cos(angles) + other * np.sin(angles), passed], axis=1)
