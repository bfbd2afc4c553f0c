"""Style: buffers filled from the end, so that the live part is always a suffix, newest first."""

import numpy as np


def rope_freqs(d, base=10000):
    half = d // 2
    return np.geomspace(1.0, float(base) ** (-2.0 * (half - 1) / d), half)


def _unit_circle(angles):
    circle = np.empty(angles.shape, dtype=np.complex128)
    circle.real = np.cos(angles)
    circle.imag = np.sin(angles)
    return circle


def apply_rope(x, positions, base=10000):
    z = x[:, 0::2] + 1j * x[:, 1::2]
    positions = np.asarray(positions, dtype=np.float64)
    z = z * _unit_circle(np.multiply.outer(positions, rope_freqs(x.shape[1], base)))
    out = np.empty(x.shape)
    out[:, 0::2], out[:, 1::2] = z.real, z.imag
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys = np.empty((n, d))
    values = np.empty((n, d))
    out = np.empty((n, d))
    start = n
    for t in range(n):
        start -= 1
        row = np.ascontiguousarray(x_embedded[t : t + 1], dtype=np.float64)
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        keys[start:][:1] = apply_rope(decoder.project_k(row), [t], decoder.base)
        values[start:][:1] = decoder.project_v(row)
        scores = q @ keys[start:].T * d**-0.5
        weights = np.exp(scores - scores.max())
        out[t] = decoder.project_out((weights @ values[start:]) / weights.sum()).ravel()
    return out
