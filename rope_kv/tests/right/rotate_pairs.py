"""Style: x * cos + rotate_pairs(x) * sin with interleaved duplicates made by np.repeat."""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / (base ** (np.arange(0, d, 2)[: (d // 2)].astype(np.float64) / d))


def rotate_pairs(x):
    """(a, b, c, d, ...) -> (-b, a, -d, c, ...)"""
    x1, x2 = x[..., 0::2], x[..., 1::2]
    return np.stack((-x2, x1), axis=-1).reshape(x.shape)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    freqs = np.repeat(rope_freqs(x.shape[-1], base), 2)
    angles = np.asarray(positions)[:, None] * freqs[None, :]
    return x * np.cos(angles) + rotate_pairs(x) * np.sin(angles)


def decode_incremental(decoder, x_embedded):
    seq_len, dim = x_embedded.shape
    past_k = past_v = None
    outputs = np.zeros((seq_len, dim), dtype=np.float64)
    for pos in range(seq_len):
        hidden = x_embedded[pos : pos + 1, :]
        q = decoder.project_q(hidden)
        k = decoder.project_k(hidden)
        v = decoder.project_v(hidden)
        # q and k share the position, so they are rotated together
        q, k = np.split(apply_rope(np.concatenate([q, k]), [pos, pos], decoder.base), 2)
        past_k = k if past_k is None else np.concatenate([past_k, k], axis=0)
        past_v = v if past_v is None else np.concatenate([past_v, v], axis=0)
        attn = q @ past_k.T / np.sqrt(dim)
        attn = np.exp(attn - attn.max(axis=-1, keepdims=True))
        attn = attn / attn.sum(axis=-1, keepdims=True)
        outputs[pos] = decoder.project_out(attn @ past_v).squeeze(0)
    return outputs
