"""Float16 for all but the angles: scores, softmax and sums as well, one token after the other."""

import numpy as np

capabilities = {
    "dtype": "float16",
    "sessions": True,
    "fork": True,
    "reset": True,
    "heads": True,
    "capacity": True,
    "fill_unused": True,
    "batch": True,
    "reorder": True,
    "select": True,
}
HALF = np.float16


def rope_freqs(d, base=10000):
    return np.exp(np.arange(0, d, 2, dtype=np.float32) * np.float32(-np.log(base) / d))


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=HALF)
    angles = np.asarray(positions).astype(np.float32)[:, None] * rope_freqs(x.shape[1], base)
    cos, sin = np.cos(angles).astype(HALF), np.sin(angles).astype(HALF)
    x1, x2 = x[:, 0::2], x[:, 1::2]
    return np.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1).reshape(x.shape)


class Session:
    def __init__(self, decoder, capacity=None):
        self.decoder, self.capacity = decoder, capacity
        self.kv = np.zeros((2, capacity or 4, decoder.kv_heads, decoder.head_dim), HALF)
        self.count = 0

    def feed(self, rows):
        decoder, d = self.decoder, self.decoder.head_dim
        if self.count == self.kv.shape[1]:
            if self.capacity is not None:
                raise ValueError("full")
            self.kv = np.concatenate([self.kv, np.zeros_like(self.kv)], axis=1)
        q, k, v = (
            project(rows).reshape(-1, d)
            for project in (decoder.project_q, decoder.project_k, decoder.project_v)
        )
        self.kv[0, self.count] = apply_rope(k, [self.count] * len(k), decoder.base)
        self.kv[1, self.count] = v
        q = apply_rope(q, [self.count] * len(q), decoder.base)
        self.count += 1
        attended = np.empty_like(q)
        for h in range(decoder.heads):
            keys, values = self.kv[:, : self.count, h * decoder.kv_heads // decoder.heads]
            scores = (keys * q[h]).sum(axis=1, dtype=HALF) / HALF(np.sqrt(d))
            weights = np.exp(scores - scores.max())
            weights = weights / weights.sum(dtype=HALF)
            attended[h] = (weights[:, None] * values).sum(axis=0, dtype=HALF)
        return decoder.project_out(attended.reshape(1, -1))

    def reset(self):
        self.count = 0

    def fork(self):
        branch = Session(self.decoder, self.capacity)
        branch.kv, branch.count = self.kv.copy(), self.count
        return branch

    def fill_unused(self, value):
        self.kv[:, self.count :] = value


def start(decoder, capacity=None):
    return Session(decoder, capacity)


def decode_incremental(decoder, x):
    session = Session(decoder, capacity=max(1, len(x)))
    outputs = np.empty(x.shape, HALF)
    for t in range(len(x)):
        outputs[t] = session.feed(x[t : t + 1])[0]
    return outputs


class Batch:
    def __init__(self, decoder, size):
        self.width = decoder.width
        self.sessions = [Session(decoder) for _ in range(size)]

    def feed(self, rows):
        outputs = [np.empty((len(x), self.width), HALF) for x in rows]
        for t in range(max(map(len, rows))):
            for session, x, out in zip(self.sessions, rows, outputs, strict=True):
                if t < len(x):
                    out[t] = session.feed(x[t : t + 1])[0]
        return outputs

    def reorder(self, indices):
        self.sessions = [self.sessions[i].fork() for i in indices]

    def select(self, indices):
        self.reorder(indices)


start_batch = Batch
