"""The tables are float32, and the result is float32 where rows are float16.

Misconception: A product of both dtypes takes the larger one without a word.
Hint: Print the dtype of what comes back.
Seen in: huggingface/transformers #24262
Function: apply_rope
Model: float16
Shown by: rotation-returns-a-float64-array-like-x-8b3a1ef3.json
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
    rotated = np.empty(x.shape, dtype=cos.dtype)
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
