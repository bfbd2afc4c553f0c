"""Slip: scale-by-width, the scores are divided by the width and not by its square root."""

import math
from dataclasses import dataclass, field

import numpy as np


def rope_freqs(d, base=10000):
    freqs = []
    for i in range(0, d, 2):
        freqs.append(math.pow(base, -i / d))
    return np.array(freqs)


def apply_rope(x, positions, base=10000):
    freqs = rope_freqs(x.shape[1], base)

    def rotate(row, pos):
        phase = float(pos) * freqs
        re, im = row[0::2], row[1::2]
        out = np.zeros(row.shape[0])
        out[0::2] = re * np.cos(phase) - im * np.sin(phase)
        out[1::2] = re * np.sin(phase) + im * np.cos(phase)
        return out

    return np.array([rotate(r, p) for r, p in zip(x, positions)]).reshape(x.shape)


@dataclass
class Head:
    decoder: object
    width: int
    keys: list = field(default_factory=list)
    values: list = field(default_factory=list)

    @property
    def scale(self):
        return 1.0 / self.width

    def rope(self, row, t):
        return apply_rope(row, [t], self.decoder.base)[0]

    def __call__(self, row):
        t = len(self.keys)
        query = self.rope(self.decoder.project_q(row), t)
        self.keys.append(self.rope(self.decoder.project_k(row), t))
        self.values.append(self.decoder.project_v(row)[0])
        scores = self.scale * np.dot(self.keys, query)
        probs = np.exp(scores - max(scores))
        return self.decoder.project_out(np.dot(probs / sum(probs), self.values).reshape(1, -1))


def decode_incremental(decoder, x_embedded):
    head = Head(decoder, x_embedded.shape[1])
    return np.vstack([head(x_embedded[t : t + 1]) for t in range(x_embedded.shape[0])])
