"""Slip: recompute-all, the growing prefix is projected again at every step: right numbers, wrong work."""

import math

import numpy as np


def rope_freqs(d, base=10000):
    exponents = map(lambda i: -2.0 * i / d, range(d // 2))
    return np.array(list(map(lambda e: float(base) ** e, exponents)))


def apply_rope(x, positions, base=10000):
    n, d = x.shape
    ang = np.multiply.outer(np.asarray(positions, dtype=float), rope_freqs(d, base))
    c, s = np.cos(ang), np.sin(ang)
    R = np.array([[c, -s], [s, c]])  # (2, 2, T, d/2)
    return np.einsum("abti,tib->tia", R, x.reshape(n, d // 2, 2).astype(float)).reshape(n, d)


def _last_row(decoder, prefix):
    """Attention of the newest row over everything up to it."""
    n, d = prefix.shape
    where = np.arange(n)
    Q = apply_rope(decoder.project_q(prefix), where, decoder.base)
    K = apply_rope(decoder.project_k(prefix), where, decoder.base)
    V = decoder.project_v(prefix)
    logits = Q[-1:] @ K.T / math.sqrt(d)
    w = np.exp(logits - logits.max())
    return decoder.project_out(w @ V / w.sum())


def decode_incremental(decoder, x_embedded):
    return np.vstack([_last_row(decoder, x_embedded[: t + 1]) for t in range(len(x_embedded))])
