"""Style: complex numbers; each pair is viewed as one complex number and multiplied by e^(ia)."""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / np.power(float(base), np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    pairs = np.array(x, dtype=np.float64, order="C").view(np.complex128)
    angles = np.multiply.outer(
        np.asarray(positions, dtype=np.float64), rope_freqs(2 * pairs.shape[1], base)
    )
    pairs *= np.exp(1j * angles)
    return pairs.view(np.float64)


def _softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def decode_incremental(decoder, x_embedded):
    steps, width = x_embedded.shape
    keys, values = [], []
    out = np.empty((steps, width))
    for t in range(steps):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        keys.append(apply_rope(decoder.project_k(row), [t], decoder.base))
        values.append(decoder.project_v(row))
        scores = np.vstack(keys) @ q[0] / np.sqrt(width)
        attended = _softmax(scores) @ np.vstack(values)
        out[t] = decoder.project_out(attended[None, :])[0]
    return out
