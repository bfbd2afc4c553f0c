"""A batch padded on the left or the right, with a mask of tokens and position ids of its own."""

import numpy as np

capabilities = {
    "layout": "half",
    "decode_incremental": False,
    "heads": True,
    "batch": True,
    "padding": True,
    "reorder": True,
    "select": True,
    "scaling": ["linear"],
}


def rope_freqs(d, base=10000, scaling=None):
    inv_freq = 1.0 / (base ** (np.arange(0, d, 2) / d))
    return inv_freq if scaling is None else inv_freq / scaling["factor"]


def rotate_half(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def rotary(x, position_ids, base, scaling=None):
    angles = position_ids[..., None] * rope_freqs(x.shape[-1], base, scaling)
    emb = np.concatenate([angles, angles], axis=-1)
    return x * np.cos(emb) + rotate_half(x) * np.sin(emb)


def apply_rope(x, positions, base=10000, scaling=None):
    return rotary(np.asarray(x, dtype=float), np.asarray(positions), base, scaling)


class Batch:
    def __init__(self, decoder, size, side="left", extra=0, fill=0.0):
        self.decoder, self.side, self.extra, self.fill = decoder, side, extra, fill
        self.key_cache = np.zeros((size, decoder.kv_heads, 0, decoder.head_dim))
        self.value_cache = np.zeros((size, decoder.kv_heads, 0, decoder.head_dim))
        self.attention_mask = np.zeros((size, 0), dtype=int)

    def feed(self, rows):
        decoder = self.decoder
        x, mask = self.pad(rows)
        if not x.size:
            return [np.empty((0, decoder.width)) for _ in rows]
        self.attention_mask = np.concatenate([self.attention_mask, mask], axis=1)
        length = x.shape[1]
        position_ids = (self.attention_mask.cumsum(axis=1) - 1).clip(0)[:, -length:]
        x = np.where(mask[..., None] == 1, x, 0.0)
        q, k, v = (
            self.split_heads(project(x.reshape(-1, x.shape[-1])), len(rows))
            for project in (decoder.project_q, decoder.project_k, decoder.project_v)
        )
        q, k = (rotary(y, position_ids[:, None], decoder.base, decoder.scaling) for y in (q, k))
        self.key_cache = np.concatenate([self.key_cache, k], axis=2)
        self.value_cache = np.concatenate([self.value_cache, v], axis=2)
        groups = decoder.heads // decoder.kv_heads
        keys = self.key_cache.repeat(groups, axis=1)
        values = self.value_cache.repeat(groups, axis=1)
        total = keys.shape[2]
        columns = np.arange(total)
        causal = columns <= np.arange(total - length, total)[:, None]
        allowed = causal & (self.attention_mask[:, None, None] == 1)
        scores = q @ keys.swapaxes(2, 3) / np.sqrt(decoder.head_dim)
        scores = np.where(allowed, scores, np.finfo(float).min)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        attended = (weights @ values).swapaxes(1, 2).reshape(len(rows) * length, -1)
        outputs = decoder.project_out(attended).reshape(len(rows), length, -1)
        return [out[there == 1] for out, there in zip(outputs, mask, strict=True)]

    def split_heads(self, rows, size):
        d = self.decoder.head_dim
        return rows.reshape(size, -1, rows.shape[-1] // d, d).swapaxes(1, 2)

    def pad(self, rows):
        longest = max(len(x) for x in rows) + self.extra
        ids, mask = [], []
        for x in rows:
            pads = longest - len(x)
            sides = (pads, 0) if self.side == "left" else (0, pads)
            ids.append(np.pad(x, (sides, (0, 0)), constant_values=self.fill))
            mask.append(np.pad(np.ones(len(x), dtype=int), sides))
        return np.stack(ids), np.stack(mask)

    def reorder(self, indices):
        for name in ("key_cache", "value_cache", "attention_mask"):
            setattr(self, name, np.take(getattr(self, name), indices, axis=0))

    select = reorder


def start_batch(decoder, size, **padding):
    return Batch(decoder, size, **padding)
