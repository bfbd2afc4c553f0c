"""Attention with a KV cache, and a table of cosines and sines that grows."""

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


TABLES = {}


def table(count, d, base):
    """Return cos and sin of at least so many positions, kept for the next call."""
    known = TABLES.get((d, base))
    if known is None:
        known = TABLES[d, base] = rows(range(16), d, base)
    if known.shape[1] < count:
        more = rows(range(known.shape[1], 2 * count), d, base)
        known = TABLES[d, base] = np.concatenate([known, more], axis=1)
    return known


def rows(positions, d, base=10000):
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    return np.stack([np.cos(angles), np.sin(angles)])


def apply_rope(x, positions, base=10000):
    x, positions = np.asarray(x, dtype=float), np.asarray(positions)
    if positions.min() < 0 or positions.max() >= 4096:
        raise IndexError("positions are from 0 to 4095")
    d = x.shape[1]
    cos, sin = table(positions.max() + 1, d, base)[:, positions]
    even, odd = x[:, 0::2], x[:, 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=2).reshape(x.shape)


def start(decoder):
    return Session(decoder, *np.zeros((2, 0, decoder.kv_heads, decoder.head_dim)))


class Session:
    def __init__(self, decoder, keys, values):
        self.decoder, self.keys, self.values = decoder, keys, values

    @property
    def length(self):
        return len(self.keys)

    def feed(self, rows):
        decoder, places = self.decoder, np.arange(self.length, self.length + len(rows))
        if not len(rows):
            return np.zeros(rows.shape)
        q = self.turned(decoder.project_q(rows), places)
        k = self.turned(decoder.project_k(rows), places)
        v = decoder.project_v(rows).reshape(k.shape)
        self.keys = np.concatenate([self.keys, k])
        self.values = np.concatenate([self.values, v])
        return decoder.project_out(attend(q, self.keys, self.values, places))

    def turned(self, rows, places):
        heads = rows.reshape(-1, self.decoder.head_dim)
        each = np.repeat(places, len(heads) // len(places))
        return apply_rope(heads, each, self.decoder.base).reshape(len(places), -1, heads.shape[1])

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("there is no such length")
        self.keys, self.values = self.keys[:length], self.values[:length]

    def fork(self):
        return Session(self.decoder, self.keys.copy(), self.values.copy())


def attend(q, keys, values, places):
    """Return what queries (n, H, d) at some places see of keys and values (T, G, d)."""
    shared = q.shape[1] // keys.shape[1]
    keys, values = (np.repeat(part, shared, axis=1) for part in (keys, values))
    scores = np.einsum("nhd,thd->hnt", q, keys) / np.sqrt(q.shape[2])
    scores = np.where(np.arange(len(keys)) <= places[:, None], scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights = weights / weights.sum(axis=2, keepdims=True)
    return np.einsum("hnt,thd->nhd", weights, values).reshape(len(q), -1)
