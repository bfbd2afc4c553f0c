"""Style: dynamic array; one fused key/value buffer that starts at one row and doubles."""

import numpy as np


def rope_freqs(d, base=10000):
    theta = np.log(float(base)) * (np.arange(d // 2) * 2.0) / d
    return np.exp(-theta)


def apply_rope(x, positions, base=10000):
    t, d = np.shape(x)
    pairs = np.asarray(x, dtype=np.float64).reshape(t, d // 2, 2)
    angles = np.asarray(positions, dtype=np.float64)[:, np.newaxis] * rope_freqs(d, base)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = pairs[..., 0], pairs[..., 1]
    return np.dstack([cos * a - sin * b, sin * a + cos * b]).reshape(t, d)


class _GrowingCache:
    def __init__(self, width):
        self._data = np.zeros((1, 2, width))
        self._length = 0

    def append(self, key, value):
        if self._length == len(self._data):
            bigger = np.zeros((2 * self._length, *self._data.shape[1:]))
            bigger[: self._length] = self._data
            self._data = bigger
        self._data[self._length] = key, value
        self._length += 1

    @property
    def keys(self):
        return self._data[: self._length, 0]

    @property
    def values(self):
        return self._data[: self._length, 1]


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded)
    width = x_embedded.shape[1]
    cache = _GrowingCache(width)
    out = np.zeros(x_embedded.shape, dtype=np.float64)
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        v = decoder.project_v(row)
        cache.append(k[0], v[0])
        s = q @ cache.keys.T / np.sqrt(width)
        p = np.exp(s - s.max())
        out[t] = decoder.project_out(p @ cache.values / p.sum())[0]
    return out
