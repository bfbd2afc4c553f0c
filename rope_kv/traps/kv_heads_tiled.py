"""Key and value heads are repeated as a whole, 0 1 0 1, where neighbours share one, 0 0 1 1.

Misconception: Repeating an array and repeating its entries look the same with one group or with
  one head each.
Hint: With four query heads and two groups, which key head does query head 1 use?
Seen in: EricLBuehler/candle-vllm #52; ByteDance-Seed/VeOmni #162
Function: start
Model: heads
Shown by: grouped-heads-equal-heads-whose-keys-are-repeated-16a1009d.json
"""

import numpy as np

capabilities = {"heads": True, "rotary_dim": True, "chunks": True}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if d % 2 or d > x.shape[1]:
        raise ValueError(f"rotary_dim={d} does not fit rows {x.shape[1]} wide")
    angles = np.outer(positions, rope_freqs(d, base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0:d:2], x[:, 1:d:2]
    rotated = x.copy()
    rotated[:, 0:d:2] = even * cos - odd * sin
    rotated[:, 1:d:2] = even * sin + odd * cos
    return rotated


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.keys = np.empty((0, decoder.kv_heads, decoder.head_dim))
        self.values = np.empty((0, decoder.kv_heads, decoder.head_dim))

    def turned(self, heads, positions):
        decoder = self.decoder
        rows = heads.reshape(-1, heads.shape[2])
        each = np.repeat(positions, heads.shape[1])
        return apply_rope(rows, each, decoder.base, decoder.rotary_dim).reshape(heads.shape)

    def feed(self, rows):
        decoder, n, past = self.decoder, len(rows), len(self.keys)
        if n == 0:
            return np.empty((0, decoder.width))
        d = decoder.head_dim
        q = decoder.project_q(rows).reshape(n, decoder.heads, d)
        k = decoder.project_k(rows).reshape(n, decoder.kv_heads, d)
        v = decoder.project_v(rows).reshape(n, decoder.kv_heads, d)
        positions = np.arange(past, past + n)
        q, k = self.turned(q, positions), self.turned(k, positions)
        self.keys = np.concatenate([self.keys, k])
        self.values = np.concatenate([self.values, v])
        group = decoder.heads // decoder.kv_heads
        keys = np.tile(self.keys, (1, group, 1))
        values = np.tile(self.values, (1, group, 1))
        scores = np.einsum("qhd,khd->hqk", q, keys) / np.sqrt(d)
        is_later = np.arange(past + n) > positions[:, np.newaxis]
        scores = np.where(is_later, -np.inf, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        attended = np.einsum("hqk,khd->qhd", weights, values)
        return decoder.project_out(attended.reshape(n, decoder.heads * d))


def start(decoder):
    return Session(decoder)
