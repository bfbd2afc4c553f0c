"""The loop over pairs stops one pair early.

Misconception: range already excludes its end, but subtracting one more feels safe when i + 1 is
  indexed.
Hint: Look at the last two coordinates at a large position.
Seen in: learners
Function: apply_rope
Shown by: another-base-turns-by-other-angles-07c5895c.json
"""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    rotated = x.copy()
    for i in range(x.shape[1] // 2 - 1):
        cos, sin = np.cos(angles[:, i]), np.sin(angles[:, i])
        rotated[:, 2 * i] = x[:, 2 * i] * cos - x[:, 2 * i + 1] * sin
        rotated[:, 2 * i + 1] = x[:, 2 * i] * sin + x[:, 2 * i + 1] * cos
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
