"""Slip: cache-off-by-one, the key's position is read from the cache after the new entry, one ahead of the query."""

import numpy as np


def rope_freqs(d, base=10000):
    return np.exp(-np.log(base) * np.arange(0, d, 2) / d)


def rotate_half_interleaved(x):
    out = np.empty(x.shape)
    out[:, 0::2] = -x[:, 1::2]
    out[:, 1::2] = x[:, 0::2]
    return out


def apply_rope(x, positions, base=10000):
    x = x.astype(np.float64)
    freqs = np.repeat(rope_freqs(x.shape[1], base), 2)
    angles = np.asarray(positions, dtype=np.float64)[:, np.newaxis] * freqs
    return x * np.cos(angles) + rotate_half_interleaved(x) * np.sin(angles)


class Cache:
    def __init__(self, capacity, width):
        self.k = np.zeros((capacity, width))
        self.v = np.zeros((capacity, width))
        self.size = 0

    def store(self, k, v, base):
        slot = self.size
        self.size += 1
        self.k[slot] = apply_rope(k, [self.size], base)[0]
        self.v[slot] = v[0]

    def view(self):
        return self.k[: self.size], self.v[: self.size]


def decode_incremental(decoder, x_embedded):
    T, D = x_embedded.shape
    cache = Cache(T, D)
    out = np.empty((T, D))
    for t in range(T):
        x_t = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(x_t), [cache.size], decoder.base)
        cache.store(decoder.project_k(x_t), decoder.project_v(x_t), decoder.base)
        K, V = cache.view()
        att = np.exp((q @ K.T - (q @ K.T).max()) / np.sqrt(D))
        out[t] = decoder.project_out(att @ V / att.sum())[0]
    return out
