"""Bfloat16 rows, turned as complex64 and rounded once; a window that is kept as a list."""

import ml_dtypes
import numpy as np

capabilities = {
    "dtype": "bfloat16",
    "chunks": True,
    "crop": True,
    "reset": True,
    "heads": True,
    "window": True,
    "rotary_dim": True,
    "convert_layout": True,
    "batch": True,
    "padding": True,
    "min_width": 4,
}
BF16 = np.dtype(ml_dtypes.bfloat16)


def rope_freqs(d, base=10000):
    return (1.0 / base ** (np.arange(0, d, 2)[: d // 2] / d)).astype(np.float32)


def convert_layout(x, source, target):
    n, d = x.shape
    if source == target:
        return x.copy()
    shape = (n, d // 2, 2) if target == "half" else (n, 2, d // 2)
    return x.reshape(shape).swapaxes(1, 2).reshape(n, d)


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if x.shape[1] < 4 or d % 2 or d > x.shape[1]:
        raise ValueError("the width, or its part")
    freqs = np.outer(np.asarray(positions, dtype=np.float32), rope_freqs(d, base))
    freqs_cis = (np.cos(freqs) + 1j * np.sin(freqs)).astype(np.complex64)
    x_ = np.ascontiguousarray(x[:, :d].astype(np.float32)).view(np.complex64)
    x_out = (x_ * freqs_cis).view(np.float32).astype(BF16)
    return np.concatenate([x_out, x[:, d:].astype(BF16)], axis=1)


class Session:
    def __init__(self, decoder):
        self.decoder, self.past = decoder, []

    def reset(self):
        self.past.clear()

    def crop(self, length):
        if length < 0 or length > len(self.past):
            raise ValueError("length")
        self.past = self.past[:length]

    def feed(self, rows):
        decoder, d = self.decoder, self.decoder.head_dim
        q, k, v = decoder.project_q(rows), decoder.project_k(rows), decoder.project_v(rows)
        attended = np.empty(q.shape, np.float32)
        for n in range(len(rows)):
            self.past.append((self.turned(k[n], len(self.past)), v[n].reshape(-1, d)))
            query = self.turned(q[n], len(self.past) - 1).astype(np.float32)
            seen = self.past[-decoder.window :] if decoder.window else self.past
            keys = np.stack([k for k, _ in seen]).astype(np.float32)
            values = np.stack([v for _, v in seen]).astype(np.float32)
            for h in range(decoder.heads):
                g = h // (decoder.heads // decoder.kv_heads)
                scores = keys[:, g] @ query[h] / np.sqrt(np.float32(d))
                weights = np.exp(scores - scores.max())
                attended[n, h * d : h * d + d] = (weights / weights.sum()) @ values[:, g]
        return decoder.project_out(attended.astype(BF16))

    def turned(self, row, place):
        decoder = self.decoder
        heads = row.reshape(-1, decoder.head_dim)
        return apply_rope(heads, [place] * len(heads), decoder.base, decoder.rotary_dim)


start = Session


def decode_incremental(decoder, x):
    session = Session(decoder)
    return np.concatenate([session.feed(x[t : t + 1]) for t in range(len(x))])


class Batch:
    """Feeds a padded block column by column, and skips what is a pad."""

    def __init__(self, decoder, size, side="right", extra=0, fill=0.0):
        self.sessions = [Session(decoder) for _ in range(size)]
        self.side, self.extra, self.fill = side, extra, fill

    def feed(self, rows):
        longest = max(map(len, rows)) + self.extra
        width = rows[0].shape[1]
        block = np.full((len(rows), longest, width), self.fill, BF16)
        is_token = np.zeros((len(rows), longest), bool)
        for b, x in enumerate(rows):
            where = slice(len(x)) if self.side == "right" else slice(longest - len(x), None)
            block[b, where], is_token[b, where] = x, True
        outputs = np.zeros(block.shape, BF16)
        for t in range(longest):
            for b in np.flatnonzero(is_token[:, t]):
                outputs[b, t] = self.sessions[b].feed(block[b, t : t + 1])[0]
        return [out[there] for out, there in zip(outputs, is_token, strict=True)]


start_batch = Batch
