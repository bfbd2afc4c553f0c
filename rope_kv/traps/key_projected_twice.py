"""Key and value of a row are projected twice, for the cache and for the current step.

Misconception: Storing and using are written as two parts of the code, each with its own
  projection.
Hint: Count the projections of one step.
Seen in: learners
Function: decode_incremental
Shown by: project-v-sees-each-row-once-in-order-9c24a5b9.json
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
    keys, values, outputs = [], [], []
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        v = decoder.project_v(row)
        keys.append(apply_rope(decoder.project_k(row), [t], decoder.base)[0])
        values.append(decoder.project_v(row)[0])
        past_keys = np.array(keys[:-1] + [k[0]])
        past_values = np.array(values[:-1] + [v[0]])
        scores = past_keys @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ past_values
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
