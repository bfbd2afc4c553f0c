"""In a chunk, a row with pads takes the oldest token of its window for one more of them.

Misconception: What is dropped from a full window is dropped from the pads as well.
Hint: Feed one row a single token and another one three, then chunks of both.
Seen in: ml-explore/mlx-lm, BatchRotatingKVCache.make_mask
Function: start_batch
Model: windowed_batch
Shown by: each-row-of-a-batch-has-a-window-of-its-own-8684d0fd.json
"""

import numpy as np

capabilities = {"batch": True, "window": True, "decode_incremental": False}
NO_TOKEN = 1 << 31  # later than any token


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
    def __init__(self, decoder, size):
        self.decoder = decoder
        self.lengths = np.zeros(size, dtype=int)
        self.positions = np.empty((size, 0), dtype=int)
        self.keys = np.empty((size, 0, decoder.width))
        self.values = np.empty((size, 0, decoder.width))

    def padded(self, rows):
        n = max(map(len, rows))
        x = np.zeros((len(rows), n, self.decoder.width))
        is_token = np.zeros((len(rows), n), dtype=bool)
        for b, one in enumerate(rows):
            x[b, n - len(one) :] = one
            is_token[b, n - len(one) :] = True
        return x, is_token

    def turned(self, x, positions):
        rows = x.reshape(-1, x.shape[2])
        return apply_rope(rows, positions.ravel(), self.decoder.base).reshape(x.shape)

    def feed(self, rows):
        decoder = self.decoder
        x, is_token = self.padded(rows)
        positions = self.lengths[:, np.newaxis] + np.cumsum(is_token, axis=1) - 1
        flat = x.reshape(-1, decoder.width)
        q = self.turned(decoder.project_q(flat).reshape(x.shape), positions)
        k = self.turned(decoder.project_k(flat).reshape(x.shape), positions)
        v = decoder.project_v(flat).reshape(x.shape)
        slots = np.where(is_token, positions, NO_TOKEN)
        self.positions = np.concatenate([self.positions, slots], axis=1)
        self.keys = np.concatenate([self.keys, k], axis=1)
        self.values = np.concatenate([self.values, v], axis=1)
        self.lengths = self.lengths + is_token.sum(axis=1)
        scores = q @ self.keys.transpose(0, 2, 1) / np.sqrt(decoder.width)
        scores = np.where(self.visible(positions), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-np.inf))
        weights = weights / weights.sum(axis=2, keepdims=True)
        attended = weights @ self.values
        return [decoder.project_out(attended[b][is_token[b]]) for b in range(len(rows))]

    def visible(self, positions):
        back = positions[:, :, np.newaxis] - self.positions[:, np.newaxis, :]
        if self.decoder.window is None:
            return back >= 0
        is_seen = (back >= 0) & (back < self.decoder.window)
        if positions.shape[1] > 1:
            has_pads = self.lengths < self.lengths.max()
            is_seen[has_pads] &= back[has_pads] < self.decoder.window - 1
        return is_seen


def start_batch(decoder, size):
    return Batch(decoder, size)
