"""The keys of the whole prefix are projected again at every step, only values are cached.

Misconception: The outputs agree with the full pass, and half a cache feels like a cache.
Hint: Print the shape of everything you project at step 5.
Seen in: rasbt/LLMs-from-scratch #981
Function: decode_incremental
Shown by: project-k-sees-each-row-once-in-order-7745507c.json
"""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded, dtype=np.float64)
    width = x_embedded.shape[1]
    values, outputs = [], []
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        rows = x_embedded[: t + 1]
        keys = apply_rope(decoder.project_k(rows), np.arange(t + 1), decoder.base)
        v = decoder.project_v(row)
        values.append(v[0])
        scores = keys @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ np.array(values)
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
