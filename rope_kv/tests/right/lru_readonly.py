"""Style: functools.lru_cache over frequencies and single positions, read-only arrays inside."""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=256)
def _cached_freqs(d, base):
    freqs = base ** (-np.arange(0, d, 2) / d)
    freqs.setflags(write=False)
    return freqs


@lru_cache(maxsize=4096)
def _cached_turn(position, d, base):
    angles = position * _cached_freqs(d, base)
    turn = np.stack([np.cos(angles), np.sin(angles)])
    turn.setflags(write=False)
    return turn


def rope_freqs(d, base=10000):
    return _cached_freqs(int(d), float(base)).copy()


def apply_rope(x, positions, base=10000):
    n, d = x.shape
    out = np.empty((n, d), dtype=np.float64)
    for t, position in enumerate(positions):
        cos, sin = _cached_turn(int(position), d, float(base))
        out[t, ::2] = x[t, ::2] * cos - x[t, 1::2] * sin
        out[t, 1::2] = x[t, 1::2] * cos + x[t, ::2] * sin
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys, values = np.empty((d, n)), np.empty((n, d))  # keys are stored as columns
    result = np.empty((n, d))
    for t in range(n):
        row = x_embedded[t, None]
        keys[:, t] = apply_rope(decoder.project_k(row), (t,), decoder.base)[0]
        values[t] = decoder.project_v(row)[0]
        query = apply_rope(decoder.project_q(row), (t,), decoder.base)
        logits = query @ keys[:, : t + 1] / np.sqrt(d)
        probs = np.exp(logits - logits.max(axis=1, keepdims=True))
        probs /= probs.sum(axis=1, keepdims=True)
        result[t] = decoder.project_out(probs @ values[: t + 1])[0]
    return result
