"""Style: math.fsum for every sum of products, so that each sum is correctly rounded."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    return np.array([math.exp(-math.log(base) * 2 * i / d) for i in range(d // 2)])


def _dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def _turn(row, position, freqs):
    out = []
    for a, b, freq in zip(row[0::2], row[1::2], freqs, strict=True):
        c, s = math.cos(position * freq), math.sin(position * freq)
        out += [_dot((a, b), (c, -s)), _dot((a, b), (s, c))]
    return out


def apply_rope(x, positions, base=10000):
    freqs = rope_freqs(x.shape[1], base).tolist()
    positions = np.asarray(positions).tolist()
    rows = [
        _turn(row, position, freqs) for row, position in zip(x.tolist(), positions, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(x.shape)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    freqs = rope_freqs(d, decoder.base).tolist()
    keys = []
    columns = [[] for _ in range(d)]  # values by feature, ready for a dot with the weights
    out = np.zeros((n, d))
    for t in range(n):
        row = x_embedded[t : t + 1]
        q = _turn(decoder.project_q(row).ravel().tolist(), t, freqs)
        keys.append(_turn(decoder.project_k(row).ravel().tolist(), t, freqs))
        for column, entry in zip(columns, decoder.project_v(row).ravel().tolist(), strict=True):
            column.append(entry)
        scores = [_dot(q, key) / math.sqrt(d) for key in keys]
        top = max(scores)
        weights = [math.exp(score - top) for score in scores]
        total = math.fsum(weights)
        attended = [[_dot(weights, column) / total for column in columns]]
        out[t] = decoder.project_out(np.array(attended))[0]
    return out
