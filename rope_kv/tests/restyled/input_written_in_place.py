"""Slip: input-written-in-place, the turned values are written into the caller's array."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    return np.fromiter((1.0 / base ** (2 * k / d) for k in range(d // 2)), dtype=np.float64)


def _rotate_row(row, target, angles):
    for i, a in enumerate(angles):
        u, v = float(row[2 * i]), float(row[2 * i + 1])
        target[2 * i] = u * math.cos(a) - v * math.sin(a)
        target[2 * i + 1] = u * math.sin(a) + v * math.cos(a)


def apply_rope(x, positions, base=10000):
    freqs = rope_freqs(x.shape[1], base)
    out = x if np.issubdtype(x.dtype, np.floating) else x.astype(np.float64)
    for row, target, p in zip(x, out, positions):
        _rotate_row(row, target, float(p) * freqs)
    return out.astype(np.float64)


def decode_incremental(decoder, x_embedded):
    T, D = x_embedded.shape
    k_cache = np.empty((T, D))
    v_cache = np.empty((T, D))
    ys = []
    for t in range(T):
        x_t = x_embedded[t : t + 1, :]
        q_t = apply_rope(decoder.project_q(x_t), np.array([t]), decoder.base)
        k_cache[t] = apply_rope(decoder.project_k(x_t), np.array([t]), decoder.base)
        v_cache[t] = decoder.project_v(x_t)
        scores = np.einsum("qd,kd->qk", q_t, k_cache[: t + 1]) * D**-0.5
        attn = np.exp(scores - scores.max(-1, keepdims=True))
        attn /= attn.sum(-1, keepdims=True)
        ys.append(decoder.project_out(np.einsum("qk,kd->qd", attn, v_cache[: t + 1])))
    return np.vstack(ys)
