"""A window that each token shifts left, the oldest out; once full, it cannot go back."""

import copy

import numpy as np

capabilities = {
    "chunks": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "length": True,
    "heads": True,
    "window": True,
    "min_window": 2,
    "rotary_dim": True,
}


def rope_freqs(d, base=10000):
    return np.power(float(base), -np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.array(x, dtype=np.float64)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if d > x.shape[1] or d % 2:
        raise ValueError("rotary_dim does not fit")
    pairs = x[:, :d].copy().view(np.complex128)
    pairs *= np.exp(1j * np.multiply.outer(np.asarray(positions), rope_freqs(d, base)))
    x[:, :d] = pairs.view(np.float64)
    return x


class Session:
    def __init__(self, decoder):
        if decoder.window == 1:
            raise ValueError("a window of 1 is no window")
        self.decoder = decoder
        self.reset()

    def reset(self):
        decoder = self.decoder
        shape = (decoder.window or 0, decoder.kv_heads, decoder.head_dim)
        self.keys, self.values = np.zeros(shape), np.zeros(shape)
        self.length = 0

    def feed(self, rows):
        return np.concatenate(
            [np.empty((0, self.decoder.width))]
            + [self.feed_one(rows[t : t + 1]) for t in range(len(rows))]
        )

    def feed_one(self, row):
        decoder, d = self.decoder, self.decoder.head_dim
        q = self.turned(decoder.project_q(row).reshape(-1, d))
        k = self.turned(decoder.project_k(row).reshape(-1, d))
        v = decoder.project_v(row).reshape(-1, d)
        if decoder.window is None:
            self.keys = np.concatenate([self.keys, k[None]])
            self.values = np.concatenate([self.values, v[None]])
        else:
            self.keys, self.values = np.roll(self.keys, -1, 0), np.roll(self.values, -1, 0)
            self.keys[-1], self.values[-1] = k, v
        self.length += 1
        there = min(self.length, len(self.keys))
        keys, values = self.keys[-there:], self.values[-there:]
        groups = decoder.heads // decoder.kv_heads
        scores = np.einsum("grd,mgd->grm", q.reshape(-1, groups, d), keys) / np.sqrt(d)
        scores -= scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        return decoder.project_out(np.einsum("grm,mgd->grd", weights, values).reshape(1, -1))

    def turned(self, heads):
        places = np.full(len(heads), self.length)
        return apply_rope(heads, places, self.decoder.base, self.decoder.rotary_dim)

    def crop(self, length):
        window = self.decoder.window
        if not 0 <= length <= self.length:
            raise ValueError(f"{length} is not from 0 to {self.length}")
        if window is None:
            self.keys, self.values = self.keys[:length], self.values[:length]
        elif self.length >= window:
            raise ValueError("the window is full: what came before it is lost")
        else:
            gone = self.length - length
            self.keys, self.values = np.roll(self.keys, gone, 0), np.roll(self.values, gone, 0)
        self.length = length

    def fork(self):
        branch = copy.copy(self)
        branch.keys, branch.values = self.keys.copy(), self.values.copy()
        return branch


start = Session
