"""Style: linear algebra; one block-diagonal rotation matrix per row, used in a batched matmul."""

import numpy as np


def rope_freqs(d, base=10000):
    pair = np.arange(d // 2, dtype=np.float64)
    return float(base) ** (-2.0 * pair / d)


def rotation_matrices(positions, d, base):
    """Return (T, d, d); matrix t turns a column vector by the angles of positions[t]."""
    angles = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(d, base)[None, :]
    even = np.arange(0, d, 2)
    odd = even + 1
    rotations = np.zeros((angles.shape[0], d, d))
    rotations[:, even, even] = np.cos(angles)
    rotations[:, even, odd] = -np.sin(angles)
    rotations[:, odd, even] = np.sin(angles)
    rotations[:, odd, odd] = np.cos(angles)
    return rotations


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    rotations = rotation_matrices(positions, x.shape[1], base)
    return np.matmul(rotations, x[:, :, None])[:, :, 0].copy()


def decode_incremental(decoder, x_embedded):
    x = np.asarray(x_embedded, dtype=np.float64)
    n_rows, dim = x.shape
    k_cache = np.zeros((0, dim))
    v_cache = np.zeros((0, dim))
    result = np.zeros((n_rows, dim))
    for t in range(n_rows):
        row = x[t].reshape(1, dim)
        rotation = rotation_matrices([t], dim, decoder.base)[0]
        q = decoder.project_q(row) @ rotation.T
        k = decoder.project_k(row) @ rotation.T
        v = decoder.project_v(row)
        k_cache = np.concatenate([k_cache, k], axis=0)
        v_cache = np.concatenate([v_cache, v], axis=0)
        scores = (q @ k_cache.T) / np.sqrt(dim)
        scores = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        attention = scores / np.sum(scores, axis=-1, keepdims=True)
        result[t : t + 1] = decoder.project_out(attention @ v_cache)
    return result
