"""A right implementation that declares every part, in one file that needs numpy alone."""

import numpy as np

capabilities = {
    "rotary_dim": True, "convert_layout": True, "chunks": True, "crop": True, "fork": True,
    "reset": True, "length": True, "fill_unused": True, "heads": True, "window": True,
    "sinks": True, "padding": True, "reorder": True, "select": True, "paths": ["prefill"],
}  # fmt: skip


def rope_freqs(d, base=10000, *, scaling=None):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000, *, rotary_dim=None, scaling=None):
    y = np.array(x, dtype=float)
    d = y.shape[1] if rotary_dim is None else rotary_dim
    if d % 2 or not 0 < d <= y.shape[1]:
        raise ValueError("rotary_dim must be even and no wider than a row")
    angles = np.outer(positions, rope_freqs(d, base, scaling=scaling))
    even, odd = y[:, 0:d:2].copy(), y[:, 1:d:2].copy()
    y[:, 0:d:2] = even * np.cos(angles) - odd * np.sin(angles)
    y[:, 1:d:2] = even * np.sin(angles) + odd * np.cos(angles)
    return y


def convert_layout(x, source, target):
    d = x.shape[1]
    order = [*range(0, d, 2), *range(1, d, 2)]
    if source == target:
        return x.copy()
    return x[:, order] if target == "half" else x[:, np.argsort(order)]


def decode_incremental(decoder, x):
    session = start(decoder)
    return np.concatenate([x[:0], *(session.feed(x[t : t + 1]) for t in range(len(x)))])


def prefill(decoder, x):
    return start(decoder).feed(x)


def start(decoder, *, capacity=None):
    return Session(decoder, capacity)


class Session:
    def __init__(self, decoder, capacity):
        self.decoder = decoder
        self.capacity = capacity
        self.count = 0
        self.keys = np.zeros((capacity or 4, decoder.kv_heads * decoder.head_dim))
        self.values = self.keys.copy()

    @property
    def length(self):
        return self.count

    def feed(self, rows):
        decoder, start, end = self.decoder, self.count, self.count + len(rows)
        if self.capacity and end > self.capacity:
            raise ValueError("there is no room for more")
        while end > len(self.keys):
            self.keys = np.concatenate([self.keys, np.zeros_like(self.keys)])
            self.values = np.concatenate([self.values, np.zeros_like(self.values)])
        positions = np.arange(start, end)
        q = self.turned(decoder.project_q(rows), positions)
        self.keys[start:end] = self.turned(decoder.project_k(rows), positions)
        self.values[start:end] = decoder.project_v(rows)
        self.count = end
        out, d = np.empty(q.shape), decoder.head_dim
        for t, position in enumerate(positions):
            seen = np.arange(position + 1)
            if decoder.window is not None:
                seen = seen[(seen > position - decoder.window) | (seen < decoder.sinks)]
            for head in range(decoder.heads):
                own = slice(head * d, head * d + d)
                group = head // (decoder.heads // decoder.kv_heads)
                shared = slice(group * d, group * d + d)
                scores = self.keys[seen, shared] @ q[t, own] / np.sqrt(d)
                weights = np.exp(scores - scores.max())
                out[t, own] = weights / weights.sum() @ self.values[seen, shared]
        return decoder.project_out(out)

    def turned(self, rows, positions):
        decoder = self.decoder
        heads = rows.reshape(-1, decoder.head_dim)
        positions = np.repeat(positions, rows.shape[1] // decoder.head_dim)
        more = {"rotary_dim": decoder.rotary_dim, "scaling": decoder.scaling}
        return apply_rope(heads, positions, decoder.base, **more).reshape(rows.shape)

    def crop(self, length):
        if not 0 <= length <= self.count:
            raise ValueError("there is no such length")
        self.count = length

    def reset(self):
        self.count = 0

    def fork(self):
        other = Session(self.decoder, self.capacity)
        other.count = self.count
        other.keys, other.values = self.keys.copy(), self.values.copy()
        return other

    def fill_unused(self, value):
        self.keys[self.count :] = self.values[self.count :] = value


def start_batch(decoder, size, *, side="left", extra=0, fill=0.0):
    return Batch(decoder, size, side, extra, fill)


class Batch:
    """Pads for show: each row is a session of its own."""

    def __init__(self, decoder, size, side, extra, fill):
        self.sessions = [start(decoder) for _ in range(size)]
        self.padding = side, extra, fill

    def feed(self, rows):
        side, extra, fill = self.padding
        longest = max(map(len, rows)) + extra
        fed = []
        for session, own in zip(self.sessions, rows, strict=True):
            pads = np.full((longest - len(own), own.shape[1]), fill)
            padded = np.concatenate([pads, own] if side == "left" else [own, pads])
            tokens = padded[len(pads) :] if side == "left" else padded[: len(own)]
            fed.append(session.feed(tokens))
        return fed

    def reorder(self, indices):
        self.sessions = [self.sessions[index].fork() for index in indices]

    def select(self, indices):
        self.reorder(indices)
