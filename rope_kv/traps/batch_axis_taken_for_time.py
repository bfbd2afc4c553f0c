"""Queries come back with rows and time exchanged: a row gets queries of another.

Misconception: A reshape to the wanted shape always succeeds, and for one token it is right.
Hint: Feed two tokens to each of two rows and print whose queries are whose.
Seen in: learners
Function: start_batch
Model: batch
Shown by: each-row-of-a-batch-is-that-sequence-alone-154af38d.json
"""

import numpy as np

capabilities = {"padding": True, "reorder": True, "select": True, "decode_incremental": False}
NO_TOKEN = 10**9  # The position of a pad: later than any token, so no token sees it.


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated


class Batch:
    def __init__(self, decoder, size, side, extra, fill):
        self.decoder, self.side, self.extra, self.fill = decoder, side, extra, fill
        self.lengths = np.zeros(size, dtype=int)
        self.positions = np.empty((size, 0), dtype=int)
        self.keys = np.empty((size, 0, decoder.width))
        self.values = np.empty((size, 0, decoder.width))

    def padded(self, rows):
        n = max(map(len, rows)) + self.extra
        x = np.full((len(rows), n, self.decoder.width), self.fill)
        is_token = np.zeros((len(rows), n), dtype=bool)
        for b, one in enumerate(rows):
            first = n - len(one) if self.side == "left" else 0
            x[b, first : first + len(one)] = one
            is_token[b, first : first + len(one)] = True
        return x, is_token

    def turned(self, x, positions):
        rows = x.reshape(-1, x.shape[2])
        return apply_rope(rows, positions.ravel(), self.decoder.base).reshape(x.shape)

    def feed(self, rows):
        decoder = self.decoder
        x, is_token = self.padded(rows)
        positions = self.lengths[:, np.newaxis] + np.cumsum(is_token, axis=1) - 1
        flat = x.reshape(-1, decoder.width)
        q = decoder.project_q(flat).reshape(x.shape[1], x.shape[0], -1).transpose(1, 0, 2)
        q = self.turned(q, positions)
        k = self.turned(decoder.project_k(flat).reshape(x.shape), positions)
        v = decoder.project_v(flat).reshape(x.shape)
        v[~is_token] = 0  # A weight of 0 does not help against a pad that is not a number.
        slots = np.where(is_token, positions, NO_TOKEN)
        self.positions = np.concatenate([self.positions, slots], axis=1)
        self.keys = np.concatenate([self.keys, k], axis=1)
        self.values = np.concatenate([self.values, v], axis=1)
        self.lengths = self.lengths + is_token.sum(axis=1)
        scores = q @ self.keys.transpose(0, 2, 1) / np.sqrt(decoder.width)
        is_seen = self.positions[:, np.newaxis, :] <= positions[:, :, np.newaxis]
        scores = np.where(is_seen, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-np.inf))
        weights = weights / weights.sum(axis=2, keepdims=True)
        attended = weights @ self.values
        return [decoder.project_out(attended[b][is_token[b]]) for b in range(len(rows))]

    def take(self, indices):
        self.lengths = self.lengths[indices]
        self.positions = self.positions[indices]
        self.keys = self.keys[indices]
        self.values = self.values[indices]

    def reorder(self, indices):
        self.take(indices)

    def select(self, indices):
        self.take(indices)


def start_batch(decoder, size, side="left", extra=0, fill=0.0):
    return Batch(decoder, size, side, extra, fill)
