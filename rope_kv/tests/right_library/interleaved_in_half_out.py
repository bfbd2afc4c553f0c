"""Rows come interleaved and leave in halves: the pairs are gathered, then turned in halves."""

import numpy as np

capabilities = {
    "layout": "interleaved to half",
    "chunks": True,
    "crop": True,
    "fork": True,
    "length": True,
    "heads": True,
    "rotary_dim": True,
    "convert_layout": True,
    "scaling": ["yarn"],
}


def rope_freqs(d, base=10000, scaling=None):
    freq_extra = 1.0 / base ** (np.arange(0, d, 2) / d)
    if scaling is None:
        return freq_extra
    freq_inter = 1.0 / (scaling["factor"] * base ** (np.arange(0, d, 2) / d))
    low, high = (
        d * np.log(scaling["original_max_position"] / (turns * 2 * np.pi)) / (2 * np.log(base))
        for turns in (scaling.get("beta_fast", 32), scaling.get("beta_slow", 1))
    )
    low, high = max(np.floor(low), 0), min(np.ceil(high), d - 1)
    ramp = (np.arange(d // 2) - low) / (high - low if high != low else 0.001)
    mask = 1.0 - np.clip(ramp, 0, 1)
    return freq_inter * (1 - mask) + freq_extra * mask


def mscale(scaling):
    if scaling is None:
        return 1.0
    return scaling.get("attention_factor", 0.1 * np.log(scaling["factor"]) + 1.0)


def convert_layout(x, source, target):
    x = np.asarray(x)
    if source == target:
        return x.copy()
    if target == "half":
        return np.hstack([x[:, 0::2], x[:, 1::2]])
    return np.dstack(np.hsplit(x, 2)).reshape(x.shape)


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    x = np.asarray(x, dtype=np.float64)
    d = rotary_dim or x.shape[1]
    if d % 2 or d > x.shape[1]:
        raise ValueError("rotary_dim must be even, and at most the width")
    pe, nope = convert_layout(x[:, :d], "interleaved", "half"), x[:, d:]
    angles = np.outer(np.asarray(positions), rope_freqs(d, base, scaling))
    cos, sin = (mscale(scaling) * np.tile(f(angles), 2) for f in (np.cos, np.sin))
    rotated = np.hstack([-pe[:, d // 2 :], pe[:, : d // 2]])
    return np.hstack([pe * cos + rotated * sin, nope])


class Session:
    def __init__(self, decoder, keys=None, values=None):
        self.decoder = decoder
        none = np.empty((decoder.kv_heads, 0, decoder.head_dim))
        self.keys = none if keys is None else keys
        self.values = none if values is None else values

    @property
    def length(self):
        return self.keys.shape[1]

    def feed(self, rows):
        decoder, past = self.decoder, self.length
        places = range(past, past + len(rows))
        q, k = (
            np.stack([self.turn(head, places) for head in self.heads(project(rows))])
            for project in (decoder.project_q, decoder.project_k)
        )
        self.keys = np.concatenate([self.keys, k], axis=1)
        self.values = np.concatenate([self.values, self.heads(decoder.project_v(rows))], axis=1)
        index = np.arange(decoder.heads) // (decoder.heads // decoder.kv_heads)
        scores = np.einsum("hnd,hmd->hnm", q, self.keys[index]) * decoder.head_dim**-0.5
        later = ~np.tri(len(rows), self.length, past, dtype=bool)
        scores[:, later] = -np.inf
        scores -= scores.max(axis=2, keepdims=True, initial=-1e9)
        weights = np.exp(scores)
        weights /= weights.sum(axis=2, keepdims=True)
        attended = np.einsum("hnm,hmd->nhd", weights, self.values[index])
        return decoder.project_out(attended.reshape(len(rows), decoder.heads * decoder.head_dim))

    def heads(self, rows):
        count = rows.shape[1] // self.decoder.head_dim
        return np.stack(np.split(rows, count, axis=1))

    def turn(self, head, places):
        decoder = self.decoder
        return apply_rope(head, places, decoder.base, decoder.rotary_dim, decoder.scaling)

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("length")
        self.keys, self.values = self.keys[:, :length], self.values[:, :length]

    def fork(self):
        return Session(self.decoder, self.keys, self.values)


start = Session
