"""The growing prefix is projected again at every step: right numbers, wrong work.

Misconception: The outputs agree with the full pass, so the cache seems to be there.
Hint: Print the shape of what you project at step 5.
Seen in: rasbt/LLMs-from-scratch #981
Function: decode_incremental
Shown by: project-q-sees-each-row-once-in-order-1027b880.json
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
    outputs = []
    for t in range(len(x_embedded)):
        rows = x_embedded[: t + 1]
        queries = apply_rope(decoder.project_q(rows), np.arange(t + 1), decoder.base)
        keys = apply_rope(decoder.project_k(rows), np.arange(t + 1), decoder.base)
        values = decoder.project_v(rows)
        scores = keys @ queries[-1] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ values
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
