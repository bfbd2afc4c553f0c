"""Everything is kept, and a mask says what each token sees: a window, sinks, nothing later."""

import numpy as np

capabilities = {
    "chunks": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "length": True,
    "heads": True,
    "window": True,
    "min_window": 2,
    "sinks": True,
    "capacity": True,
    "fill_unused": True,
    "rotary_dim": True,
    "scaling": ["linear", "ntk", "yarn"],
    "paths": ["at_once", "in_two_parts"],
}


def rope_freqs(d, base=10000, scaling=None):
    scaling = scaling or {}
    rule, factor = scaling.get("rule"), scaling.get("factor")
    theta = base ** -np.linspace(0, 1, d // 2, endpoint=False)
    if rule == "ntk":
        theta *= factor ** (-np.arange(0, d, 2) / (d - 2))
    elif rule == "linear":
        theta *= 1 / factor
    elif rule == "yarn":
        turns = np.array([scaling.get("beta_fast", 32), scaling.get("beta_slow", 1)])
        ends = np.log(scaling["original_max_position"] / (2 * np.pi * turns))
        ends = ends * d / (2 * np.log(base))
        low, high = max(np.floor(ends[0]), 0), min(np.ceil(ends[1]), d - 1)
        ramp = ((np.arange(d // 2) - low) / max(high - low, 0.001)).clip(0, 1)
        theta = theta * (1 - ramp) + theta / factor * ramp
    return theta


def magnitude(scaling):
    if not scaling or scaling["rule"] != "yarn":
        return 1
    return scaling.get("attention_factor", 1 + np.log(scaling["factor"]) / 10)


def apply_rope(x, positions, base=10000, *, rotary_dim=None, scaling=None):
    x = np.asarray(x) + 0.0
    d = rotary_dim or x.shape[1]
    if d % 2 or d > x.shape[1]:
        raise ValueError("an even part of each row is turned")
    angles = np.asarray(positions)[:, None] * rope_freqs(d, base, scaling)
    cos, sin = magnitude(scaling) * np.cos(angles), magnitude(scaling) * np.sin(angles)
    even, odd = x[:, 0:d:2].copy(), x[:, 1:d:2].copy()
    x[:, 0:d:2] = even * cos - odd * sin
    x[:, 1:d:2] = even * sin + odd * cos
    return x


class Store:
    def __init__(self, decoder, capacity=None):
        self.decoder, self.capacity = decoder, capacity
        room = 4 if capacity is None else capacity
        self.kv = np.zeros((2, decoder.kv_heads, room, decoder.head_dim))
        self.length = 0

    def feed(self, rows):
        decoder, first = self.decoder, self.length
        last = first + len(rows)
        if last > self.kv.shape[2]:
            if self.capacity is not None:
                raise OverflowError(f"{last} tokens do not fit into {self.capacity} slots")
            more = np.zeros((*self.kv.shape[:2], last, self.kv.shape[3]))
            self.kv = np.concatenate([self.kv, more], axis=2)
        places = np.arange(first, last)
        q = self.turned(decoder.project_q(rows), places)
        self.kv[0, :, first:last] = self.turned(decoder.project_k(rows), places)
        self.kv[1, :, first:last] = self.by_head(decoder.project_v(rows))
        self.length = last
        keys, values = self.kv[:, :, :last]
        t, u = places[:, None], np.arange(last)[None]
        mask = u <= t
        if decoder.window is not None:
            mask = mask & ((t - u < decoder.window) | (u < decoder.sinks))
        attended = np.empty_like(q)
        for h in range(decoder.heads):
            g = h * decoder.kv_heads // decoder.heads
            scores = (q[h] / decoder.head_dim**0.5) @ keys[g].T
            scores[~mask] = -1e300
            weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-1e300))
            attended[h] = weights @ values[g] / weights.sum(axis=1, keepdims=True)
        return decoder.project_out(
            attended.transpose(1, 0, 2).reshape(rows.shape[0], decoder.heads * decoder.head_dim)
        )

    def by_head(self, rows):
        d = self.decoder.head_dim
        return rows.reshape(len(rows), rows.shape[1] // d, d).transpose(1, 0, 2)

    def turned(self, rows, places):
        decoder, d = self.decoder, self.decoder.head_dim
        count = rows.shape[1] // d
        turned = apply_rope(
            rows.reshape(-1, d), places.repeat(count), decoder.base,
            rotary_dim=decoder.rotary_dim, scaling=decoder.scaling,
        )  # fmt: skip
        return self.by_head(turned.reshape(rows.shape))

    def crop(self, length):
        if length < 0 or length > self.length:
            raise ValueError(length)
        self.length = length

    def reset(self):
        self.crop(0)

    def fork(self):
        branch = Store(self.decoder, self.capacity)
        branch.kv, branch.length = self.kv.copy(), self.length
        return branch

    def fill_unused(self, value):
        self.kv[:, :, self.length :] = value


def start(decoder, capacity=None):
    return Store(decoder, capacity)


def at_once(decoder, x):
    return start(decoder).feed(x)


def in_two_parts(decoder, x):
    store, middle = start(decoder, capacity=len(x)), len(x) // 2
    return np.concatenate([store.feed(x[:middle]), store.feed(x[middle:])])
