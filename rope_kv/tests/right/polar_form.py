"""Style: polar coordinates; length by hypot, direction by arctan2, and the angle is just added."""

import cmath

import numpy as np


def rope_freqs(d, base=10000):
    return np.array([(base ** (2 * i / d)) ** -1.0 for i in range(d // 2)], dtype=np.float64)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    length = np.hypot(x[:, 0::2], x[:, 1::2])
    direction = np.arctan2(x[:, 1::2], x[:, 0::2])
    direction += np.asarray(positions)[:, None] * rope_freqs(x.shape[1], base)
    out = np.empty_like(x)
    out[:, 0::2] = length * np.cos(direction)
    out[:, 1::2] = length * np.sin(direction)
    return out


def _as_complex(row):
    return [complex(a, b) for a, b in zip(row[0::2].tolist(), row[1::2].tolist(), strict=True)]


def _inner(query, key):
    return sum(q * k.conjugate() for q, k in zip(query, key, strict=True))


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    freqs = rope_freqs(d, decoder.base).tolist()
    keys, values = [], []
    out = np.zeros((n, d))
    for t in range(n):
        row = x_embedded[t : t + 1]
        turn = [cmath.rect(1.0, t * freq) for freq in freqs]
        query = [z * u for z, u in zip(_as_complex(decoder.project_q(row)[0]), turn, strict=True)]
        keys.append(
            [z * u for z, u in zip(_as_complex(decoder.project_k(row)[0]), turn, strict=True)]
        )
        values.append(decoder.project_v(row)[0])
        # the dot product of two pairs is the real part of q * conj(k)
        scores = np.array([_inner(query, key).real for key in keys])
        weights = np.exp((scores - scores.max()) / np.sqrt(d))
        weights /= weights.sum()
        out[t] = decoder.project_out(weights[None] @ np.array(values))[0]
    return out
