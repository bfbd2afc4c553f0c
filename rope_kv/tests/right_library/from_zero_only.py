"""A layer that is told no positions at all: row t is turned by t; one table for all, that ends."""

import functools

import numpy as np

capabilities = {
    "dtype": "float32",
    "layout": "half",
    "positions": "from zero",
    "max_position": 40,
    "rope_freqs": False,
    "decode_incremental": False,
}


@functools.lru_cache(maxsize=8)
def table(d, base):
    freqs = 1.0 / (base ** (np.arange(0.0, d, 2)[: d // 2] / d))
    angles = np.outer(np.arange(40.0), freqs)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


class RotaryPositionalEmbedding:
    def __init__(self, d, base):
        self.d, self.base = d, base

    def __call__(self, x):
        if len(x) > 40:
            raise ValueError("the sequence is longer than the table")
        cos, sin = (part[: len(x)] for part in table(self.d, self.base))
        left, right = x[:, : self.d // 2], x[:, self.d // 2 :]
        return np.concatenate([left * cos - right * sin, left * sin + right * cos], axis=1)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float32)
    if list(positions) != list(range(len(x))):
        raise NotImplementedError("positions are 0, 1, 2 and so on")
    return RotaryPositionalEmbedding(x.shape[1], base)(x)
