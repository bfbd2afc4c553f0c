"""Float16 rows, all else in float32, and one rounding at the end."""

import numpy as np

capabilities = {
    "dtype": "float16",
    "chunks": True,
    "heads": True,
    "fork": True,
    "crop": True,
    "length": True,
    "rotary_dim": True,
    "scaling": ["linear", "yarn"],
    "window": True,
    "sinks": True,
}


def rope_freqs(d, base=10000, scaling=None):
    theta = np.float32(base) ** (-np.arange(0, d, 2, dtype=np.float32) / np.float32(d))
    if not scaling:
        return theta
    if scaling["rule"] == "linear":
        return theta / np.float32(scaling["factor"])
    old = scaling["original_max_position"]

    def pair(turns):
        return d * np.log(old / (turns * 2 * np.pi)) / (2 * np.log(base))

    low = max(np.floor(pair(scaling.get("beta_fast", 32))), 0)
    high = min(np.ceil(pair(scaling.get("beta_slow", 1))), d - 1)
    high = high + 0.001 if high == low else high
    ramp = (np.arange(d // 2, dtype=np.float32) - np.float32(low)) / np.float32(high - low)
    mask = 1 - np.clip(ramp, 0, 1)
    return theta / np.float32(scaling["factor"]) * (1 - mask) + theta * mask


def magnitude(scaling):
    if not scaling or scaling["rule"] == "linear":
        return np.float32(1)
    return np.float32(scaling.get("attention_factor", 0.1 * np.log(scaling["factor"]) + 1))


def rotated(x, positions, base, rotary_dim, scaling):
    d = x.shape[-1] if rotary_dim is None else rotary_dim
    if d % 2 or d > x.shape[-1]:
        raise ValueError("rotary_dim")
    angles = np.asarray(positions, dtype=np.float32)[:, None] * rope_freqs(d, base, scaling)
    freqs_cis = np.exp(1j * angles).astype(np.complex64) * magnitude(scaling)
    pairs = x[:, :d].astype(np.float32).reshape(len(x), d // 2, 2)
    z = (pairs[..., 0] + 1j * pairs[..., 1]).astype(np.complex64) * freqs_cis
    flat = np.stack([z.real, z.imag], axis=-1).reshape(len(x), d)
    return np.concatenate([flat, x[:, d:].astype(np.float32)], axis=1)


def apply_rope(x, positions, base=10000, rotary_dim=None, scaling=None):
    return rotated(np.asarray(x), positions, base, rotary_dim, scaling).astype(np.float16)


class Session:
    def __init__(self, decoder, tokens=()):
        self.decoder, self.tokens = decoder, list(tokens)

    @property
    def length(self):
        return np.int64(len(self.tokens))

    def feed(self, rows):
        decoder, d = self.decoder, self.decoder.head_dim
        q, k, v = decoder.project_q(rows), decoder.project_k(rows), decoder.project_v(rows)
        attended = np.empty(q.shape, np.float16)
        for n in range(len(rows)):
            now = len(self.tokens)
            self.tokens.append((self.turn(k[n], now), v[n].astype(np.float32).reshape(-1, d)))
            query = self.turn(q[n], now).reshape(decoder.kv_heads, -1, d)
            seen = [
                token
                for u, token in enumerate(self.tokens)
                if not decoder.window or now - u < decoder.window or u < decoder.sinks
            ]
            keys, values = (np.stack(part) for part in zip(*seen, strict=True))
            scores = np.einsum("grd,mgd->grm", query, keys) / np.sqrt(np.float32(d))
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            mean = np.einsum("grm,mgd->grd", weights, values) / weights.sum(-1, keepdims=True)
            attended[n] = mean.ravel()
        return decoder.project_out(attended).astype(np.float16)

    def turn(self, row, place):
        decoder = self.decoder
        heads = row.reshape(-1, decoder.head_dim)
        places = np.full(len(heads), place)
        return rotated(heads, places, decoder.base, decoder.rotary_dim, decoder.scaling)

    def crop(self, length):
        if not 0 <= length <= len(self.tokens):
            raise ValueError("length")
        del self.tokens[length:]

    def fork(self):
        return Session(self.decoder, self.tokens)


start = Session
