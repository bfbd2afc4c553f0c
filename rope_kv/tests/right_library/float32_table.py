"""Float32 throughout: cos and sin from a table of float32 angles, which ends at its last row."""

import numpy as np

capabilities = {
    "dtype": "float32",
    "layout": "half",
    "positions": "not negative",
    "max_position": 512,
    "chunks": True,
    "heads": True,
    "crop": True,
    "length": True,
    "scaling": ["linear", "ntk"],
    "paths": ["forward"],
}
MAX_POSITION = 512


def rope_freqs(d, base=10000, scaling=None):
    if scaling and scaling["rule"] == "ntk":
        base = base * scaling["factor"] ** (d / (d - 2))
    exponents = np.arange(0, d, 2, dtype=np.float32) / np.float32(d)
    inv_freq = np.float32(1) / np.float32(base) ** exponents
    if scaling and scaling["rule"] == "linear":
        inv_freq = inv_freq / np.float32(scaling["factor"])
    return inv_freq


class RotaryEmbedding:
    def __init__(self, d, base, scaling=None):
        is_linear = bool(scaling) and scaling["rule"] == "linear"
        t = np.arange(MAX_POSITION, dtype=np.float32)
        t = t / np.float32(scaling["factor"]) if is_linear else t
        freqs = np.outer(t, rope_freqs(d, base, None if is_linear else scaling))
        emb = np.concatenate((freqs, freqs), axis=-1)
        self.cos_cached, self.sin_cached = np.cos(emb), np.sin(emb)

    def __call__(self, x, position_ids):
        position_ids = np.asarray(position_ids, dtype=np.int64)
        if np.any(position_ids < 0) or np.any(position_ids >= MAX_POSITION):
            raise IndexError(f"positions are from 0 to {MAX_POSITION - 1}")
        half = x.shape[-1] // 2
        turned = np.concatenate((-x[..., half:], x[..., :half]), axis=-1)
        return x * self.cos_cached[position_ids] + turned * self.sin_cached[position_ids]


def apply_rope(x, positions, base=10000, scaling=None):
    x = np.asarray(x, dtype=np.float32)
    return RotaryEmbedding(x.shape[-1], base, scaling)(x, positions)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.rotary = RotaryEmbedding(decoder.head_dim, decoder.base, decoder.scaling)
        shape = (decoder.kv_heads, 0, decoder.head_dim)
        self.keys, self.values = np.zeros(shape, np.float32), np.zeros(shape, np.float32)

    @property
    def length(self):
        return self.keys.shape[1]

    def feed(self, rows):
        decoder = self.decoder
        q, k, v = (
            self.split(project(rows), heads)
            for project, heads in (
                (decoder.project_q, decoder.heads),
                (decoder.project_k, decoder.kv_heads),
                (decoder.project_v, decoder.kv_heads),
            )
        )
        positions = np.arange(self.length, self.length + len(rows))
        q, k = self.rotary(q, positions), self.rotary(k, positions)
        self.keys = np.concatenate((self.keys, k), axis=1)
        self.values = np.concatenate((self.values, v), axis=1)
        groups = decoder.heads // decoder.kv_heads
        keys, values = (np.repeat(x, groups, axis=0) for x in (self.keys, self.values))
        scores = q @ keys.transpose(0, 2, 1) / np.sqrt(np.float32(decoder.head_dim))
        hidden = np.arange(self.length) > positions[:, None]
        scores = scores + np.where(hidden, np.finfo(np.float32).min, np.float32(0))
        scores -= scores.max(axis=-1, keepdims=True, initial=np.finfo(np.float32).min)
        weights = np.exp(scores)
        weights /= weights.sum(axis=-1, keepdims=True)
        attended = (
            (weights @ values)
            .transpose(1, 0, 2)
            .reshape(len(rows), decoder.heads * decoder.head_dim)
        )
        return decoder.project_out(attended)

    def split(self, rows, heads):
        return rows.reshape(len(rows), heads, self.decoder.head_dim).transpose(1, 0, 2)

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("length")
        self.keys, self.values = self.keys[:, :length], self.values[:, :length]


start = Session


def forward(decoder, x):
    return start(decoder).feed(x)


def decode_incremental(decoder, x):
    session = start(decoder)
    outputs = [session.feed(x[t : t + 1]) for t in range(len(x))]
    return np.concatenate([x[:0], *outputs])
