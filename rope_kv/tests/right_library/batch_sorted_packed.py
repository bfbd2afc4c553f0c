"""A batch without pads: rows sorted by length, their tokens packed into one array with offsets."""

import numpy as np

capabilities = {
    "decode_incremental": False,
    "apply_rope": False,
    "batch": True,
    "reorder": True,
    "select": True,
    "rotary_dim": True,
    "window": True,
    "heads": True,
}


def rope_freqs(d, base=10000):
    return np.float64(base) ** (np.arange(0, -d, -2) / d)


class Packed:
    def __init__(self, decoder, size):
        self.decoder = decoder
        empty = np.empty((0, decoder.kv_heads, decoder.head_dim))
        self.histories = [(empty, empty)] * size

    def feed(self, rows):
        decoder, d = self.decoder, self.decoder.head_dim
        order = sorted(range(len(rows)), key=lambda b: -len(rows[b]))
        counts = [len(rows[b]) for b in order]
        offsets = np.cumsum([0, *counts])
        packed = np.concatenate([rows[b] for b in order])
        before = [len(self.histories[b][0]) for b in order]
        places = np.concatenate(
            [np.arange(n, n + m) for n, m in zip(before, counts, strict=True)]
        ).astype(int)
        q, k, v = (
            project(packed)
            for project in (decoder.project_q, decoder.project_k, decoder.project_v)
        )
        q, k, v = (y.reshape(len(y), y.shape[1] // d, d) for y in (q, k, v))
        q, k = self.turned(q, places), self.turned(k, places)
        attended = np.empty_like(q)
        for b, first, last in zip(order, offsets, offsets[1:], strict=False):
            old_k, old_v = self.histories[b]
            keys, values = (
                np.concatenate([old_k, k[first:last]]),
                np.concatenate([old_v, v[first:last]]),
            )
            self.histories[b] = keys, values
            attended[first:last] = self.attend(q[first:last], keys, values, places[first:last])
        outputs = decoder.project_out(attended.reshape(len(packed), decoder.heads * d))
        result = [None] * len(rows)
        for b, first, last in zip(order, offsets, offsets[1:], strict=False):
            result[b] = outputs[first:last]
        return result

    def attend(self, q, keys, values, places):
        decoder = self.decoder
        groups = decoder.heads // decoder.kv_heads
        keys, values = keys.repeat(groups, axis=1), values.repeat(groups, axis=1)
        scores = np.einsum("nhd,mhd->hnm", q, keys) / np.sqrt(q.shape[-1])
        back = places[:, None] - np.arange(len(keys))
        hidden = (back < 0) | (back >= (decoder.window or np.inf))
        scores[:, hidden] = -np.inf
        weights = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-1e300))
        weights /= weights.sum(axis=2, keepdims=True)
        return np.einsum("hnm,mhd->nhd", weights, values)

    def turned(self, x, places):
        d = self.decoder.rotary_dim or x.shape[-1]
        angles = np.multiply.outer(places, rope_freqs(d, self.decoder.base))[:, None]
        z = (x[..., 0:d:2] + 1j * x[..., 1:d:2]) * np.exp(1j * angles)
        out = x.copy()
        out[..., 0:d:2], out[..., 1:d:2] = z.real, z.imag
        return out

    def reorder(self, indices):
        self.histories = [self.histories[i] for i in indices]

    def select(self, indices):
        self.reorder(indices)


start_batch = Packed
