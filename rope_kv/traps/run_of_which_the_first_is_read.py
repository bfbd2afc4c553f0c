"""Only the first position is read, and a run is assumed where positions are apart.

Misconception: A slice of the table is faster than an index, and positions were always a run.
Hint: Rotate two rows at positions 0 and 2.
Seen in: NVIDIA/Megatron-LM #453; stanford-cs336/assignment1-basics #28
Function: apply_rope
Model: run
Shown by: positions-that-are-no-run-are-refused-43e20468.json
"""

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
