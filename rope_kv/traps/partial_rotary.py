"""Only the first half of each row is rotated, the rest is passed through.

Misconception: Some models rotate only a part of each head, and their code is often taken as the
  general case.
Hint: Which coordinates should keep their value at position 1?
Seen in: AI-Hypercomputer/maxtext #4742
Function: apply_rope
Shown by: another-base-turns-by-other-angles-07c5895c.json
"""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    width = x.shape[1] // 4 * 2
    angles = np.outer(positions, rope_freqs(width, base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0:width:2], x[:, 1:width:2]
    rotated = x.copy()
    rotated[:, 0:width:2] = even * cos - odd * sin
    rotated[:, 1:width:2] = even * sin + odd * cos
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
