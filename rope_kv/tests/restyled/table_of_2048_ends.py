"""Slip: table-of-2048-ends, a table of 2048 angles ends with an IndexError, and negative positions count from its end."""

import math

import numpy as np

MAX_SEQ_LEN = 2048


def rope_freqs(d, base=10000):
    freqs = []
    for i in range(0, d, 2):
        freqs.append(math.pow(base, -i / d))
    return np.array(freqs)


class RotaryTable:
    def __init__(self, d, base):
        t = np.arange(MAX_SEQ_LEN)
        self.freqs = rope_freqs(d, base)
        self.freqs_cis = np.exp(1j * np.outer(t, self.freqs))

    def lookup(self, positions):
        idx = np.array([int(p) for p in positions], dtype=np.int64)
        return self.freqs_cis[idx]


def apply_rope(x, positions, base=10000):
    cis = RotaryTable(x.shape[1], base).lookup(positions)
    xc = np.empty(cis.shape, dtype=np.complex128)
    xc.real = x[:, 0::2]
    xc.imag = x[:, 1::2]
    xc *= cis
    return np.stack((xc.real, xc.imag), axis=-1).reshape(x.shape)


def _steps(decoder, x):
    D = x.shape[1]
    seen = []
    for t in range(x.shape[0]):
        row = x[t : t + 1]
        q = apply_rope(decoder.project_q(row), (t,), decoder.base)[0]
        seen.append(
            (apply_rope(decoder.project_k(row), (t,), decoder.base)[0], decoder.project_v(row)[0])
        )
        scores = np.array([k.dot(q) for k, _ in seen]) / math.sqrt(D)
        w = np.exp(scores - scores.max())
        mixed = sum(wi * v for wi, (_, v) in zip(w / w.sum(), seen))
        yield decoder.project_out(mixed.reshape(1, D))[0]


def decode_incremental(decoder, x_embedded):
    return np.array(list(_steps(decoder, x_embedded)))
