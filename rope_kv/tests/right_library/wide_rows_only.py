"""Rows in tiles of sixteen entries, as fast kernels have them; other widths are refused."""

import numpy as np

capabilities = {
    "min_width": 16,
    "width_multiple": 16,
    "layout": "half",
    "convert_layout": True,
    "rotary_dim": True,
    "chunks": True,
    "reset": True,
    "fork": True,
    "heads": True,
    "batch": True,
    "select": True,
    "scaling": ["longrope", "yarn", "ntk"],
}
TILE = 16


def rope_freqs(d, base=10000, scaling=None):
    if d % TILE:
        raise ValueError(f"{d} is no multiple of {TILE}")
    scaling = scaling or {"rule": ""}
    if scaling["rule"] == "ntk":
        base = base * scaling["factor"] ** (d / (d - 2))
    theta = base ** (np.arange(0, d, 2) / -d)
    if scaling["rule"] == "longrope":
        longer = scaling["length"] > scaling["original_max_position"]
        theta = theta / np.asarray(scaling["long_factor" if longer else "short_factor"])
    if scaling["rule"] == "yarn":
        where = [
            d * np.log(scaling["original_max_position"] / (2 * np.pi * turns)) / (2 * np.log(base))
            for turns in (scaling.get("beta_fast", 32), scaling.get("beta_slow", 1))
        ]
        low, high = max(np.floor(where[0]), 0), min(np.ceil(where[1]), d - 1)
        ramp = np.clip((np.arange(d // 2) - low) / (high - low or 0.001), 0, 1)
        theta = theta * (1 + ramp * (1 / scaling["factor"] - 1))
    return theta


def stretch(scaling):
    rule = scaling["rule"] if scaling else ""
    if rule not in ("longrope", "yarn"):
        return 1.0
    if "attention_factor" in scaling:
        return scaling["attention_factor"]
    grown = np.log(scaling["factor"])
    if rule == "yarn":
        return 1 + grown / 10
    return np.sqrt(1 + grown / np.log(scaling["original_max_position"]))


def convert_layout(x, source, target):
    out, half = np.empty_like(x), x.shape[1] // 2
    places = {
        "half": (slice(half), slice(half, None)),
        "interleaved": (slice(0, None, 2), slice(1, None, 2)),
    }
    for taken, put in zip(places[source], places[target], strict=True):
        out[:, put] = x[:, taken]
    return out


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if x.shape[1] % TILE or d % TILE or not 0 < d <= x.shape[1]:
        raise ValueError(f"widths are multiples of {TILE}")
    angles = np.multiply.outer(np.asarray(positions), rope_freqs(d, base, scaling))
    turn = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    pairs = x[:, :d].reshape(len(x), 2, d // 2)
    turned = stretch(scaling) * np.einsum("abti,tbi->tai", turn, pairs)
    return np.concatenate([turned.reshape(len(x), d), x[:, d:]], axis=1)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        self.keys = self.values = ()

    def feed(self, rows):
        decoder, d = self.decoder, self.decoder.head_dim
        if rows.shape[1] % TILE or d % TILE:
            raise ValueError(f"widths are multiples of {TILE}")
        q, k, v = decoder.project_q(rows), decoder.project_k(rows), decoder.project_v(rows)
        attended = np.empty_like(q)
        for n in range(len(rows)):
            self.keys, self.values = (*self.keys, k[n]), (*self.values, v[n])
            keys, values = np.array(self.keys), np.array(self.values)
            turned_q = self.turned(q[n : n + 1], [len(keys) - 1])
            turned_k = self.turned(keys, range(len(keys)))
            for h in range(decoder.heads):
                g = h // (decoder.heads // decoder.kv_heads)
                own, shared = slice(h * d, h * d + d), slice(g * d, g * d + d)
                scores = turned_k[:, shared] @ turned_q[0, own] / np.sqrt(d)
                weights = np.exp(scores - scores.max())
                attended[n, own] = weights @ values[:, shared] / weights.sum()
        return decoder.project_out(attended)

    def turned(self, rows, places):
        decoder, d = self.decoder, self.decoder.head_dim
        scaling = {**decoder.scaling, "length": len(self.keys)} if decoder.scaling else None
        return np.hstack(
            [
                apply_rope(rows[:, i : i + d], places, decoder.base, decoder.rotary_dim, scaling)
                for i in range(0, rows.shape[1], d)
            ]
        )

    def fork(self):
        branch = Session(self.decoder)
        branch.keys, branch.values = self.keys, self.values
        return branch


start = Session


class Batch:
    def __init__(self, decoder, size):
        self.sessions = {b: Session(decoder) for b in range(size)}

    def feed(self, rows):
        return [session.feed(x) for session, x in zip(self.sessions.values(), rows, strict=True)]

    def select(self, indices):
        self.sessions = {b: self.sessions[index] for b, index in enumerate(indices)}


start_batch = Batch
