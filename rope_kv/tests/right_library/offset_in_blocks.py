"""Rotation from an offset, of rows in blocks of eight entries; a store of fixed size, no table."""

import numpy as np

capabilities = {
    "rope_freqs": False,
    "decode_incremental": False,
    "layout": "half",
    "positions": "consecutive",
    "max_position": 4096,
    "width_multiple": 8,
    "rotary_dim": True,
    "chunks": True,
    "capacity": True,
    "fill_unused": True,
    "length": True,
    "crop": True,
    "paths": ["at_once"],
}
BLOCK, END = 8, 4096


def rotate(x, offset, base, dims):
    if offset + len(x) > END:
        raise ValueError(f"positions are below {END}")
    step = np.exp(1j * base ** (-np.arange(0, dims, 2) / dims))
    turn = np.exp(1j * offset * base ** (-np.arange(0, dims, 2) / dims))
    out = x.copy()
    for row in out:
        z = (row[: dims // 2] + 1j * row[dims // 2 : dims]) * turn
        row[: dims // 2], row[dims // 2 : dims] = z.real, z.imag
        turn = turn * step
    return out


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x, dtype=np.float64)
    dims = x.shape[1] if rotary_dim is None else rotary_dim
    if x.shape[1] % BLOCK or dims % BLOCK or dims > x.shape[1]:
        raise ValueError(f"rows are of blocks of {BLOCK}")
    offset = int(positions[0]) if len(positions) else 0
    if offset < 0 or any(p != offset + t for t, p in enumerate(positions)):
        raise ValueError("positions follow one another, from 0 up")
    return rotate(x, offset, base, dims)


class Session:
    def __init__(self, decoder, capacity=None):
        self.decoder, self.capacity = decoder, capacity
        self.keys, self.values = np.zeros((2, capacity or BLOCK, decoder.width))
        self.length = 0

    def feed(self, rows):
        decoder, offset = self.decoder, self.length
        end = offset + len(rows)
        if end > len(self.keys):
            if self.capacity is not None:
                raise ValueError("there is no more room")
            more = np.zeros((-(-end // BLOCK) * BLOCK - len(self.keys), decoder.width))
            self.keys = np.concatenate([self.keys, more])
            self.values = np.concatenate([self.values, more])
        dims = decoder.rotary_dim or decoder.width
        q = rotate(decoder.project_q(rows), offset, decoder.base, dims)
        self.keys[offset:end] = rotate(decoder.project_k(rows), offset, decoder.base, dims)
        self.values[offset:end] = decoder.project_v(rows)
        self.length = end
        scores = q @ self.keys[:end].T / decoder.width**0.5
        scores += np.triu(np.full(scores.shape, -np.inf), offset + 1)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-1e300))
        return decoder.project_out(weights @ self.values[:end] / weights.sum(1, keepdims=True))

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("length")
        self.length = length

    def fill_unused(self, value):
        self.keys[self.length :] = value
        self.values[self.length :] = value


def start(decoder, capacity=None):
    return Session(decoder, capacity)


def at_once(decoder, x):
    return Session(decoder, capacity=max(1, len(x))).feed(x)
