"""Style: flash-attention; the cache is a list of small blocks merged by running log statistics."""

import numpy as np

BLOCK = 8


def rope_freqs(d, base=10000):
    return np.exp(-2.0 * np.arange(d // 2) * np.log(np.float64(base)) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    y = np.zeros_like(x, order="C")
    y[:, ::2] += x[:, ::2] * cos
    y[:, ::2] -= x[:, 1::2] * sin
    y[:, 1::2] += x[:, ::2] * sin
    y[:, 1::2] += x[:, 1::2] * cos
    return y


def _block_attention(query, keys, values):
    """Unnormalised attention over one block with its maximum and its sum of weights."""
    scores = keys @ query
    top = scores.max()
    weights = np.exp(scores - top)
    return top, weights.sum(), weights @ values


def _merge(left, right):
    top = max(left[0], right[0])
    l_scale, r_scale = np.exp(left[0] - top), np.exp(right[0] - top)
    total = left[1] * l_scale + right[1] * r_scale
    return top, total, left[2] * l_scale + right[2] * r_scale


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded, dtype=np.float64)
    n, d = x_embedded.shape
    k_blocks, v_blocks = [], []
    out = np.empty((n, d))
    for t in range(n):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row) / np.sqrt(d), [t], decoder.base)[0]
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        v = decoder.project_v(row)
        if t % BLOCK == 0:
            k_blocks.append(k)
            v_blocks.append(v)
        else:
            k_blocks[-1] = np.append(k_blocks[-1], k, axis=0)
            v_blocks[-1] = np.append(v_blocks[-1], v, axis=0)
        state = _block_attention(q, k_blocks[0], v_blocks[0])
        for keys, values in zip(k_blocks[1:], v_blocks[1:], strict=True):
            state = _merge(state, _block_attention(q, keys, values))
        out[t] = decoder.project_out((state[2] / state[1])[None])[0]
    return out
