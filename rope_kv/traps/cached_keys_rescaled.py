"""The scale is divided into the cached keys at every step, so old keys shrink.

Misconception: Scaling the keys is the same as scaling the scores, and doing it in place saves an
  array.
Hint: Print the first cached key after each of three steps.
Seen in: learners
Function: decode_incremental
Shown by: large-scores-do-not-overflow-0d23f07f.json
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
        keys[: t + 1] /= np.sqrt(width)
        scores = keys[: t + 1] @ q[0]
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ values[: t + 1]
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
