"""A batch in one store, each row filled from the left, with a length for each row."""

import numpy as np

capabilities = {
    "batch": True,
    "padding": True,
    "reorder": True,
    "select": True,
    "window": True,
    "sinks": True,
    "heads": True,
    "rotary_dim": True,
    "chunks": True,
    "length": True,
    "dtype": "float32",
}


def rope_freqs(d, base=10000):
    return (1 / base ** (np.arange(0, d, 2) / d)).astype(np.float32)


def turned(x, positions, base, d):
    angles = positions[..., None].astype(np.float32) * rope_freqs(d, base)
    cos, sin = np.cos(angles), np.sin(angles)
    out = x.copy()
    out[..., 0:d:2] = x[..., 0:d:2] * cos - x[..., 1:d:2] * sin
    out[..., 1:d:2] = x[..., 0:d:2] * sin + x[..., 1:d:2] * cos
    return out


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x, dtype=np.float32)
    d = x.shape[-1] if rotary_dim is None else rotary_dim
    if d % 2 or d > x.shape[-1]:
        raise ValueError("rotary_dim")
    return turned(x, np.asarray(positions), base, d)


class Batch:
    def __init__(self, decoder, size, side="right", extra=0, fill=0.0):
        self.decoder, self.side, self.extra, self.fill = decoder, side, extra, fill
        self.store = np.zeros((2, size, 0, decoder.kv_heads, decoder.head_dim), np.float32)
        self.lengths = np.zeros(size, dtype=int)

    def feed(self, rows):
        decoder, d, count = self.decoder, self.decoder.head_dim, len(rows)
        sizes = np.array([len(x) for x in rows])
        n = sizes.max() + self.extra
        x = np.full((count, n, decoder.width), self.fill, dtype=np.float32)
        offset = n - sizes if self.side == "left" else 0 * sizes
        for b, row in enumerate(rows):
            x[b, offset[b] : offset[b] + len(row)] = row
        step = np.arange(n) - offset[:, None]
        is_token = (step >= 0) & (step < sizes[:, None])
        q, k, v = (
            project(x.reshape(count * n, decoder.width))
            for project in (decoder.project_q, decoder.project_k, decoder.project_v)
        )
        q, k, v = (y.reshape(count, n, y.shape[1] // d, d) for y in (q, k, v))
        places = self.lengths[:, None] + np.where(is_token, step, 0)
        r = decoder.rotary_dim or d
        q, k = (turned(y, places[:, :, None], decoder.base, r) for y in (q, k))
        self.lengths = self.lengths + sizes
        short = max(0, self.lengths.max() - self.store.shape[2])
        self.store = np.pad(self.store, ((0, 0), (0, 0), (0, short), (0, 0), (0, 0)))
        tokens = np.nonzero(is_token)
        self.store[0, tokens[0], places[tokens]] = k[tokens]
        self.store[1, tokens[0], places[tokens]] = v[tokens]
        u = np.arange(self.store.shape[2])
        attended = np.zeros((count, n, decoder.heads, d), np.float32)
        for b, t in zip(*tokens, strict=True):
            now = places[b, t]
            seen = u <= now
            if decoder.window:
                seen &= (u > now - decoder.window) | (u < decoder.sinks)
            keys, values = self.store[:, b, seen]
            queries = q[b, t].reshape(decoder.kv_heads, -1, d)
            scores = np.einsum("grd,mgd->grm", queries, keys) / np.sqrt(np.float32(d))
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            attended[b, t] = np.einsum("grm,mgd->grd", weights, values).reshape(-1, d)
        outputs = decoder.project_out(attended.reshape(count * n, decoder.heads * d))
        outputs = outputs.reshape(count, n, decoder.width)
        return tuple(outputs[b, is_token[b]] for b in range(count))

    def reorder(self, indices):
        self.store, self.lengths = self.store[:, indices], self.lengths[indices]

    def select(self, indices):
        longest = self.lengths[indices].max()
        self.store, self.lengths = self.store[:, indices, :longest], self.lengths[indices]


class Alone:
    """One sequence: a batch of one."""

    def __init__(self, decoder):
        self.batch = Batch(decoder, 1)

    def feed(self, rows):
        return self.batch.feed([rows])[0]

    def length(self):
        return self.batch.lengths[0]


start = Alone
start_batch = Batch
