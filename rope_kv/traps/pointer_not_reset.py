"""The buffers are new in each call but the write pointer goes on from the last one.

Misconception: Blank buffers look like a complete reset.
Hint: Call the function twice and print the slot that is written first.
Seen in: rasbt/LLMs-from-scratch #925
Function: decode_incremental
Shown by: decoding-does-not-depend-on-earlier-calls-407e3b4e.json
"""

import itertools

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


_slots = itertools.count()


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded, dtype=np.float64)
    width = x_embedded.shape[1]
    keys, values = np.zeros((4096, width)), np.zeros((4096, width))
    outputs = []
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        v = decoder.project_v(row)
        slot = next(_slots)
        keys[slot] = k[0]
        values[slot] = v[0]
        scores = keys[: slot + 1] @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ values[: slot + 1]
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
