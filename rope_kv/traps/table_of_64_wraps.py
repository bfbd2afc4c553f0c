"""Position 64 of a table of 64 is read as position 0.

Misconception: A modulo keeps every index in bounds.
Hint: Compare the rows at positions 0 and 64.
Seen in: constructed
Function: apply_rope
Model: table
Shown by: positions-from-the-maximum-on-are-refused-737cce06.json
"""

import numpy as np

MAX_POSITION = 64
capabilities = {
    "positions": "not negative",
    "max_position": MAX_POSITION,
    "min_width": 2,
    "width_multiple": 2,
}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x, positions = np.asarray(x, dtype=np.float64), np.asarray(positions)
    d = x.shape[1]
    if d < 2 or d % 2:
        raise ValueError(f"rows must have an even width, found {d}")
    table = np.outer(np.arange(MAX_POSITION), rope_freqs(d, base))
    angles = table[positions % MAX_POSITION]
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded, dtype=np.float64)
    width = x_embedded.shape[1]
    keys, values, outputs = [], [], []
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        v = decoder.project_v(row)
        keys.append(k[0])
        values.append(v[0])
        scores = np.array(keys) @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ np.array(values)
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
