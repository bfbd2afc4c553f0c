"""The cached values are multiplied by the weights in place, so old values fade.

Misconception: The weighted sum needs the products, and in-place products save an array.
Hint: Print the first cached value after each of three steps.
Seen in: learners
Function: decode_incremental
Shown by: one-token-repeated-decodes-to-its-own-value-d5bf434c.json
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
    keys = np.zeros((len(x_embedded), width))
    values = np.zeros((len(x_embedded), width))
    outputs = []
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        v = decoder.project_v(row)
        keys[t] = k[0]
        values[t] = v[0]
        scores = keys[: t + 1] @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        values[: t + 1] *= weights[:, np.newaxis]
        attended = values[: t + 1].sum(axis=0)
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
