"""A fork grows where its origin refuses: its capacity is not copied.

Misconception: Only the tokens have to be copied.
Hint: With a capacity of 1, feed a token, fork, and feed the fork.
Seen in: constructed
Function: start
Model: capacity
Shown by: a-fork-has-the-room-of-its-origin-81f17b87.json
"""

import numpy as np

capabilities = {
    "chunks": True, "crop": True, "fork": True, "reset": True, "length": True,
    "capacity": True, "fill_unused": True,
}  # fmt: skip


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


def start(decoder, capacity=None):
    return Session(decoder, capacity)


class Session:
    def __init__(self, decoder, capacity):
        self.decoder = decoder
        self.capacity = capacity
        self.position = 0
        self.keys = np.zeros((16 if capacity is None else capacity, decoder.width))
        self.values = np.zeros_like(self.keys)

    @property
    def length(self):
        return self.position

    def feed(self, rows):
        decoder = self.decoder
        end = self.position + len(rows)
        self.make_room(end)
        positions = np.arange(self.position, end)
        q = apply_rope(decoder.project_q(rows), positions, decoder.base)
        k = apply_rope(decoder.project_k(rows), positions, decoder.base)
        v = decoder.project_v(rows)
        self.keys[self.position : end] = k
        self.values[self.position : end] = v
        self.position = end
        attended = self.attend(q, positions)
        return decoder.project_out(attended)

    def make_room(self, end):
        if end <= len(self.keys):
            return
        if self.capacity is not None:
            raise ValueError(f"there is room for {self.capacity} tokens, not for {end}")
        more = np.zeros((end, self.keys.shape[1]))
        self.keys = np.concatenate([self.keys, more])
        self.values = np.concatenate([self.values, more])

    def attend(self, q, positions):
        keys, values = self.keys[: self.position], self.values[: self.position]
        seen = np.arange(len(keys)) <= positions[:, np.newaxis]
        scores = np.where(seen, q @ keys.T / np.sqrt(q.shape[1]), -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        weights /= weights.sum(axis=1, keepdims=True)
        return weights @ values

    def crop(self, length):
        if not 0 <= length <= self.position:
            raise ValueError(f"there are {self.position} tokens, not {length}")
        self.position = length

    def fork(self):
        branch = Session(self.decoder, None)
        branch.keys, branch.values = self.keys.copy(), self.values.copy()
        branch.position = self.position
        return branch

    def reset(self):
        self.position = 0

    def fill_unused(self, value):
        self.keys[self.position :] = value
        self.values[self.position :] = value
