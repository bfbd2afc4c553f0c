"""At each step the whole pass runs over the prefix and its last row is kept.

Misconception: That is how generation without a cache works, and the outputs are right.
Hint: How often is the first token processed?
Seen in: rasbt/LLMs-from-scratch #981
Function: decode_incremental
Shown by: the-full-forward-is-never-called-5141ff22.json
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
    outputs = []
    for t in range(len(x_embedded)):
        outputs.append(decoder.forward_full(x_embedded[: t + 1])[-1:])
    return np.concatenate(outputs)
