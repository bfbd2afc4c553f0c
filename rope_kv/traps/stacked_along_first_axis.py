"""The components are stacked along the first axis and reshaped, which mixes rows.

Misconception: After reshape the array has the right shape, so the order of the axes seems settled.
Hint: Use two rows and rotate by position 0. In what order does reshape read its input?
Seen in: learners
Function: apply_rope
Shown by: position-0-leaves-a-row-as-it-is-3056f5a2.json
"""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    first = even * cos - odd * sin
    second = even * sin + odd * cos
    return np.stack([first, second]).reshape(x.shape)


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
