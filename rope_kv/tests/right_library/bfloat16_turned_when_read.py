"""Bfloat16 keys, kept as projected and turned in float32 when read; sessions alone."""

import ml_dtypes
import numpy as np

capabilities = {
    "dtype": "bfloat16",
    "rope_freqs": False,
    "apply_rope": False,
    "decode_incremental": False,
    "layout": "half",
    "scaling": ["linear", "dynamic", "yarn", "llama3", "longrope"],
    "chunks": True,
    "fork": True,
    "crop": True,
    "window": True,
    "sinks": True,
    "capacity": True,
    "rotary_dim": True,
    "batch": True,
    "padding": True,
}
BF16 = ml_dtypes.bfloat16


def rope_init(d, base, scaling, seq_len):
    """Return inverse frequencies and what cos and sin are multiplied by, both in float32."""
    rule = scaling["rule"] if scaling else "default"
    if rule == "dynamic":
        factor, old = scaling["factor"], scaling["original_max_position"]
        growth = factor * max(seq_len, old) / old - (factor - 1)
        base = base * growth ** (d / (d - 2))
    inv_freq = 1.0 / base ** (np.arange(0, d, 2, dtype=np.float32) / d)
    if rule == "linear":
        return inv_freq / np.float32(scaling["factor"]), np.float32(1)
    if rule == "longrope":
        old, factor = scaling["original_max_position"], scaling["factor"]
        factors = scaling["long_factor" if seq_len > old else "short_factor"]
        grown = np.sqrt(1 + np.log(factor) / np.log(old)) if factor > 1 else 1.0
        scale = scaling.get("attention_factor", grown)
        return inv_freq / np.asarray(factors, dtype=np.float32), np.float32(scale)
    if rule == "llama3":
        factor, old = scaling["factor"], scaling["original_max_position"]
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        wavelen = np.float32(2 * np.pi) / inv_freq
        smooth = (old / wavelen - low) / (high - low)
        scaled = (1 - smooth) / factor * inv_freq + smooth * inv_freq
        scaled = np.where(wavelen > old / low, inv_freq / factor, scaled)
        return np.where(wavelen < old / high, inv_freq, scaled).astype(np.float32), np.float32(1)
    if rule == "yarn":
        factor, old = scaling["factor"], scaling["original_max_position"]
        ends = [
            d * np.log(old / (2 * np.pi * turns)) / (2 * np.log(base))
            for turns in (scaling.get("beta_fast", 32), scaling.get("beta_slow", 1))
        ]
        low, high = max(np.floor(ends[0]), 0), min(np.ceil(ends[1]), d - 1)
        ramp = np.clip((np.arange(d // 2) - low) / max(high - low, 0.001), 0, 1)
        kept = (1 - ramp).astype(np.float32)
        inv_freq = inv_freq / np.float32(factor) * (1 - kept) + inv_freq * kept
        return inv_freq, np.float32(scaling.get("attention_factor", 0.1 * np.log(factor) + 1))
    return inv_freq, np.float32(1)


def rotate(x, positions, d, inv_freq, scale):
    angles = np.multiply.outer(np.asarray(positions, dtype=np.float32), inv_freq)
    cos, sin = np.cos(angles) * scale, np.sin(angles) * scale
    x = x.astype(np.float32)
    x1, x2, rest = x[:, : d // 2], x[:, d // 2 : d], x[:, d:]
    return np.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin, rest], axis=1)


class Session:
    def __init__(self, decoder, capacity=None, kept=()):
        self.decoder, self.capacity, self.kept = decoder, capacity, list(kept)

    def feed(self, rows):
        decoder = self.decoder
        if self.capacity is not None and len(self.kept) + len(rows) > self.capacity:
            raise ValueError("no room")
        q, k, v = decoder.project_q(rows), decoder.project_k(rows), decoder.project_v(rows)
        outputs = np.zeros((len(rows), q.shape[1]), np.float32)
        for n in range(len(rows)):
            self.kept.append((k[n], v[n]))
            outputs[n] = self.attend(q[n : n + 1])
        return decoder.project_out(outputs.astype(BF16))

    def attend(self, q):
        decoder, now = self.decoder, len(self.kept) - 1
        window = decoder.window or len(self.kept)
        places = [u for u in range(now + 1) if u < decoder.sinks or now - u < window]
        d = decoder.rotary_dim or decoder.head_dim
        about = d, *rope_init(d, decoder.base, decoder.scaling, now + 1)
        keys = rotate(np.stack([self.kept[u][0] for u in places]), places, *about)
        values = np.stack([self.kept[u][1] for u in places]).astype(np.float32)
        scores = rotate(q, [now], *about) @ keys.T / np.sqrt(np.float32(decoder.head_dim))
        weights = np.exp(scores - scores.max())
        return weights / weights.sum() @ values

    def crop(self, length):
        if not 0 <= length <= len(self.kept):
            raise ValueError("length")
        del self.kept[length:]

    def fork(self):
        return Session(self.decoder, self.capacity, self.kept)


def start(decoder, capacity=None):
    return Session(decoder, capacity)


class Batch:
    def __init__(self, decoder, size, side="left", extra=0, fill=0.0):
        self.sessions = [Session(decoder) for _ in range(size)]
        self.side, self.extra, self.fill = side, extra, fill

    def feed(self, rows):
        width = max(map(len, rows)) + self.extra
        outputs = []
        for session, x in zip(self.sessions, rows, strict=True):
            pads = np.full((width - len(x), x.shape[1]), self.fill).astype(BF16)
            left, right = (pads, x[:0]) if self.side == "left" else (x[:0], pads)
            block = np.concatenate([left, x, right])
            outputs.append(session.feed(block[len(left) : width - len(right)]))
        return outputs


start_batch = Batch
