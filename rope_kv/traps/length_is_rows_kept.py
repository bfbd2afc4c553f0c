"""The length is the number of rows in the ring, which stops growing when it is full.

Misconception: The size of the cache is the number of tokens.
Hint: With a window of 1, feed two tokens and print the length.
Seen in: rajveer43/VeloxQuant-MLX #171
Function: start
Model: ring
Shown by: the-length-is-the-number-of-tokens-seen-74d74a4e.json
"""

import numpy as np

capabilities = {
    "chunks": True, "crop": True, "fork": True, "reset": True, "length": True,
    "window": True, "sinks": True,
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


def start(decoder):
    return Session(decoder)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.position = 0
        self.ring = {}  # slot: position, key, value

    @property
    def length(self):
        return len(self.ring)

    def feed(self, rows):
        decoder = self.decoder
        positions = np.arange(self.position, self.position + len(rows))
        q = apply_rope(decoder.project_q(rows), positions, decoder.base)
        k = apply_rope(decoder.project_k(rows), positions, decoder.base)
        v = decoder.project_v(rows)
        attended = np.empty_like(q)
        for t, position in enumerate(positions):
            self.ring[self.slot(position)] = position, k[t], v[t]
            attended[t] = self.attend(q[t])
        self.position += len(rows)
        return decoder.project_out(attended)

    def slot(self, position):
        window, sinks = self.decoder.window, self.decoder.sinks
        if window is None or position < sinks:
            return position
        return sinks + (position - sinks) % window

    def attend(self, query):
        keys = np.array([key for _, key, _ in self.ring.values()])
        values = np.array([value for _, _, value in self.ring.values()])
        scores = keys @ query / np.sqrt(len(query))
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        return weights @ values

    def crop(self, length):
        if not 0 <= length <= self.position:
            raise ValueError(f"there are {self.position} tokens, not {length}")
        window = self.decoder.window or self.position
        held = {position for position, _, _ in self.ring.values()}
        if not held.issuperset(range(max(0, length - window + 1), length)):
            raise ValueError(f"some of {length} tokens are overwritten")
        self.ring = {slot: kept for slot, kept in self.ring.items() if kept[0] < length}
        self.position = length

    def fork(self):
        branch = Session(self.decoder)
        branch.ring = dict(self.ring)
        branch.position = self.position
        return branch

    def reset(self):
        self.ring = {}
        self.position = 0
