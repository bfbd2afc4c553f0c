"""Angles are rounded to the dtype of the rows, float16, before their cos and sin.

Misconception: The model runs in half precision, so its tables are computed in half precision.
Hint: How far apart are neighbouring float16 numbers near 2000, in radians?
Seen in: EleutherAI/gpt-neox #1003; huggingface/transformers #29285
Function: apply_rope
Model: float16
Shown by: angles-keep-their-digits-where-16-bits-run-out-5eccc8f2.json
"""

import numpy as np

capabilities = {"dtype": "float16", "chunks": True}


def rope_freqs(d, base=10000):
    exponents = np.arange(0, d, 2, dtype=np.float32) / np.float32(d)
    return np.float32(1) / np.float32(base) ** exponents


def apply_rope(x, positions, base=10000):
    angles = np.outer(np.asarray(positions, dtype=np.float32), rope_freqs(x.shape[1], base))
    angles = angles.astype(x.dtype)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2].astype(np.float32), x[:, 1::2].astype(np.float32)
    rotated = np.empty(x.shape, dtype=x.dtype)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.keys = np.empty((0, decoder.width), dtype=np.float16)
        self.values = np.empty((0, decoder.width), dtype=np.float16)

    def feed(self, rows):
        outputs = np.empty(rows.shape, dtype=rows.dtype)
        for t in range(len(rows)):
            outputs[t] = self.step(rows[t : t + 1])[0]
        return outputs

    def step(self, row):
        decoder, t = self.decoder, len(self.keys)
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        self.keys = np.concatenate([self.keys, k])
        self.values = np.concatenate([self.values, decoder.project_v(row)])
        scores = q.astype(np.float32) @ self.keys.T.astype(np.float32) / np.sqrt(decoder.width)
        weights = np.exp(scores - scores.max())
        weights = weights / weights.sum()
        attended = weights @ self.values.astype(np.float32)
        return decoder.project_out(attended.astype(np.float16))


def start(decoder):
    return Session(decoder)
