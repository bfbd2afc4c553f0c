"""Slip: positions-in-int16, the positions are stored in 16 bits and wrap at 32768."""

import numpy as np


def rope_freqs(d, base=10000):
    return np.logspace(0, -1, num=d // 2, endpoint=False, base=float(base))


def apply_rope(x, positions, base=10000):
    pos = np.array([int(p) for p in positions], dtype=np.int64).astype("i2")
    freqs = rope_freqs(x.shape[1], base)

    def turn(row, p):
        z = row.astype(np.float64).view(np.complex128) * np.exp(1j * (float(p) * freqs))
        return z.view(np.float64)

    rows = np.array(x, dtype=np.float64, order="C")
    return np.array([turn(r, p) for r, p in zip(rows, pos)]).reshape(x.shape)


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
