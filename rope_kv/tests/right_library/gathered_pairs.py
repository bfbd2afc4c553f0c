"""Float32 pairs, gathered by index into halves as they are turned; a table that grows."""

import numpy as np

capabilities = {
    "dtype": "float32",
    "layout": "interleaved to half",
    "positions": "not negative",
    "chunks": True,
    "heads": True,
    "window": True,
    "sinks": True,
    "reset": True,
    "fork": True,
    "crop": True,
    "scaling": ["yarn", "ntk", "llama3"],
    "convert_layout": True,
    "batch": True,
    "reorder": True,
}
_tables = {}


def rope_freqs(d, base=10000, scaling=None):
    i = np.arange(d // 2, dtype=np.float32)
    theta = np.exp2(i * np.float32(-2 / d * np.log2(base)))
    rule = scaling["rule"] if scaling else None
    if rule == "ntk":
        theta = theta * np.float32(scaling["factor"]) ** (-2 * i / np.float32(d - 2))
    if rule == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        turns = theta * np.float32(scaling["original_max_position"] / (2 * np.pi))
        share = np.clip((turns - np.float32(low)) / np.float32(high - low), 0, 1)
        theta = theta * (share + (1 - share) / np.float32(scaling["factor"]))
    if rule == "yarn":
        old = scaling["original_max_position"]
        slow, fast = scaling.get("beta_slow", 1), scaling.get("beta_fast", 32)
        first = d * np.log(old / (2 * np.pi * fast)) / 2 / np.log(base)
        last = d * np.log(old / (2 * np.pi * slow)) / 2 / np.log(base)
        first, last = max(np.floor(first), 0.0), min(np.ceil(last), d - 1.0)
        ramp = np.clip((i - np.float32(first)) / np.float32(max(last - first, 0.001)), 0, 1)
        theta = theta - theta * ramp * np.float32(1 - 1 / scaling["factor"])
    return theta.astype(np.float32)


def magnitude(scaling):
    if not scaling or scaling["rule"] != "yarn":
        return np.float32(1)
    return np.float32(scaling.get("attention_factor", 1 + np.log(scaling["factor"]) / 10))


def table(end, d, base, scaling):
    key = d, base, repr(scaling)
    if key not in _tables or len(_tables[key][0]) < end:
        angles = np.outer(np.arange(2 * end, dtype=np.float32), rope_freqs(d, base, scaling))
        _tables[key] = tuple(magnitude(scaling) * f(angles) for f in (np.cos, np.sin))
    return _tables[key]


def turned(x, positions, base, scaling):
    positions, d = np.asarray(positions, dtype=np.int64), x.shape[-1]
    if positions.size and positions.min() < 0:
        raise IndexError("positions are counted from 0")
    cos, sin = (part[positions] for part in table(positions.max(initial=0) + 1, d, base, scaling))
    a, b = x[..., 0::2], x[..., 1::2]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def apply_rope(x, positions, base=10000, scaling=None):
    return turned(np.asarray(x, dtype=np.float32), positions, base, scaling)


def convert_layout(x, source, target):
    d = x.shape[1]
    order = {"half": np.arange(d), "interleaved": np.argsort(np.arange(d) % 2, kind="stable")}
    out = np.empty_like(x)
    out[:, order[target]] = x[:, order[source]]
    return out


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        self.seen = 0
        self.store = {}

    def feed(self, rows):
        decoder, d, first = self.decoder, self.decoder.head_dim, self.seen
        q, k, v = (
            project(rows).reshape(len(rows), heads, d)
            for project, heads in (
                (decoder.project_q, decoder.heads),
                (decoder.project_k, decoder.kv_heads),
                (decoder.project_v, decoder.kv_heads),
            )
        )
        attended = np.zeros((len(rows), decoder.heads * d), np.float32)
        for n in range(len(rows)):
            place = first + n
            self.store[place] = self.turn(k[n], place), v[n].copy()
            self.drop(place)
            keys, values = (np.stack(part) for part in zip(*self.store.values(), strict=True))
            query = self.turn(q[n], place).reshape(decoder.kv_heads, -1, d)
            scores = np.einsum("grd,mgd->mgr", query, keys) / np.sqrt(np.float32(d))
            weights = np.exp(scores - scores.max(axis=0))
            weights /= weights.sum(axis=0)
            attended[n] = np.einsum("mgr,mgd->grd", weights, values).ravel()
            self.seen += 1
        return decoder.project_out(attended)

    def turn(self, heads, place):
        decoder = self.decoder
        return turned(heads, [place] * len(heads), decoder.base, decoder.scaling)

    def drop(self, place):
        window, sinks = self.decoder.window, self.decoder.sinks
        if window is not None and place - window >= sinks:
            self.store.pop(place - window, None)

    def crop(self, length):
        if not 0 <= length <= self.seen:
            raise ValueError(f"no {length} tokens")
        window = self.decoder.window or self.seen
        needed = range(max(0, length + 1 - window), length)
        if any(place not in self.store for place in needed):
            raise ValueError("dropped")
        self.store = {place: kv for place, kv in self.store.items() if place < length}
        self.seen = length

    def fork(self):
        branch = Session(self.decoder)
        branch.store, branch.seen = self.store.copy(), self.seen
        return branch


start = Session


class Batch:
    def __init__(self, decoder, size):
        self.rows = tuple(Session(decoder) for _ in range(size))

    def feed(self, rows):
        if len(rows) != len(self.rows):
            raise ValueError("a feed is of all rows")
        return tuple(session.feed(x) for session, x in zip(self.rows, rows, strict=True))

    def reorder(self, indices):
        if len(indices) != len(self.rows):
            raise ValueError("an order is of all rows")
        self.rows = tuple(self.rows[index].fork() for index in indices)


start_batch = Batch
