"""Keys are kept as projected and turned when they are read, by the frequencies of the day."""

import numpy as np

capabilities = {
    "rotary_dim": True,
    "scaling": ["linear", "ntk", "dynamic", "yarn", "llama3", "longrope"],
    "chunks": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "length": True,
    "heads": True,
    "window": True,
    "sinks": True,
}


def rope_freqs(d, base=10000, scaling=None):
    scaling = scaling or {"rule": None}
    exponents = np.arange(0, d, 2) / d
    rule, factor = scaling["rule"], scaling.get("factor")
    if rule in ("ntk", "dynamic"):
        if rule == "dynamic":
            length = max(scaling["length"], scaling["original_max_position"])
            factor = factor * length / scaling["original_max_position"] - (factor - 1)
        base = base * factor ** (d / (d - 2))
    inverse = 1.0 / (base**exponents)
    if rule == "linear":
        return inverse / factor
    if rule == "longrope":
        beyond = scaling["length"] > scaling["original_max_position"]
        return inverse / np.array(scaling["long_factor" if beyond else "short_factor"])
    if rule == "llama3":
        return llama3(inverse, scaling)
    if rule == "yarn":
        return yarn(inverse, d, base, scaling)
    return inverse


def llama3(inverse, scaling):
    factor, trained = scaling["factor"], scaling["original_max_position"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    wavelength = 2 * np.pi / inverse
    divided = np.where(wavelength > trained / low, inverse / factor, inverse)
    smooth = (trained / wavelength - low) / (high - low)
    between = (1 - smooth) * inverse / factor + smooth * inverse
    is_between = ~(wavelength < trained / high) & ~(wavelength > trained / low)
    return np.where(is_between, between, divided)


def yarn(inverse, d, base, scaling):
    def pair_of(turns):
        return (
            d * np.log(scaling["original_max_position"] / (turns * 2 * np.pi)) / (2 * np.log(base))
        )

    low = max(np.floor(pair_of(scaling.get("beta_fast", 32))), 0)
    high = min(np.ceil(pair_of(scaling.get("beta_slow", 1))), d - 1)
    high += 0.001 * (low == high)
    kept = 1 - np.clip((np.arange(d // 2) - low) / (high - low), 0, 1)
    return inverse / scaling["factor"] * (1 - kept) + inverse * kept


def stretch(scaling):
    if not scaling or scaling["rule"] not in ("yarn", "longrope"):
        return 1.0
    if "attention_factor" in scaling:
        return scaling["attention_factor"]
    if scaling["rule"] == "yarn":
        return 0.1 * np.log(scaling["factor"]) + 1.0
    if scaling["factor"] <= 1:
        return 1.0
    return np.sqrt(1 + np.log(scaling["factor"]) / np.log(scaling["original_max_position"]))


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[-1] if rotary_dim is None else rotary_dim
    if d % 2 or not 0 < d <= x.shape[-1]:
        raise ValueError(f"{d} of {x.shape[-1]} entries cannot be turned")
    part, rest = x[..., :d], x[..., d:]
    angles = np.asarray(positions)[:, None] * rope_freqs(d, base, scaling)
    cos, sin = np.cos(angles) * stretch(scaling), np.sin(angles) * stretch(scaling)
    pairs = part.reshape(len(x), d // 2, 2)
    turned = np.stack(
        [pairs[..., 0] * cos - pairs[..., 1] * sin, pairs[..., 1] * cos + pairs[..., 0] * sin], -1
    )
    return np.concatenate([turned.reshape(part.shape), rest], axis=-1)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.keys, self.values = [], []

    @property
    def length(self):
        return len(self.keys)

    def feed(self, rows):
        decoder = self.decoder
        queries = decoder.project_q(rows)
        keys, values = decoder.project_k(rows), decoder.project_v(rows)
        attended = np.empty_like(queries)
        for n, query in enumerate(queries):
            self.keys.append(keys[n].copy())
            self.values.append(values[n].copy())
            attended[n] = self.attend(query)
        return decoder.project_out(attended)

    def attend(self, query):
        decoder, now = self.decoder, len(self.keys) - 1
        seen = [
            u
            for u in range(now + 1)
            if not decoder.window or u > now - decoder.window or u < decoder.sinks
        ]
        d, groups = decoder.head_dim, decoder.heads // decoder.kv_heads
        keys = np.stack([self.keys[u] for u in seen])
        values = np.stack([self.values[u] for u in seen])
        parts = []
        for h in range(decoder.heads):
            own, shared = slice(h * d, h * d + d), slice(h // groups * d, h // groups * d + d)
            q = self.turned(query[None, own], [now])[0]
            scores = self.turned(keys[:, shared], seen) @ q / np.sqrt(d)
            weights = np.exp(scores - np.logaddexp.reduce(scores))
            parts.append(weights @ values[:, shared])
        return np.concatenate(parts)

    def turned(self, rows, places):
        decoder, scaling = self.decoder, self.decoder.scaling
        if scaling:
            scaling = {**scaling, "length": len(self.keys)}
        return apply_rope(rows, places, decoder.base, decoder.rotary_dim, scaling)

    def crop(self, length):
        if not 0 <= length <= len(self.keys):
            raise ValueError("no such length")
        del self.keys[length:], self.values[length:]

    def reset(self):
        self.__init__(self.decoder)

    def fork(self):
        branch = Session(self.decoder)
        branch.keys, branch.values = self.keys[:], self.values[:]
        return branch


start = Session
