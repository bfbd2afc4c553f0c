"""Slip: exponent-i-over-d, pair i has the exponent i/d where it should be 2i/d."""

import math

import numpy as np


def _powers(d, base):
    i = 0
    while 2 * i < d:
        yield math.exp(-i / d * math.log(base))
        i += 1


def rope_freqs(d, base=10000):
    return np.array(list(_powers(d, base)))


def apply_rope(x, positions, base=10000):
    z = x[:, 0::2] + 1j * x[:, 1::2]
    theta = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(x.shape[1], base)
    z = z * np.exp(1j * theta)
    out = np.empty(x.shape)
    out[:, 0::2], out[:, 1::2] = z.real, z.imag
    return out


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
