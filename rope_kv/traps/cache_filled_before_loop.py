"""The cache holds all keys and values from the start, so tokens see the future.

Misconception: A prefill fills the cache in one go, and the mask is thought to be needless once
  there is a cache.
Hint: Which keys may the first token attend to?
Seen in: meta-pytorch/torchtune #959
Function: decode_incremental
Shown by: no-output-depends-on-a-later-token-ac3feaf3.json
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
    outputs = []
    positions = np.arange(len(x_embedded))
    keys = apply_rope(decoder.project_k(x_embedded), positions, decoder.base)
    values = decoder.project_v(x_embedded)
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        scores = keys @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ values
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
