"""The rows are rotated in blocks of 256, and an incomplete last block is left as it is.

Misconception: The number of blocks is an integer division, and short inputs, which have one
  block in any case, never show what it drops.
Hint: How many blocks does an input of 257 rows need?
Seen in: constructed
Function: apply_rope
Shown by: long-inputs-turn-row-by-row-like-short-ones-0cd776a5.json
"""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = x.copy()
    for block in range(max(1, len(x) // 256)):
        rows = slice(256 * block, 256 * (block + 1))
        rotated[rows, 0::2] = even[rows] * cos[rows] - odd[rows] * sin[rows]
        rotated[rows, 1::2] = even[rows] * sin[rows] + odd[rows] * cos[rows]
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
