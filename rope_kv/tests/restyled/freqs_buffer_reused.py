"""Slip: freqs-buffer-reused, the frequencies are written to a buffer per width that the next call overwrites."""

import numpy as np


class _Workspace:
    def __init__(self):
        self.buffers = {}

    def get(self, name, n):
        if (name, n) not in self.buffers:
            self.buffers[name, n] = np.empty(n)
        return self.buffers[name, n]


_work = _Workspace()


def rope_freqs(d, base=10000):
    buf = _work.get("freqs", d // 2)
    buf[:] = np.arange(0, d, 2)
    buf /= -d
    np.power(float(base), buf, out=buf)
    return buf


def apply_rope(x, positions, base=10000):
    z = x[:, 0::2] + 1j * x[:, 1::2]
    theta = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(x.shape[1], base)
    z = z * np.exp(1j * theta)
    out = np.empty(x.shape)
    out[:, 0::2], out[:, 1::2] = z.real, z.imag
    return out


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
