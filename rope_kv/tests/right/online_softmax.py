"""Style: streaming softmax; one pass over the cached tokens with a running maximum and sum."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    return np.fromiter((math.pow(base, -2.0 * i / d) for i in range(d // 2)), dtype=np.float64)


def apply_rope(x, positions, base=10000):
    freqs = rope_freqs(x.shape[1], base)
    out = np.empty(x.shape, dtype=np.float64)
    for i, freq in enumerate(freqs):
        angle = np.asarray(positions, dtype=np.float64) * freq
        a, b = x[:, 2 * i], x[:, 2 * i + 1]
        out[:, 2 * i] = a * np.cos(angle) - b * np.sin(angle)
        out[:, 2 * i + 1] = a * np.sin(angle) + b * np.cos(angle)
    return out


def _attend(query, cache, scale):
    top, total, mixed = -math.inf, 0.0, 0.0
    for key, value in cache:
        score = float(np.dot(query, key)) * scale
        if score > top:
            shrink = math.exp(top - score)
            total *= shrink
            mixed = mixed * shrink
            top = score
        weight = math.exp(score - top)
        total += weight
        mixed = mixed + weight * value
    return mixed / total


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    cache = []
    out = np.zeros((n, d))
    for t in range(n):
        row = np.atleast_2d(x_embedded[t])
        q = apply_rope(decoder.project_q(row), [t], decoder.base)[0]
        k = apply_rope(decoder.project_k(row), [t], decoder.base)[0]
        cache.append((k, decoder.project_v(row)[0]))
        out[t] = decoder.project_out(_attend(q, cache, 1 / math.sqrt(d)).reshape(1, d))[0]
    return out
