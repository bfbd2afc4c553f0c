"""Every call returns the same memory: earlier outputs turn into later ones.

Misconception: A buffer that is used again saves an allocation.
Hint: Keep what the first call returned, feed again, and print it.
Seen in: constructed
Function: start
Model: session
Shown by: rows-that-were-fed-are-their-owners-again-1a7d7c94.json
"""

import numpy as np

capabilities = {"chunks": True, "crop": True, "fork": True, "reset": True, "length": True}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated


def start(decoder):
    return Session(decoder)


class Session:
    outputs = None

    def __init__(self, decoder):
        self.decoder = decoder
        self.position = 0
        self.keys, self.values = [], []

    @property
    def length(self):
        return self.position

    def feed(self, rows):
        decoder = self.decoder
        positions = np.arange(self.position, self.position + len(rows))
        q = apply_rope(decoder.project_q(rows), positions, decoder.base)
        k = apply_rope(decoder.project_k(rows), positions, decoder.base)
        v = decoder.project_v(rows)
        self.keys.extend(k)
        self.values.extend(v)
        self.position += len(rows)
        attended = self.attend(q)
        if self.outputs is None or len(self.outputs) < len(rows):
            self.outputs = np.empty((len(rows), decoder.width))
        self.outputs[: len(rows)] = decoder.project_out(attended)
        return self.outputs[: len(rows)]

    def attend(self, q):
        keys = np.reshape(self.keys, (-1, q.shape[1]))
        values = np.reshape(self.values, (-1, q.shape[1]))
        seen = np.tril(np.ones((len(q), len(keys)), dtype=bool), k=len(keys) - len(q))
        scores = np.where(seen, q @ keys.T / np.sqrt(q.shape[1]), -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        weights /= weights.sum(axis=1, keepdims=True)
        return weights @ values

    def crop(self, length):
        if not 0 <= length <= self.position:
            raise ValueError(f"there are {self.position} tokens, not {length}")
        del self.keys[length:], self.values[length:]
        self.position = length

    def fork(self):
        branch = Session(self.decoder)
        branch.keys, branch.values = list(self.keys), list(self.values)
        branch.position = self.position
        return branch

    def reset(self):
        self.keys.clear()
        self.values.clear()
        self.position = 0
