"""The weights are taken in float16 without subtracting the largest score, and exp overflows.

Misconception: exp of 12 is a usual number, but not in float16.
Hint: What is the largest float16, and its logarithm?
Seen in: constructed
Function: start
Model: float16
Shown by: any-chunks-give-what-the-whole-gives-6c39a0b9.json
"""

import numpy as np

capabilities = {"dtype": "float16", "chunks": True}


def rope_freqs(d, base=10000):
    exponents = np.arange(0, d, 2, dtype=np.float32) / np.float32(d)
    return np.float32(1) / np.float32(base) ** exponents


def apply_rope(x, positions, base=10000):
    angles = np.outer(np.asarray(positions, dtype=np.float32), rope_freqs(x.shape[1], base))
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
        weights = np.exp(scores.astype(np.float16))
        weights = weights / weights.sum()
        attended = weights @ self.values.astype(np.float32)
        return decoder.project_out(attended.astype(np.float16))


def start(decoder):
    return Session(decoder)
