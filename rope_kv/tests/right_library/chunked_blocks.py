"""Attention of a chunk by blocks of queries and of keys, each block merged by its log-sum-exp."""

import math

import numpy as np

capabilities = {
    "chunks": True,
    "reset": True,
    "length": True,
    "heads": True,
    "rotary_dim": True,
    "scaling": ["yarn", "llama3", "ntk"],
    "paths": ["forward", "forward_padded"],
}
ROWS, COLUMNS = 4, 8


def find_correction_dim(num_rotations, dim, base, max_position_embeddings):
    turns = max_position_embeddings / (num_rotations * 2 * math.pi)
    return (dim * math.log(turns)) / (2 * math.log(base))


def rope_freqs(d, base=10000, scaling=None):
    pos_freqs = base ** (np.arange(0, d, 2) / d)
    if not scaling:
        return 1 / pos_freqs
    factor = scaling["factor"]
    if scaling["rule"] == "ntk":
        return 1 / (base * factor ** (d / (d - 2))) ** (np.arange(0, d, 2) / d)
    if scaling["rule"] == "llama3":
        theta, span = 1 / pos_freqs, scaling["high_freq_factor"] - scaling["low_freq_factor"]
        turns = scaling["original_max_position"] * theta / (2 * np.pi)
        kept = np.clip((turns - scaling["low_freq_factor"]) / span, 0, 1)
        return theta / factor * (1 - kept) + theta * kept
    old = scaling["original_max_position"]
    low, high = (
        find_correction_dim(turns, d, base, old)
        for turns in (scaling.get("beta_fast", 32), scaling.get("beta_slow", 1))
    )
    low, high = max(math.floor(low), 0), min(math.ceil(high), d - 1)
    if low == high:
        high += 0.001
    ramp = np.clip((np.arange(d // 2) - low) / (high - low), 0, 1)
    inv_freq_mask = 1 - ramp
    return 1 / (factor * pos_freqs) * (1 - inv_freq_mask) + 1 / pos_freqs * inv_freq_mask


def get_mscale(scaling):
    if not scaling or scaling["rule"] != "yarn":
        return 1.0
    if "attention_factor" in scaling:
        return scaling["attention_factor"]
    return 1.0 if scaling["factor"] <= 1 else 0.1 * math.log(scaling["factor"]) + 1.0


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if d % 2 == 1 or d > x.shape[1]:
        raise ValueError(f"rotary_dim is {d}")
    angles = np.einsum("t,i->ti", np.asarray(positions, dtype=float), rope_freqs(d, base, scaling))
    z = (x[:, :d:2] + 1j * x[:, 1:d:2]) * np.exp(1j * angles) * get_mscale(scaling)
    turned = np.stack([z.real, z.imag], axis=2).reshape(len(x), d)
    return np.concatenate([turned, x[:, d:]], axis=1)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        width = self.decoder.kv_heads * self.decoder.head_dim
        self.keys, self.values = np.empty((0, width)), np.empty((0, width))

    @property
    def length(self):
        return len(self.keys)

    def feed(self, rows):
        decoder, first = self.decoder, self.length
        places = np.arange(first, first + len(rows))
        q = self.turned(decoder.project_q(rows), places)
        k = self.turned(decoder.project_k(rows), places)
        self.keys = np.vstack([self.keys, k])
        self.values = np.vstack([self.values, decoder.project_v(rows)])
        blocks = [
            self.block(q[start : start + ROWS], places[start : start + ROWS])
            for start in range(0, len(rows), ROWS)
        ]
        return decoder.project_out(np.vstack([np.empty((0, q.shape[1])), *blocks]))

    def block(self, q, places):
        d, groups = self.decoder.head_dim, self.decoder.kv_heads
        q = q.reshape(len(q), groups, -1, d).transpose(1, 2, 0, 3)
        shape = q.shape[:-1]
        log_sum, mean = np.full(shape, -np.inf), np.zeros(q.shape)
        for start in range(0, places[-1] + 1, COLUMNS):
            k, v = (
                part[start : start + COLUMNS].reshape(-1, groups, d).transpose(1, 0, 2)[:, None]
                for part in (self.keys, self.values)
            )
            columns = np.arange(start, start + k.shape[2])
            hidden = columns > places[:, None]
            scores = np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) / math.sqrt(d))
            most = scores.max(axis=-1)
            shift = np.where(np.isfinite(most), most, 0.0)
            weights = np.exp(scores - shift[..., None])
            total = weights.sum(axis=-1)
            here = np.where(total > 0, np.log(np.where(total > 0, total, 1)) + shift, -np.inf)
            both = np.logaddexp(log_sum, here)
            of_block = weights @ v / np.where(total > 0, total, 1)[..., None]
            old, new = np.exp(log_sum - both)[..., None], np.exp(here - both)[..., None]
            mean, log_sum = mean * old + of_block * new, both
        return mean.transpose(2, 0, 1, 3).reshape(len(places), -1)

    def turned(self, rows, places):
        decoder, d = self.decoder, self.decoder.head_dim
        heads = rows.reshape(-1, d)
        turned = apply_rope(
            heads, places.repeat(rows.shape[1] // d), decoder.base,
            decoder.rotary_dim, decoder.scaling,
        )  # fmt: skip
        return turned.reshape(rows.shape)


start = Session


def forward(decoder, x):
    return Session(decoder).feed(x)


def forward_padded(decoder, x):
    padded = np.vstack([x, np.zeros((-len(x) % ROWS, x.shape[1]))])
    return Session(decoder).feed(padded)[: len(x)]
