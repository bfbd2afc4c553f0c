"""Positions must be a run, and wherever it begins, it is turned as if at 0.

Misconception: Scores depend on distances alone, so the first position seemed to be of no account.
Hint: Rotate one row at position 1.
Seen in: NVIDIA/Megatron-LM #453
Function: apply_rope
Model: count
Shown by: positions-that-do-not-begin-at-0-are-refused-550f900f.json
"""

import numpy as np

capabilities = {"positions": "from zero", "decode_incremental": False}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    if any(np.diff(positions) != 1):
        raise ValueError("positions must be 0, 1, 2 and so on")
    angles = np.outer(np.arange(len(x)), rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated
