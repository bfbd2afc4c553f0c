"""Style: a dictionary keyed by absolute position; the query looks up every earlier position."""

import numpy as np


def rope_freqs(d, base=10000):
    freqs = {i: 1.0 / float(base) ** (2.0 * i / d) for i in range(d // 2)}
    return np.array([freqs[i] for i in sorted(freqs)])


def apply_rope(x, positions, base=10000):
    freqs = rope_freqs(x.shape[1], base)
    turns = {}  # repeated positions share their cosines
    out = np.empty(x.shape, dtype=np.float64)
    for t, position in enumerate(int(p) for p in positions):
        if position not in turns:
            turns[position] = np.cos(position * freqs), np.sin(position * freqs)
        cos, sin = turns[position]
        out[t, 0::2] = x[t, 0::2] * cos - x[t, 1::2] * sin
        out[t, 1::2] = x[t, 0::2] * sin + x[t, 1::2] * cos
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    cache = {}
    out = {}
    for position in range(n):
        row = x_embedded[position][None, :] * 1.0
        query = apply_rope(decoder.project_q(row), [position], decoder.base)[0]
        cache[position] = {
            "key": apply_rope(decoder.project_k(row), [position], decoder.base)[0],
            "value": decoder.project_v(row)[0],
        }
        scores = {p: float(query @ entry["key"]) / d**0.5 for p, entry in cache.items()}
        top = max(scores.values())
        weights = {p: float(np.exp(score - top)) for p, score in scores.items()}
        total = sum(weights.values())
        attended = sum(weights[p] / total * cache[p]["value"] for p in cache)
        out[position] = decoder.project_out(attended[None, :])[0]
    return np.array([out[p] for p in range(n)], dtype=np.float64).reshape(n, d)
