"""Slip: cached-keys-rotated-again, all cached keys are turned at their positions again at every step."""

import numpy as np


def rope_freqs(d, base=10000):
    return np.fromiter((1.0 / base ** (2 * k / d) for k in range(d // 2)), dtype=np.float64)


def apply_rope(x, positions, base=10000):
    z = x[:, 0::2] + 1j * x[:, 1::2]
    theta = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(x.shape[1], base)
    z = z * np.exp(1j * theta)
    out = np.empty(x.shape)
    out[:, 0::2], out[:, 1::2] = z.real, z.imag
    return out


def decode_incremental(decoder, x_embedded):
    T, D = x_embedded.shape
    K = np.empty((0, D))
    V = np.empty((0, D))
    rows = []
    for t in range(T):
        x_t = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(x_t), [t], decoder.base)
        K = np.r_[K, decoder.project_k(x_t)]
        V = np.r_[V, decoder.project_v(x_t)]
        K = apply_rope(K, np.arange(t + 1), decoder.base)
        s = np.einsum("qd,kd->k", q, K) / np.sqrt(D)
        w = np.exp(s - s.max())
        rows.append(decoder.project_out(np.einsum("k,kd->d", w / w.sum(), V)[None]))
    return np.concatenate(rows)
