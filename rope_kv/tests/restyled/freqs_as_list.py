"""Slip: freqs-as-list, the frequencies come back as a Python list."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    return [math.exp(-2 * i / d * math.log(base)) for i in range(d // 2)]


def apply_rope(x, positions, base=10000):
    T, d = x.shape
    freqs = rope_freqs(d, base)
    y = np.zeros((T, d))
    for t in range(T):
        m = int(positions[t])
        for i in range(d // 2):
            c = math.cos(m * freqs[i])
            s = math.sin(m * freqs[i])
            y[t, 2 * i] = x[t, 2 * i] * c - x[t, 2 * i + 1] * s
            y[t, 2 * i + 1] = x[t, 2 * i] * s + x[t, 2 * i + 1] * c
    return y


def decode_incremental(decoder, x_embedded):
    T, D = x_embedded.shape
    k_cache = []
    v_cache = []
    out = np.zeros((T, D))
    for t in range(T):
        x_t = x_embedded[t].reshape(1, -1)
        q = apply_rope(decoder.project_q(x_t), [t], decoder.base)
        k = apply_rope(decoder.project_k(x_t), [t], decoder.base)
        k_cache.append(k)
        v_cache.append(decoder.project_v(x_t))
        K = np.concatenate(k_cache, axis=0)
        V = np.concatenate(v_cache, axis=0)
        s = (q @ K.T) / np.sqrt(D)
        s = np.exp(s - s.max(axis=-1, keepdims=True))
        s = s / s.sum(axis=-1, keepdims=True)
        out[t] = decoder.project_out(s @ V)[0]
    return out
