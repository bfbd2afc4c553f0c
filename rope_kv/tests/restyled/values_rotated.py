"""Slip: values-rotated, the values are turned like the keys."""

from functools import reduce

import numpy as np


def rope_freqs(d, base=10000):
    # theta_i = base^(-2i/d)
    theta = np.empty(d // 2)
    for i in range(d // 2):
        theta[i] = 1 / (base ** (2 * i / d))
    return theta


def apply_rope(x, positions, base=10000):
    z = x[:, 0::2] + 1j * x[:, 1::2]
    theta = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(x.shape[1], base)
    z = z * np.exp(1j * theta)
    out = np.empty(x.shape)
    out[:, 0::2], out[:, 1::2] = z.real, z.imag
    return out


def decode_incremental(decoder, x_embedded):
    d = x_embedded.shape[1]

    def turned(rows, t):
        return apply_rope(rows, [t], decoder.base)

    def step(state, item):
        keys, values, outs = state
        t, row = item
        row = row[None]
        q = turned(decoder.project_q(row), t)
        keys = (*keys, turned(decoder.project_k(row), t))
        values = (*values, turned(decoder.project_v(row), t))
        s = q @ np.vstack(keys).T / np.sqrt(d)
        w = np.exp(s - s.max())
        return keys, values, (*outs, decoder.project_out(w / w.sum() @ np.vstack(values)))

    return np.vstack(reduce(step, enumerate(x_embedded), ((), (), ()))[2])
