"""Style: the standard array module as a flat append-only cache, wrapped by np.frombuffer."""

import math
from array import array

import numpy as np


def rope_freqs(d, base=10000):
    return np.array(array("d", (math.pow(base, -i / d) for i in range(0, d, 2))))


def apply_rope(x, positions, base=10000):
    n, d = x.shape
    freqs = array("d", rope_freqs(d, base))
    flat = array("d")
    for row, position in zip(x, positions, strict=True):
        for i, freq in enumerate(freqs):
            angle = float(position) * freq
            a, b = float(row[2 * i]), float(row[2 * i + 1])
            flat.append(a * math.cos(angle) - b * math.sin(angle))
            flat.append(a * math.sin(angle) + b * math.cos(angle))
    return np.array(flat).reshape(n, d)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    flat_keys, flat_values, flat_out = array("d"), array("d"), array("d")
    for t in range(n):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)[0]
        flat_keys.extend(apply_rope(decoder.project_k(row), [t], decoder.base)[0])
        flat_values.extend(decoder.project_v(row)[0])
        attended = _attend(q, flat_keys, flat_values)
        flat_out.extend(decoder.project_out(attended)[0])
    return np.array(flat_out).reshape(n, d)


def _attend(q, flat_keys, flat_values):
    # The views die with this frame, so that the arrays can grow again.
    keys = np.frombuffer(flat_keys).reshape(-1, q.size)
    values = np.frombuffer(flat_values).reshape(-1, q.size)
    scores = keys @ q / math.sqrt(q.size)
    weights = np.exp(scores - scores.max())
    return (weights / weights.sum())[None, :] @ values
