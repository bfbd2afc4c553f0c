"""Float32 rows, angles in float64, cos and sin rounded once; a window in a store of fixed size."""

import numpy as np

capabilities = {
    "dtype": "float32",
    "chunks": True,
    "heads": True,
    "window": True,
    "sinks": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "length": True,
    "capacity": True,
    "fill_unused": True,
    "rotary_dim": True,
    "scaling": ["linear", "dynamic", "llama3", "longrope"],
}


def rope_freqs(d, base=10000, scaling=None):
    rule = scaling["rule"] if scaling else None
    if rule == "dynamic":
        beyond = scaling["length"] / scaling["original_max_position"]
        if beyond > 1:
            base = base * (scaling["factor"] * beyond - scaling["factor"] + 1) ** (d / (d - 2))
    theta = base ** (-np.arange(0, d, 2) / d)
    if rule == "linear":
        theta = theta / scaling["factor"]
    elif rule == "longrope":
        short = scaling["length"] <= scaling["original_max_position"]
        theta = theta / scaling["short_factor" if short else "long_factor"]
    elif rule == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        turns = scaling["original_max_position"] / (2 * np.pi / theta)
        smooth = np.clip((turns - low) / (high - low), 0, 1)
        theta = (1 - smooth) * theta / scaling["factor"] + smooth * theta
    return theta


def magnitude(scaling):
    if not scaling or scaling["rule"] != "longrope" or scaling["factor"] <= 1:
        return scaling.get("attention_factor", 1.0) if scaling else 1.0
    usual = np.sqrt(1 + np.log(scaling["factor"]) / np.log(scaling["original_max_position"]))
    return scaling.get("attention_factor", usual)


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    out = np.array(x, dtype=np.float32)
    d = out.shape[1] if rotary_dim is None else rotary_dim
    if d % 2 or d > out.shape[1]:
        raise ValueError("rotary_dim")
    angles = np.multiply.outer(np.asarray(positions, dtype=float), rope_freqs(d, base, scaling))
    cos = (magnitude(scaling) * np.cos(angles)).astype(np.float32)
    sin = (magnitude(scaling) * np.sin(angles)).astype(np.float32)
    even, odd = out[:, 0:d:2].copy(), out[:, 1:d:2].copy()
    out[:, 0:d:2] = even * cos - odd * sin
    out[:, 1:d:2] = even * sin + odd * cos
    return out


class Session:
    """Keys are kept as they are projected: some frequencies go by the length."""

    def __init__(self, decoder, capacity=None):
        self.decoder, self.capacity = decoder, capacity
        width = decoder.kv_heads * decoder.head_dim
        room = 16 if capacity is None else capacity
        self.keys, self.values = (np.empty((room, width), np.float32) for _ in "kv")
        self.length = 0

    def feed(self, rows):
        decoder = self.decoder
        need = self.length + len(rows)
        if need > len(self.keys):
            if self.capacity is not None:
                raise ValueError(f"room for {self.capacity}, not for {need}")
            self.keys = np.resize(self.keys, (2 * need, self.keys.shape[1]))
            self.values = np.resize(self.values, (2 * need, self.values.shape[1]))
        self.keys[self.length : need] = decoder.project_k(rows)
        self.values[self.length : need] = decoder.project_v(rows)
        queries = decoder.project_q(rows)
        attended = np.empty_like(queries)
        for n, query in enumerate(queries):
            self.length += 1
            attended[n] = self.attended(query)
        return decoder.project_out(attended)

    def attended(self, query):
        decoder, d, now = self.decoder, self.decoder.head_dim, self.length - 1
        first = 0 if decoder.window is None else max(0, now + 1 - decoder.window)
        seen = [*range(min(decoder.sinks, first)), *range(first, now + 1)]
        q = self.turned(query[None], [now]).reshape(decoder.kv_heads, -1, d)
        k = self.turned(self.keys[seen], seen).reshape(len(seen), -1, d)
        v = self.values[seen].reshape(len(seen), -1, d)
        scores = np.einsum("grd,mgd->grm", q, k) * np.float32(d**-0.5)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mean = np.einsum("grm,mgd->grd", weights, v) / weights.sum(axis=-1, keepdims=True)
        return mean.ravel()

    def turned(self, rows, places):
        decoder, d = self.decoder, self.decoder.head_dim
        scaling = {**decoder.scaling, "length": self.length} if decoder.scaling else None
        heads, each = rows.reshape(-1, d), rows.shape[1] // d
        return apply_rope(
            heads, np.repeat(places, each), decoder.base, decoder.rotary_dim, scaling
        )

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("length")
        self.length = length

    def reset(self):
        self.length = 0

    def fork(self):
        branch = Session(self.decoder, self.capacity)
        branch.keys, branch.values = self.keys.copy(), self.values.copy()
        branch.length = self.length
        return branch

    def fill_unused(self, value):
        self.keys[self.length :] = self.values[self.length :] = value


def start(decoder, capacity=None):
    return Session(decoder, capacity)
