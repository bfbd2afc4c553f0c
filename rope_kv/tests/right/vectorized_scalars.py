"""Style: scalar functions lifted by np.vectorize and np.frompyfunc."""

import math

import numpy as np


def _frequency(i, d, base):
    return 1.0 / math.pow(base, 2 * i / d)


def _turn(a, b, angle):
    return a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)


_frequencies = np.vectorize(_frequency, otypes=[np.float64])
_turns = np.vectorize(_turn, otypes=[np.float64, np.float64])
_exp = np.frompyfunc(math.exp, 1, 1)


def rope_freqs(d, base=10000):
    return _frequencies(np.arange(d // 2), d, base)


def apply_rope(x, positions, base=10000):
    angles = np.array(positions, dtype=np.float64, ndmin=2).T * rope_freqs(x.shape[1], base)
    out = np.empty(x.shape, dtype=np.float64)
    if x.size:
        out[:, 0::2], out[:, 1::2] = _turns(x[:, 0::2], x[:, 1::2], angles)
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys = np.empty((n, d))
    values = np.empty((n, d))
    out = np.empty((n, d))
    score = np.vectorize(lambda q, k: float(np.dot(q, k)) / math.sqrt(d), signature="(d),(d)->()")
    for t in range(n):
        row = x_embedded[t : t + 1]
        keys[t] = apply_rope(decoder.project_k(row), [t], decoder.base)[0]
        query = apply_rope(decoder.project_q(row), [t], decoder.base)[0]
        values[t] = decoder.project_v(row)[0]
        scores = score(query, keys[: t + 1])
        weights = _exp(scores - scores.max()).astype(np.float64)
        weights /= weights.sum()
        out[t] = decoder.project_out(np.tensordot(weights, values[: t + 1], axes=1)[None])[0]
    return out
