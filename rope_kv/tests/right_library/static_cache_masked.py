"""A store allocated in full, a write index, and a mask over all its slots, used or not."""

import numpy as np

capabilities = {
    "chunks": True,
    "heads": True,
    "crop": True,
    "reset": True,
    "length": True,
    "capacity": True,
    "window": True,
}
USUAL = 64


def rope_freqs(d, base=10000):
    return np.exp(-np.log(base) * np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=float)
    angles = np.asarray(positions)[:, None] * rope_freqs(x.shape[1], base)
    out = np.empty_like(x)
    out[:, ::2] = x[:, ::2] * np.cos(angles) - x[:, 1::2] * np.sin(angles)
    out[:, 1::2] = x[:, 1::2] * np.cos(angles) + x[:, ::2] * np.sin(angles)
    return out


class StaticCache:
    def __init__(self, slots, heads, d):
        self.keys = np.zeros((heads, slots, d))
        self.values = np.zeros((heads, slots, d))

    @property
    def slots(self):
        return self.keys.shape[1]

    def update(self, keys, values, places):
        self.keys[:, places] = keys
        self.values[:, places] = values

    def enlarged(self, slots):
        heads, old, d = self.keys.shape
        larger = StaticCache(slots, heads, d)
        larger.update(self.keys, self.values, np.arange(old))
        return larger


class Session:
    def __init__(self, decoder, capacity=None):
        self.decoder = decoder
        self.may_grow = capacity is None
        self.cache = StaticCache(capacity or USUAL, decoder.kv_heads, decoder.head_dim)
        self.length = 0

    def feed(self, rows):
        decoder, end = self.decoder, self.length + len(rows)
        if end > self.cache.slots:
            if not self.may_grow:
                raise RuntimeError("the cache is full")
            self.cache = self.cache.enlarged(2 * end)
        places = np.arange(self.length, end)
        q, k, v = (
            self.heads_first(project(rows))
            for project in (decoder.project_q, decoder.project_k, decoder.project_v)
        )
        q, k = self.turned(q, places), self.turned(k, places)
        self.cache.update(k, v, places)
        slots = np.arange(self.cache.slots)
        mask = slots > places[:, None]
        if decoder.window:
            mask |= slots <= places[:, None] - decoder.window
        groups, d = decoder.kv_heads, decoder.head_dim
        q = q.reshape(groups, decoder.heads // groups, len(rows), d)
        scores = np.einsum("grnd,gmd->grnm", q, self.cache.keys) / d**0.5
        scores = np.where(mask, -np.inf, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        attended = np.einsum("grnm,gmd->ngrd", weights, self.cache.values)
        self.length = end
        return decoder.project_out(attended.reshape(len(rows), decoder.heads * d))

    def crop(self, length):
        if length < 0 or length > self.length:
            raise IndexError("no such length")
        self.length = length

    def reset(self):
        self.length = 0

    def heads_first(self, rows):
        d = self.decoder.head_dim
        return rows.reshape(len(rows), rows.shape[1] // d, d).transpose(1, 0, 2)

    def turned(self, heads, places):
        return np.stack([apply_rope(head, places, self.decoder.base) for head in heads])


def start(decoder, capacity=None):
    return Session(decoder, capacity)
