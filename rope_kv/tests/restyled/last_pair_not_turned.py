"""Slip: last-pair-not-turned, the loop over pairs stops one pair early."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    # theta_i = base^(-2i/d)
    theta = np.empty(d // 2)
    for i in range(d // 2):
        theta[i] = 1 / (base ** (2 * i / d))
    return theta


def apply_rope(x, positions, base=10000):
    T, d = x.shape
    freqs = rope_freqs(d, base)
    p = np.asarray(positions, dtype=np.float64)
    y = x.astype(np.float64)
    i = 0
    while 2 * i + 2 < d:
        c, s = np.cos(p * freqs[i]), np.sin(p * freqs[i])
        a, b = x[:, 2 * i], x[:, 2 * i + 1]
        y[:, 2 * i] = c * a - s * b
        y[:, 2 * i + 1] = s * a + c * b
        i += 1
    return y


def _steps(decoder, x):
    D = x.shape[1]
    seen = []
    for t in range(x.shape[0]):
        row = x[t : t + 1]
        q = apply_rope(decoder.project_q(row), (t,), decoder.base)[0]
        seen.append(
            (apply_rope(decoder.project_k(row), (t,), decoder.base)[0], decoder.project_v(row)[0])
        )
        scores = np.array([k.dot(q) for k, _ in seen]) / math.sqrt(D)
        w = np.exp(scores - scores.max())
        mixed = sum(wi * v for wi, (_, v) in zip(w / w.sum(), seen))
        yield decoder.project_out(mixed.reshape(1, D))[0]


def decode_incremental(decoder, x_embedded):
    return np.array(list(_steps(decoder, x_embedded)))
