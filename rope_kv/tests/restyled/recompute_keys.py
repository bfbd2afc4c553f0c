"""Slip: recompute-keys, the keys of the whole prefix are projected again at every step, only values are cached."""

import numpy as np


def rope_freqs(d: int, base: float = 10000) -> np.ndarray:
    """Inverse frequencies of the d // 2 pairs."""
    inv_freq = np.float64(base) ** -(np.arange(d // 2, dtype=np.float64) * 2 / d)
    return inv_freq


def apply_rope(x, positions, base=10000):
    pos = np.array([int(p) for p in positions], dtype=np.float64).reshape(-1, 1)
    angle = pos @ rope_freqs(x.shape[-1], base).reshape(1, -1)
    x1, x2 = x[:, ::2], x[:, 1::2]
    rotated = np.stack(
        [x1 * np.cos(angle) - x2 * np.sin(angle), x2 * np.cos(angle) + x1 * np.sin(angle)],
        axis=2,
    )
    return rotated.reshape(x.shape)


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


def decode_incremental(decoder, x_embedded):
    D = x_embedded.shape[1]
    value_cache = np.empty((0, D))
    outs = []
    for t, x_t in enumerate(x_embedded):
        x_t = x_t[None, :]
        q = apply_rope(decoder.project_q(x_t), [t], decoder.base)
        keys = [decoder.project_k(x_embedded[j : j + 1]) for j in range(t + 1)]
        K = apply_rope(np.concatenate(keys), range(t + 1), decoder.base)
        value_cache = np.append(value_cache, decoder.project_v(x_t), axis=0)
        outs.append(decoder.project_out(softmax(q @ K.T / D**0.5) @ value_cache))
    return np.concatenate(outs, axis=0)
