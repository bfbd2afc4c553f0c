"""Float16 rows: angles in float32, cos and sin cast to float16, products in float16."""

import numpy as np

capabilities = {
    "dtype": "float16",
    "layout": "half",
    "chunks": True,
    "heads": True,
    "crop": True,
    "reset": True,
    "length": True,
    "window": True,
    "rotary_dim": True,
}


def rope_freqs(d, base=10000):
    return 1.0 / (np.float32(base) ** (np.arange(0, d, 2).astype(np.float32) / np.float32(d)))


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return np.concatenate((-x2, x1), axis=-1)


def rotary_emb(position_ids, d, base, dtype):
    freqs = np.asarray(position_ids, dtype=np.float32)[:, None] * rope_freqs(d, base)[None]
    emb = np.concatenate((freqs, freqs), axis=-1)
    return np.cos(emb).astype(dtype), np.sin(emb).astype(dtype)


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x, dtype=np.float16)
    d = rotary_dim or x.shape[-1]
    if d % 2 or d > x.shape[-1]:
        raise ValueError("rotary_dim")
    cos, sin = rotary_emb(positions, d, base, x.dtype)
    x_rot, x_pass = x[..., :d], x[..., d:]
    return np.concatenate(((x_rot * cos) + (rotate_half(x_rot) * sin), x_pass), axis=-1)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        shape = (self.decoder.kv_heads, 0, self.decoder.head_dim)
        self.keys, self.values = np.empty(shape, np.float16), np.empty(shape, np.float16)

    def length(self):
        return self.keys.shape[1]

    def feed(self, rows):
        decoder, d, past = self.decoder, self.decoder.head_dim, self.keys.shape[1]
        q = decoder.project_q(rows).reshape(len(rows), decoder.heads, d).swapaxes(0, 1)
        k = decoder.project_k(rows).reshape(len(rows), decoder.kv_heads, d).swapaxes(0, 1)
        v = decoder.project_v(rows).reshape(len(rows), decoder.kv_heads, d).swapaxes(0, 1)
        places = np.arange(past, past + len(rows))
        q, k = (
            np.stack([apply_rope(h, places, decoder.base, decoder.rotary_dim) for h in heads])
            for heads in (q, k)
        )
        self.keys = np.concatenate([self.keys, k], axis=1)
        self.values = np.concatenate([self.values, v], axis=1)
        groups = decoder.heads // decoder.kv_heads
        keys, values = self.keys.repeat(groups, 0), self.values.repeat(groups, 0)
        weights = np.matmul(q, keys.swapaxes(1, 2)) * np.float16(d**-0.5)
        back = places[:, None] - np.arange(keys.shape[1])
        hidden = (back < 0) | (back >= (decoder.window or np.inf))
        weights = weights + np.where(hidden, np.finfo(np.float16).min, 0).astype(np.float16)
        weights = weights.astype(np.float32)
        weights = np.exp(weights - weights.max(-1, keepdims=True, initial=-1e9))
        weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float16)
        attended = np.matmul(weights, values).swapaxes(0, 1)
        return decoder.project_out(attended.reshape(len(rows), decoder.heads * d))

    def crop(self, length):
        if not 0 <= length <= self.keys.shape[1]:
            raise ValueError("length")
        self.keys, self.values = self.keys[:, :length], self.values[:, :length]


start = Session
