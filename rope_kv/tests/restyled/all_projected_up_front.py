"""Slip: all-projected-up-front, all rows are projected in one call before the loop starts."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    exponents = map(lambda i: -2.0 * i / d, range(d // 2))
    return np.array(list(map(lambda e: float(base) ** e, exponents)))


def apply_rope(x, positions, base=10000):
    freqs = rope_freqs(x.shape[1], base)

    def rotate(row, pos):
        phase = float(pos) * freqs
        re, im = row[0::2], row[1::2]
        out = np.zeros(row.shape[0])
        out[0::2] = re * np.cos(phase) - im * np.sin(phase)
        out[1::2] = re * np.sin(phase) + im * np.cos(phase)
        return out

    return np.array([rotate(r, p) for r, p in zip(x, positions)]).reshape(x.shape)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    Q, K, V = (
        decoder.project_q(x_embedded),
        decoder.project_k(x_embedded),
        decoder.project_v(x_embedded),
    )
    Q, K = (apply_rope(m, np.arange(n), decoder.base) for m in (Q, K))
    keys, values = [], []
    out = np.zeros((n, d))
    for t in range(n):
        keys.append(K[t])
        values.append(V[t])
        scores = [np.dot(Q[t], k) / math.sqrt(d) for k in keys]
        weights = [math.exp(s - max(scores)) for s in scores]
        mixed = sum(w * v for w, v in zip(weights, values)) / sum(weights)
        out[t] = decoder.project_out(mixed.reshape(1, -1))[0]
    return out
