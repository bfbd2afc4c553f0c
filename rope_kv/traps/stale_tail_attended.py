"""The buffer of an earlier, longer call is reused and read beyond what is written.

Misconception: The buffer is large enough, and what is written replaces what was there.
Hint: Decode a long sequence and then a short one.
Seen in: Lightning-AI/litgpt #1596
Function: decode_incremental
Shown by: decoding-does-not-depend-on-earlier-calls-bf20344d.json
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


_buffers = {}


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded, dtype=np.float64)
    width = x_embedded.shape[1]
    keys, values = _buffers.get(width, np.zeros((2, 0, width)))
    if len(keys) < len(x_embedded):
        keys, values = _buffers[width] = np.zeros((2, len(x_embedded), width))
    rows = len(keys) - len(x_embedded)
    outputs = []
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        v = decoder.project_v(row)
        keys[t] = k[0]
        values[t] = v[0]
        scores = keys[: t + 1 + rows] @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ values[: t + 1 + rows]
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
