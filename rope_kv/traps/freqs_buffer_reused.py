"""The frequencies are written to a buffer that the next call overwrites.

Misconception: An allocation is saved, and the numbers are right when they are returned.
Hint: Keep the result of one call, make another call, then look at the first result again.
Seen in: constructed
Function: rope_freqs
Shown by: an-array-of-frequencies-is-not-touched-by-later-calls-c4b17a11.json
"""

import numpy as np

_buffer = np.empty(4096)


def rope_freqs(d, base=10000):
    freqs = _buffer[: d // 2]
    freqs[:] = 1.0 / base ** (np.arange(0, d, 2) / d)
    return freqs


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
        keys.append(k[0])
        values.append(v[0])
        scores = np.array(keys) @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ np.array(values)
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
