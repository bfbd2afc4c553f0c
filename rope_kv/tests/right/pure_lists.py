"""Style: pure Python; math.cos, math.sin and plain lists, numpy only at the boundary."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    return np.array([1.0 / base ** (2 * i / d) for i in range(d // 2)], dtype=np.float64)


def _turn_row(row, position, freqs):
    turned = []
    for i, freq in enumerate(freqs):
        angle = position * freq
        c, s = math.cos(angle), math.sin(angle)
        a, b = row[2 * i], row[2 * i + 1]
        turned.append(a * c - b * s)
        turned.append(a * s + b * c)
    return turned


def apply_rope(x, positions, base=10000):
    n, d = x.shape
    freqs = rope_freqs(d, base).tolist()
    rows = [
        _turn_row([float(value) for value in row], int(position), freqs)
        for row, position in zip(x.tolist(), positions, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(n, d)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    freqs = rope_freqs(d, decoder.base).tolist()
    root = math.sqrt(d)
    keys, values, outputs = [], [], []
    for t in range(n):
        row = np.array([x_embedded[t].tolist()], dtype=np.float64)
        query = _turn_row(decoder.project_q(row)[0].tolist(), t, freqs)
        keys.append(_turn_row(decoder.project_k(row)[0].tolist(), t, freqs))
        values.append(decoder.project_v(row)[0].tolist())
        scores = [sum(a * b for a, b in zip(query, key, strict=True)) / root for key in keys]
        top = max(scores)
        weights = [math.exp(score - top) for score in scores]
        total = sum(weights)
        attended = [0.0] * d
        for weight, value in zip(weights, values, strict=True):
            for j in range(d):
                attended[j] += weight * value[j]
        attended = np.array([[a / total for a in attended]])
        outputs.append(decoder.project_out(attended)[0].tolist())
    return np.array(outputs, dtype=np.float64).reshape(n, d)
