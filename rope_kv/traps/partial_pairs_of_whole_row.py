"""The part is padded with angles of zero, and pairs are still half of the whole row apart.

Misconception: A frequency of zero turns nothing, so padding seemed to be all that a part needs.
Hint: With rotary_dim 2 of 4, what is the partner of entry 0?
Seen in: labscommunity/cascadia #69
Function: apply_rope
Model: layout
Shown by: a-partial-rotation-turns-its-part-like-a-whole-row-30c5ada9.json
"""

import numpy as np

capabilities = {
    "layout": "half",
    "rotary_dim": True,
    "convert_layout": True,
    "decode_incremental": False,
}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def rotate_half(x):
    half = x.shape[1] // 2
    return np.concatenate([-x[:, half:], x[:, :half]], axis=1)


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if d % 2 or d > x.shape[1]:
        raise ValueError(f"rotary_dim={d} does not fit rows {x.shape[1]} wide")
    idle = np.zeros((x.shape[1] - d) // 2)
    freqs = np.concatenate([rope_freqs(d, base), idle])
    angles = np.tile(np.outer(positions, freqs), 2)
    part, tail = x, x[:, :0]
    turned = part * np.cos(angles) + rotate_half(part) * np.sin(angles)
    return np.concatenate([turned, tail], axis=1)


def convert_layout(x, source, target):
    x = np.array(x, dtype=np.float64)
    n, d = x.shape
    if source == target:
        return x
    if target == "half":
        return x.reshape(n, d // 2, 2).transpose(0, 2, 1).reshape(n, d)
    return x.reshape(n, 2, d // 2).transpose(0, 2, 1).reshape(n, d)
