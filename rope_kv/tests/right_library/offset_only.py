"""A rotation that is told no positions, only where a run of them begins."""

import numpy as np

capabilities = {
    "dtype": "float32",
    "positions": "consecutive",
    "chunks": True,
    "length": True,
    "heads": True,
    "rotary_dim": True,
    "crop": True,
    "scaling": ["linear"],
}


def fast_rope(x, dims, *, base, scale, offset):
    freqs = np.exp(np.arange(0, dims, 2, dtype=np.float32) * np.float32(-np.log(base) / dims))
    places = np.arange(offset, offset + x.shape[-2], dtype=np.float32) * np.float32(scale)
    theta = places[:, None] * freqs
    cos, sin = np.cos(theta), np.sin(theta)
    x1, x2 = x[..., 0:dims:2], x[..., 1:dims:2]
    turned = np.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1)
    return np.concatenate([turned.reshape(*x.shape[:-1], dims), x[..., dims:]], axis=-1)


def scale_of(scaling):
    return 1 / scaling["factor"] if scaling else 1.0


def rope_freqs(d, base=10000, scaling=None):
    return scale_of(scaling) * base ** (-np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    x, positions = np.asarray(x, dtype=np.float32), np.asarray(positions)
    dims = x.shape[-1] if rotary_dim is None else rotary_dim
    if dims % 2 or dims > x.shape[-1]:
        raise ValueError("dims")
    first = int(positions[0]) if len(positions) else 0
    if first < 0 or not np.array_equal(positions, np.arange(first, first + len(x))):
        raise ValueError("positions must be a run, from 0 up")
    return fast_rope(x, dims, base=base, scale=scale_of(scaling), offset=first)


class KVCache:
    step = 8

    def __init__(self):
        self.keys = self.values = None
        self.offset = 0

    def update_and_fetch(self, keys, values):
        previous, self.offset = self.offset, self.offset + keys.shape[1]
        if self.keys is None or self.offset > self.keys.shape[1]:
            more = -(-keys.shape[1] // self.step) * self.step
            new = np.zeros((2, keys.shape[0], more, keys.shape[2]), np.float32)
            if self.keys is None:
                self.keys, self.values = new
            else:
                self.keys, self.values = (
                    np.concatenate([old[:, :previous], fresh], axis=1)
                    for old, fresh in zip((self.keys, self.values), new, strict=True)
                )
        self.keys[:, previous : self.offset] = keys
        self.values[:, previous : self.offset] = values
        return self.keys[:, : self.offset], self.values[:, : self.offset]


class Session:
    def __init__(self, decoder):
        self.decoder, self.cache = decoder, KVCache()

    @property
    def length(self):
        return self.cache.offset

    def feed(self, rows):
        decoder, d, offset = self.decoder, self.decoder.head_dim, self.cache.offset
        q = decoder.project_q(rows).reshape(len(rows), decoder.heads, d).swapaxes(0, 1)
        k = decoder.project_k(rows).reshape(len(rows), decoder.kv_heads, d).swapaxes(0, 1)
        v = decoder.project_v(rows).reshape(len(rows), decoder.kv_heads, d).swapaxes(0, 1)
        about = {"base": decoder.base, "scale": scale_of(decoder.scaling), "offset": offset}
        dims = decoder.rotary_dim or d
        q, k = (fast_rope(x, dims, **about) for x in (q, k))
        keys, values = self.cache.update_and_fetch(k, v)
        n, m = len(rows), keys.shape[1]
        mask = np.arange(offset, offset + n)[:, None] >= np.arange(m)
        q = q.reshape(decoder.kv_heads, decoder.heads // decoder.kv_heads, n, d)
        scores = (q * np.float32(d**-0.5)) @ keys[:, None].swapaxes(-1, -2)
        scores = np.where(mask, scores, np.float32(-np.inf))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-1e30))
        weights /= weights.sum(axis=-1, keepdims=True)
        attended = (weights @ values[:, None]).reshape(decoder.heads, n, d).swapaxes(0, 1)
        return decoder.project_out(attended.reshape(n, decoder.heads * d))

    def crop(self, length):
        if not 0 <= length <= self.cache.offset:
            raise ValueError("length")
        self.cache.offset = length


def start(decoder):
    return Session(decoder)
