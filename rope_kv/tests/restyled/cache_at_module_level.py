"""Slip: cache-at-module-level, the caches live at module level and are never cleared."""

import numpy as np

K_CACHE = []
V_CACHE = []


def rope_freqs(d, base=10000):
    return np.exp(-np.log(base) * np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    pos = np.array([int(p) for p in positions], dtype=np.float64).reshape(-1, 1)
    angle = pos @ rope_freqs(x.shape[-1], base).reshape(1, -1)
    x1, x2 = x[:, ::2], x[:, 1::2]
    rotated = np.stack(
        [x1 * np.cos(angle) - x2 * np.sin(angle), x2 * np.cos(angle) + x1 * np.sin(angle)],
        axis=2,
    )
    return rotated.reshape(x.shape)


def attention_step(decoder, row, t):
    q = apply_rope(decoder.project_q(row), [t], decoder.base)
    K_CACHE.append(apply_rope(decoder.project_k(row), [t], decoder.base))
    V_CACHE.append(decoder.project_v(row))
    logits = np.hstack([q @ k.T for k in K_CACHE]) / np.sqrt(row.shape[1])
    w = np.exp(logits - logits.max())
    w /= w.sum()
    return decoder.project_out(w @ np.vstack(V_CACHE))


def decode_incremental(decoder, x_embedded):
    return np.vstack(
        [attention_step(decoder, x_embedded[t : t + 1], t) for t in range(len(x_embedded))]
    )
