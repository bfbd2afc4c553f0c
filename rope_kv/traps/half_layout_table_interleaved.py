"""Pairs lie half a row apart, and the angles are laid out for neighbours: 0 0 1 1 for 0 1 0 1.

Misconception: Both ways to double a table occur in well-known code, each with its own pairs.
Hint: Which angle do entries 0 and 2 of four get, which form a pair?
Seen in: huggingface/transformers #25199; microsoft/onnxruntime #26390
Function: apply_rope
Model: layout
Shown by: each-pair-keeps-its-length-f3d288dd.json
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
    angles = np.repeat(np.outer(positions, rope_freqs(d, base)), 2, axis=1)
    part, tail = x[:, :d], x[:, d:]
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
