"""Slip: pairs-adjacent-vs-halves, the pairs are (i, i + d/2) and not adjacent entries."""

import numpy as np


def rope_freqs(d: int, base: float = 10000) -> np.ndarray:
    """Inverse frequencies of the d // 2 pairs."""
    inv_freq = np.float64(base) ** -(np.arange(d // 2, dtype=np.float64) * 2 / d)
    return inv_freq


def apply_rope(x, positions, base=10000):
    T, d = x.shape
    h = d // 2
    theta = np.einsum("t,i->ti", np.asarray(positions, dtype=np.float64), rope_freqs(d, base))
    re, im = x[:, :h], x[:, h:]
    z = (re + 1j * im) * (np.cos(theta) + 1j * np.sin(theta))
    return np.hstack([z.real, z.imag])


def make_attention(decoder, width):
    keys, values = [], []

    def step(row):
        pos = [len(keys)]
        q = apply_rope(decoder.project_q(row), pos, decoder.base)
        keys.append(apply_rope(decoder.project_k(row), pos, decoder.base)[0])
        values.append(decoder.project_v(row)[0])
        logits = (q @ np.transpose(keys))[0] / np.sqrt(width)
        probs = np.exp(logits - logits.max())
        return decoder.project_out([probs @ np.array(values) / probs.sum()])

    return step


def decode_incremental(decoder, x_embedded):
    step = make_attention(decoder, x_embedded.shape[1])
    return np.concatenate([step(row.reshape(1, -1)) for row in x_embedded])
