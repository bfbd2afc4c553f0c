"""Slip: opposite-direction, every pair is turned the other way."""

import cmath

import numpy as np


def rope_freqs(d, base=10000):
    # theta_i = base^(-2i/d)
    theta = np.empty(d // 2)
    for i in range(d // 2):
        theta[i] = 1 / (base ** (2 * i / d))
    return theta


def apply_rope(x, positions, base=10000):
    out = np.empty(x.shape)
    for i, f in enumerate(rope_freqs(x.shape[1], base).tolist()):
        for t, p in enumerate(positions):
            unit = cmath.exp(-1j * int(p) * f)
            z = complex(x[t, 2 * i], x[t, 2 * i + 1]) * unit
            out[t, 2 * i : 2 * i + 2] = z.real, z.imag
    return out


class KVCache:
    def __init__(self):
        self.k = None
        self.v = None

    def push(self, k, v):
        self.k = k.copy() if self.k is None else np.vstack([self.k, k])
        self.v = v.copy() if self.v is None else np.vstack([self.v, v])

    def attend(self, q):
        scores = q @ self.k.T / np.sqrt(q.shape[-1])
        e = np.exp(scores - np.max(scores))
        return (e / np.sum(e)) @ self.v


def decode_incremental(decoder, x_embedded):
    cache = KVCache()
    rows = []
    for t, row in enumerate(x_embedded):
        row = row[np.newaxis]
        q, k, v = decoder.project_q(row), decoder.project_k(row), decoder.project_v(row)
        cache.push(apply_rope(k, [t], decoder.base), v)
        rows.append(decoder.project_out(cache.attend(apply_rope(q, [t], decoder.base))))
    return np.vstack(rows)
