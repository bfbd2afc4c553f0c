"""Style: recursion by halves, for the frequencies, the rotation, the decoding and the softmax."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    def build(low, high):
        if high - low == 1:
            return [float(base) ** (-2.0 * low / d)]
        middle = (low + high) // 2
        return build(low, middle) + build(middle, high)

    return np.array(build(0, d // 2))


def apply_rope(x, positions, base=10000):
    positions = np.asarray(positions, dtype=np.int64)
    freqs = rope_freqs(x.shape[1], base)
    out = np.empty(x.shape, dtype=np.float64)

    def turn(low, high):
        """Rotate the pairs low .. high - 1."""
        if high - low > 1:
            middle = (low + high) // 2
            turn(low, middle)
            turn(middle, high)
            return
        a, b = x[:, 2 * low], x[:, 2 * low + 1]
        cos, sin = np.cos(positions * freqs[low]), np.sin(positions * freqs[low])
        out[:, 2 * low] = a * cos - b * sin
        out[:, 2 * low + 1] = b * cos + a * sin

    turn(0, len(freqs))
    return out


def _attend(scores, values):
    """Return (maximum, total weight, weighted values) by merging the two halves."""
    if len(scores) == 1:
        return scores[0], 1.0, values[0]
    middle = len(scores) // 2
    top_a, total_a, mixed_a = _attend(scores[:middle], values[:middle])
    top_b, total_b, mixed_b = _attend(scores[middle:], values[middle:])
    top = max(top_a, top_b)
    scale_a, scale_b = math.exp(top_a - top), math.exp(top_b - top)
    return top, total_a * scale_a + total_b * scale_b, mixed_a * scale_a + mixed_b * scale_b


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys, values = np.empty((n, d)), np.empty((n, d))
    out = np.empty((n, d))

    def decode(low, high):
        if high - low > 1:
            middle = (low + high) // 2
            decode(low, middle)
            decode(middle, high)
        elif high > low:
            row = x_embedded[low:high]
            query = apply_rope(decoder.project_q(row), [low], decoder.base)[0]
            keys[low] = apply_rope(decoder.project_k(row), [low], decoder.base)[0]
            values[low] = decoder.project_v(row)[0]
            scores = (keys[:high] @ query / math.sqrt(d)).tolist()
            _, total, mixed = _attend(scores, values[:high])
            out[low] = decoder.project_out((mixed / total).reshape(1, d))[0]

    decode(0, n)
    return out
