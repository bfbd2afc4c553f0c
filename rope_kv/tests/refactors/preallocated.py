"""Attention with a KV cache in a store with room to spare."""

import numpy as np

capabilities = {
    "rope_freqs": False,
    "positions": "not negative",
    "max_position": 4096,
    "heads": True,
    "chunks": True,
    "crop": True,
    "fork": True,
    "length": True,
}


def apply_rope(x, positions, base=10000):
    x, positions = np.asarray(x, dtype=float), np.asarray(positions)
    if positions.min() < 0 or positions.max() >= 4096:
        raise IndexError("positions are from 0 to 4095")
    d = x.shape[1]
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=2).reshape(x.shape)


def start(decoder):
    return Session(decoder, *np.zeros((2, 4, decoder.kv_heads, decoder.head_dim)))


class Session:
    def __init__(self, decoder, keys, values, length=0):
        self.decoder, self.keys, self.values, self.length = decoder, keys, values, length

    def feed(self, rows):
        decoder, places = self.decoder, np.arange(self.length, self.length + len(rows))
        if not len(rows):
            return np.zeros(rows.shape)
        q = self.turned(decoder.project_q(rows), places)
        k = self.turned(decoder.project_k(rows), places)
        v = decoder.project_v(rows).reshape(k.shape)
        self.store(k, v)
        keys, values = self.keys[: self.length], self.values[: self.length]
        return decoder.project_out(attend(q, keys, values, places))

    def store(self, k, v):
        end = self.length + len(k)
        while end > len(self.keys):
            self.keys = np.concatenate([self.keys, np.zeros_like(self.keys)])
            self.values = np.concatenate([self.values, np.zeros_like(self.values)])
        self.keys[self.length : end], self.values[self.length : end] = k, v
        self.length = end

    def turned(self, rows, places):
        heads = rows.reshape(-1, self.decoder.head_dim)
        each = np.repeat(places, len(heads) // len(places))
        return apply_rope(heads, each, self.decoder.base).reshape(len(places), -1, heads.shape[1])

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("there is no such length")
        self.length = length

    def fork(self):
        return Session(self.decoder, self.keys.copy(), self.values.copy(), self.length)


def attend(q, keys, values, places):
    """Return what queries (n, H, d) at some places see of keys and values (T, G, d)."""
    shared = q.shape[1] // keys.shape[1]
    keys, values = (np.repeat(part, shared, axis=1) for part in (keys, values))
    scores = np.einsum("nhd,thd->hnt", q, keys) / np.sqrt(q.shape[2])
    scores = np.where(np.arange(len(keys)) <= places[:, None], scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights = weights / weights.sum(axis=2, keepdims=True)
    return np.einsum("hnt,thd->nhd", weights, values).reshape(len(q), -1)
