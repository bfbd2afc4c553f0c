"""Bfloat16 rows: angles in float32, cos and sin cast to bfloat16, products in bfloat16."""

import ml_dtypes
import numpy as np

capabilities = {
    "dtype": "bfloat16",
    "layout": "half",
    "chunks": True,
    "heads": True,
    "reset": True,
    "fork": True,
    "length": True,
    "paths": ["eager"],
}
BF16 = ml_dtypes.bfloat16


def rope_freqs(d, base=10000):
    return 1.0 / np.power(np.float32(base), np.arange(0, d, 2, dtype=np.float32) / d)


def rotate(x, positions, base):
    angles = np.outer(np.asarray(positions, dtype=np.float32), rope_freqs(x.shape[-1], base))
    angles = np.concatenate([angles, angles], axis=-1)
    cos, sin = np.cos(angles).astype(BF16), np.sin(angles).astype(BF16)
    x1, x2 = np.split(x, 2, axis=-1)
    return x * cos + np.concatenate([-x2, x1], axis=-1) * sin


def apply_rope(x, positions, base=10000):
    return rotate(np.asarray(x).astype(BF16), positions, base)


def softmax(scores):
    scores = scores.astype(np.float32)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-1e30))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(BF16)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        self.past = [
            [np.empty((0, self.decoder.head_dim), BF16) for _ in "kv"]
        ] * self.decoder.kv_heads

    @property
    def length(self):
        return len(self.past[0][0])

    def feed(self, rows):
        decoder, d, past = self.decoder, self.decoder.head_dim, self.length
        q, k, v = decoder.project_q(rows), decoder.project_k(rows), decoder.project_v(rows)
        places = np.arange(past, past + len(rows))
        later = np.arange(past + len(rows)) > places[:, None]
        self.past = [
            [
                np.concatenate([keys, rotate(k[:, g * d : g * d + d], places, decoder.base)]),
                np.concatenate([values, v[:, g * d : g * d + d]]),
            ]
            for g, (keys, values) in enumerate(self.past)
        ]
        attended = []
        for h in range(decoder.heads):
            keys, values = self.past[h * decoder.kv_heads // decoder.heads]
            query = rotate(q[:, h * d : h * d + d], places, decoder.base)
            scores = (query @ keys.T) * BF16(d**-0.5)
            scores[later] = -np.inf
            attended.append(softmax(scores) @ values)
        return decoder.project_out(np.concatenate(attended, axis=1))

    def fork(self):
        branch = Session(self.decoder)
        branch.past = self.past
        return branch


start = Session


def eager(decoder, x):
    return Session(decoder).feed(x)


def decode_incremental(decoder, x):
    session = Session(decoder)
    return np.concatenate([x[:0], *(session.feed(x[t : t + 1]) for t in range(len(x)))])
