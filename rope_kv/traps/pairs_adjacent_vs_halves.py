"""Pairs are taken as (i, i + d/2) where adjacent entries form a pair.

Misconception: The best known code splits the vector into two halves. It works there because the
  weights were permuted to match.
Hint: Rotate [1, 0, 0, 0] by one position and see which other entry becomes non-zero.
Seen in: huggingface/transformers #25199
Function: apply_rope
Shown by: each-pair-keeps-its-length-f3d288dd.json
"""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    half = x.shape[1] // 2
    even, odd = x[:, :half], x[:, half:]
    rotated = np.empty_like(x)
    rotated[:, :half] = even * cos - odd * sin
    rotated[:, half:] = even * sin + odd * cos
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
