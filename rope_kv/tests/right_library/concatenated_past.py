"""A past that is a tuple of keys and values, concatenated at each step; rows in halves."""

import numpy as np

capabilities = {
    "layout": "half",
    "chunks": True,
    "heads": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "length": True,
    "paths": ["whole_pass"],
}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def rotate_half(x):
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate((-second, first), axis=-1)


def cos_sin(positions, d, base):
    angles = np.outer(positions, rope_freqs(d, base))
    doubled = np.concatenate((angles, angles), axis=-1)
    return np.cos(doubled), np.sin(doubled)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    cos, sin = cos_sin(positions, x.shape[-1], base)
    return x * cos + rotate_half(x) * sin


def softmax(scores):
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / scores.sum(axis=-1, keepdims=True)


class Session:
    def __init__(self, decoder, past=()):
        self.decoder = decoder
        self.past = past

    @property
    def length(self):
        return self.past[0].shape[1] if self.past else 0

    def feed(self, rows):
        decoder, seen = self.decoder, self.length
        project = (decoder.project_q, decoder.project_k, decoder.project_v)
        q, k, v = (self.split(each(rows)) for each in project)
        cos, sin = cos_sin(range(seen, seen + len(rows)), decoder.head_dim, decoder.base)
        q, k = (x * cos + rotate_half(x) * sin for x in (q, k))
        if self.past:
            k, v = (np.concatenate(both, axis=1) for both in zip(self.past, (k, v), strict=True))
        self.past = k, v
        if not len(rows):
            return np.empty((0, decoder.width))
        groups = decoder.heads // decoder.kv_heads
        k, v = np.repeat(k, groups, axis=0), np.repeat(v, groups, axis=0)
        scores = q @ k.swapaxes(1, 2) / np.sqrt(decoder.head_dim)
        scores = scores + np.triu(np.full(scores.shape[1:], -np.inf), k=seen + 1)
        attended = softmax(scores) @ v
        return decoder.project_out(attended.swapaxes(0, 1).reshape(len(rows), -1))

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot keep {length} of {self.length} tokens")
        self.past = tuple(part[:, :length] for part in self.past)

    def reset(self):
        self.past = ()

    def fork(self):
        return Session(self.decoder, self.past)

    def split(self, rows):
        d = self.decoder.head_dim
        return rows.reshape(len(rows), rows.shape[1] // d, d).swapaxes(0, 1)


start = Session


def whole_pass(decoder, x):
    return start(decoder).feed(x)
