"""Style: buffers of exactly T rows made before the loop, ufuncs with out= in it."""

import numpy as np


def rope_freqs(d, base=10000):
    freqs = np.arange(0, d, 2, dtype=np.float64)
    np.divide(freqs, -d, out=freqs)
    np.power(float(base), freqs, out=freqs)
    return freqs


def _rotate_into(out, x, cos, sin, scratch):
    np.multiply(x[..., 0::2], cos, out=out[..., 0::2])
    np.multiply(x[..., 1::2], sin, out=scratch)
    out[..., 0::2] -= scratch
    np.multiply(x[..., 0::2], sin, out=out[..., 1::2])
    np.multiply(x[..., 1::2], cos, out=scratch)
    out[..., 1::2] += scratch


def apply_rope(x, positions, base=10000):
    n, d = x.shape
    angles = np.empty((n, d // 2))
    np.multiply(np.asarray(positions).reshape(n, 1), rope_freqs(d, base), out=angles)
    out = np.empty((n, d))
    _rotate_into(out, x, np.cos(angles), np.sin(angles), np.empty_like(angles))
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    freqs = rope_freqs(d, decoder.base)
    row = np.empty((1, d))
    cos, sin, scratch = np.empty((3, d // 2))
    query = np.empty(d)
    key_buffer = np.empty((n, d))
    value_buffer = np.empty((n, d))
    score_buffer = np.empty(n)
    attended = np.empty((1, d))
    out = np.empty((n, d))
    scale = 1.0 / np.sqrt(d)
    for t in range(n):
        row[...] = x_embedded[t]
        np.multiply(freqs, t, out=scratch)
        np.cos(scratch, out=cos)
        np.sin(scratch, out=sin)
        _rotate_into(query, decoder.project_q(row)[0], cos, sin, scratch)
        _rotate_into(key_buffer[t], decoder.project_k(row)[0], cos, sin, scratch)
        value_buffer[t] = decoder.project_v(row)[0]
        scores = score_buffer[: t + 1]
        np.dot(key_buffer[: t + 1], query, out=scores)
        scores *= scale
        scores -= scores.max()
        np.exp(scores, out=scores)
        scores /= scores.sum()
        np.dot(scores, value_buffer[: t + 1], out=attended[0])
        out[t] = decoder.project_out(attended)[0]
    return out
