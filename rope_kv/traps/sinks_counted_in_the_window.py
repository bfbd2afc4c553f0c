"""The sinks take their places within the window: so many fewer of the last tokens are seen.

Misconception: The window is the size of the store, sinks included.
Hint: With one sink and a window of 2, how many of four tokens does the last one see?
Seen in: constructed
Function: start
Model: window
Shown by: the-first-tokens-are-seen-beside-the-window-4cd9eca7.json
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
        self.keys, self.values = [], []  # never changed in place

    @property
    def length(self):
        return self.position

    def feed(self, rows):
        decoder = self.decoder
        positions = np.arange(self.position, self.position + len(rows))
        q = apply_rope(decoder.project_q(rows), positions, decoder.base)
        k = apply_rope(decoder.project_k(rows), positions, decoder.base)
        v = decoder.project_v(rows)
        self.keys, self.values = [*self.keys, *k], [*self.values, *v]
        self.position += len(rows)
        attended = self.attend(q, positions)
        return decoder.project_out(attended)

    def attend(self, q, positions):
        keys = np.reshape(self.keys, (-1, q.shape[1]))
        values = np.reshape(self.values, (-1, q.shape[1]))
        seen = self.visible(positions, np.arange(len(keys)))
        scores = np.where(seen, q @ keys.T / np.sqrt(q.shape[1]), -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        weights /= weights.sum(axis=1, keepdims=True)
        return weights @ values

    def visible(self, positions, places):
        back = positions[:, np.newaxis] - places
        window, sinks = self.decoder.window, self.decoder.sinks
        if window is None:
            return back >= 0
        return (back >= 0) & ((back < max(window - sinks, 1)) | (places < sinks))

    def crop(self, length):
        if not 0 <= length <= self.position:
            raise ValueError(f"there are {self.position} tokens, not {length}")
        self.keys, self.values = self.keys[:length], self.values[:length]
        self.position = length

    def fork(self):
        branch = Session(self.decoder)
        branch.keys, branch.values = self.keys, self.values
        branch.position = self.position
        return branch

    def reset(self):
        self.keys, self.values = [], []
        self.position = 0
