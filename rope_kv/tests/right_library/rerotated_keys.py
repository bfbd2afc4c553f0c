"""Keys are kept turned, and turned again whenever the frequencies change with the length."""

import numpy as np

capabilities = {
    "scaling": ["dynamic", "longrope", "linear"],
    "chunks": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "heads": True,
    "length": True,
    "layout": "half",
}


def rope_freqs(d, base=10000, scaling=None):
    rule = scaling["rule"] if scaling else None
    if rule == "dynamic" and scaling["length"] > scaling["original_max_position"]:
        factor, seq_len = scaling["factor"], scaling["length"]
        growth = (factor * seq_len / scaling["original_max_position"]) - (factor - 1)
        base = base * growth ** (d / (d - 2))
    inv_freq = 1.0 / (base ** (np.arange(0, d, 2) / d))
    if rule == "linear":
        inv_freq /= scaling["factor"]
    if rule == "longrope":
        is_long = scaling["length"] > scaling["original_max_position"]
        factors = scaling["long_factor"] if is_long else scaling["short_factor"]
        inv_freq = 1.0 / (np.array(factors) * base ** (np.arange(0, d, 2) / d))
    return inv_freq


def magnitude(scaling):
    if scaling is None or scaling["rule"] != "longrope":
        return 1.0
    if "attention_factor" in scaling:
        return scaling["attention_factor"]
    if scaling["factor"] <= 1.0:
        return 1.0
    return np.sqrt(1 + np.log(scaling["factor"]) / np.log(scaling["original_max_position"]))


def turned(x, angles):
    half = x.shape[-1] // 2
    cos, sin = np.cos(angles), np.sin(angles)
    x1, x2 = x[..., :half], x[..., half:]
    return np.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1)


def apply_rope(x, positions, base=10000, scaling=None):
    x = np.asarray(x, dtype=np.float64)
    angles = np.asarray(positions)[:, None] * rope_freqs(x.shape[1], base, scaling)
    return magnitude(scaling) * turned(x, angles)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        shape = (self.decoder.kv_heads, 0, self.decoder.head_dim)
        self.keys, self.values = np.empty(shape), np.empty(shape)
        self.freqs = None

    @property
    def length(self):
        return self.keys.shape[1]

    def feed(self, rows):
        decoder, d = self.decoder, self.decoder.head_dim
        q, k, v = (
            project(rows).reshape(len(rows), heads, d)
            for project, heads in (
                (decoder.project_q, decoder.heads),
                (decoder.project_k, decoder.kv_heads),
                (decoder.project_v, decoder.kv_heads),
            )
        )
        attended = [self.step(q[t], k[t], v[t]) for t in range(len(rows))]
        return decoder.project_out(np.array(attended).reshape(len(rows), decoder.heads * d))

    def step(self, q, k, v):
        decoder, place = self.decoder, self.length
        scaling = {**decoder.scaling, "length": place + 1} if decoder.scaling else None
        freqs = rope_freqs(decoder.head_dim, decoder.base, scaling)
        if self.freqs is not None and not np.array_equal(freqs, self.freqs):
            self.keys = turned(self.keys, np.arange(place)[:, None] * (freqs - self.freqs))
        self.freqs = freqs
        q, k = turned(q, place * freqs), turned(k, place * freqs)
        self.keys = np.concatenate([self.keys, k[:, None]], axis=1)
        self.values = np.concatenate([self.values, v[:, None]], axis=1)
        groups = decoder.heads // decoder.kv_heads
        q = q.reshape(decoder.kv_heads, groups, -1) * magnitude(decoder.scaling) ** 2
        scores = q @ self.keys.swapaxes(1, 2) / np.sqrt(decoder.head_dim)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return (weights / weights.sum(-1, keepdims=True) @ self.values).ravel()

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("length")
        self.keys, self.values = self.keys[:, :length], self.values[:, :length]

    def fork(self):
        branch = Session(self.decoder)
        branch.keys, branch.values, branch.freqs = self.keys, self.values, self.freqs
        return branch


start = Session
