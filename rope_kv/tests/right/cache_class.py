"""Style: object oriented; a rotary embedding object and a KV cache object, made anew per call."""

from dataclasses import dataclass, field

import numpy as np


class RotaryEmbedding:
    def __init__(self, dim, base=10000):
        self.dim = dim
        self.base = float(base)

    @property
    def inv_freq(self):
        return 1.0 / (self.base ** (np.arange(0, self.dim, 2, dtype=np.float64) / self.dim))

    def __call__(self, x, positions):
        angles = np.asarray(positions, dtype=np.float64)[:, None] * self.inv_freq
        cos, sin = np.cos(angles), np.sin(angles)
        x1, x2 = x[..., ::2], x[..., 1::2]
        return np.stack([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1).reshape(x.shape)


@dataclass
class KVCache:
    rope: RotaryEmbedding
    keys: list = field(default_factory=list)
    values: list = field(default_factory=list)

    def __len__(self):
        return len(self.keys)

    def update(self, k, v):
        self.keys.append(self.rope(k, [len(self)]))
        self.values.append(np.array(v, dtype=np.float64))

    def attend(self, q):
        """Attention of the newest token, whose query is q, over everything cached."""
        q = self.rope(q, [len(self) - 1])
        scores = q @ np.concatenate(self.keys).T / np.sqrt(self.rope.dim)
        scores -= scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores)
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights @ np.concatenate(self.values)


def rope_freqs(d, base=10000):
    return RotaryEmbedding(d, base).inv_freq


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    return RotaryEmbedding(x.shape[1], base)(x, positions)


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded, dtype=np.float64)
    cache = KVCache(RotaryEmbedding(x_embedded.shape[1], decoder.base))
    out = np.zeros(x_embedded.shape)
    for t, row in enumerate(x_embedded):
        row = row[None, :]
        cache.update(decoder.project_k(row), decoder.project_v(row))
        out[t] = decoder.project_out(cache.attend(decoder.project_q(row)))[0]
    return out
