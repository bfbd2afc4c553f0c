"""A rule that goes by the length is given the length of the chunk, not of the sequence.

Misconception: In a prefill the chunk is the sequence.
Hint: Feed three tokens at once, and then one by one.
Seen in: constructed
Function: start
Model: scaling
Shown by: scaled-chunks-give-what-the-whole-gives-d258d186.json
"""

import numpy as np

capabilities = {
    "scaling": ["linear", "ntk", "dynamic", "yarn", "llama3", "longrope"],
    "rotary_dim": True,
    "chunks": True,
    "capacity": True,
}


def rope_freqs(d, base=10000, scaling=None):
    freqs = 1.0 / base ** (np.arange(0, d, 2) / d)
    if scaling is None:
        return freqs
    rule, factor = scaling["rule"], scaling["factor"]
    if rule == "linear":
        return freqs / factor
    if rule == "ntk":
        return rope_freqs(d, base * factor ** (d / (d - 2)))
    trained = scaling["original_max_position"]
    if rule == "dynamic":
        growth = factor * scaling["length"] / trained - (factor - 1)
        return rope_freqs(d, base * max(1, growth) ** (d / (d - 2)))
    if rule == "longrope":
        is_long = scaling["length"] > trained
        return freqs / scaling["long_factor" if is_long else "short_factor"]
    if rule == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        turns = trained * freqs / (2 * np.pi)
        kept = np.clip((turns - low) / (high - low), 0, 1)
    if rule == "yarn":
        turns = np.array([scaling.get("beta_fast", 32), scaling.get("beta_slow", 1)])
        pairs = d * np.log(trained / (2 * np.pi * turns)) / (2 * np.log(base))
        low, high = max(0, np.floor(pairs[0])), min(d - 1, np.ceil(pairs[1]))
        ramp = (np.arange(d // 2) - low) / (high - low or 0.001)
        kept = 1 - np.clip(ramp, 0, 1)
    return freqs * (kept + (1 - kept) / factor)


def magnitude(scaling):
    if scaling is None or scaling["rule"] not in ("yarn", "longrope"):
        return 1.0
    if "attention_factor" in scaling:
        return scaling["attention_factor"]
    growth = np.log(scaling["factor"])
    if scaling["rule"] == "yarn":
        return 0.1 * growth + 1
    return np.sqrt(1 + growth / np.log(scaling["original_max_position"]))


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if d % 2 or d > x.shape[1]:
        raise ValueError(f"rotary_dim={d} does not fit rows {x.shape[1]} wide")
    angles = np.outer(positions, rope_freqs(d, base, scaling=scaling))
    cos, sin = magnitude(scaling) * np.cos(angles), magnitude(scaling) * np.sin(angles)
    even, odd = x[:, 0:d:2], x[:, 1:d:2]
    rotated = x.copy()
    rotated[:, 0:d:2] = even * cos - odd * sin
    rotated[:, 1:d:2] = even * sin + odd * cos
    return rotated


class Session:
    def __init__(self, decoder, capacity):
        self.decoder, self.capacity = decoder, capacity
        self.keys = np.empty((0, decoder.width))
        self.values = np.empty((0, decoder.width))

    def turned(self, rows, positions, length):
        decoder = self.decoder
        scaling = decoder.scaling and {**decoder.scaling, "length": length}
        return apply_rope(rows, positions, decoder.base, decoder.rotary_dim, scaling)

    def feed(self, rows):
        decoder, past = self.decoder, len(self.keys)
        if self.capacity is not None and past + len(rows) > self.capacity:
            raise ValueError(f"there is room for {self.capacity} tokens alone")
        queries = decoder.project_q(rows)
        self.keys = np.concatenate([self.keys, decoder.project_k(rows)])
        self.values = np.concatenate([self.values, decoder.project_v(rows)])
        attended = np.empty(queries.shape)
        for row in range(len(rows)):
            length = past + row + 1
            q = self.turned(queries[row : row + 1], [length - 1], len(rows))
            # All that a token sees is turned by one set of frequencies, by its length.
            keys = self.turned(self.keys[:length], np.arange(length), len(rows))
            scores = keys @ q[0] / np.sqrt(decoder.width)
            weights = np.exp(scores - scores.max())
            weights /= weights.sum()
            attended[row] = weights @ self.values[:length]
        return decoder.project_out(attended)


def start(decoder, capacity=None):
    return Session(decoder, capacity)
