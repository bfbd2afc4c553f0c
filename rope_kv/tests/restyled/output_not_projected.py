"""Slip: output-not-projected, the attended values are returned without the output projection."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    freqs = []
    for i in range(0, d, 2):
        freqs.append(math.pow(base, -i / d))
    return np.array(freqs)


def apply_rope(x, positions, base=10000):
    n, d = x.shape
    ang = np.multiply.outer(np.asarray(positions, dtype=float), rope_freqs(d, base))
    c, s = np.cos(ang), np.sin(ang)
    R = np.array([[c, -s], [s, c]])  # (2, 2, T, d/2)
    return np.einsum("abti,tib->tia", R, x.reshape(n, d // 2, 2).astype(float)).reshape(n, d)


def _stream(decoder, rows):
    """Coroutine-like pipeline: (query, cache) out for every row that comes in."""
    cache = []
    for t, row in enumerate(rows):
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        cache.append((k[0], decoder.project_v(row)[0]))
        yield q[0], cache


def decode_incremental(decoder, x_embedded):
    D = x_embedded.shape[1]
    attended = []
    for q, cache in _stream(decoder, (r.reshape(1, D) for r in x_embedded)):
        scores = [math.fsum(q * k) / math.sqrt(D) for k, _ in cache]
        e = [math.exp(s - max(scores)) for s in scores]
        mixed = [sum(w * v for w, (_, v) in zip(e, cache)) / math.fsum(e)]
        attended.append(np.array(mixed))
    return np.concatenate(attended)
