"""A ring: the token at position p has slot p mod W, sinks have slots of their own before it."""

import numpy as np

capabilities = {
    "chunks": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "length": True,
    "heads": True,
    "window": True,
    "sinks": True,
    "layout": "half",
}


def rope_freqs(d, base=10000):
    theta = np.ones(d // 2)
    ratio = base ** (-2 / d)
    for i in range(1, d // 2):
        theta[i] = theta[i - 1] * ratio
    return theta


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    half = x.shape[1] // 2
    angles = np.multiply.outer(np.asarray(positions, dtype=np.float64), rope_freqs(2 * half, base))
    z = (x[:, :half] + 1j * x[:, half:]) * (np.cos(angles) + 1j * np.sin(angles))
    return np.hstack([z.real, z.imag])


class Ring:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        room = self.decoder.sinks + self.decoder.window if self.decoder.window else 8
        width = self.decoder.kv_heads * self.decoder.head_dim
        self.keys, self.values = np.empty((room, width)), np.empty((room, width))
        self.at = np.full(room, -1)
        self.length = 0

    def slot(self, position):
        window, sinks = self.decoder.window, self.decoder.sinks
        if window is None or position < sinks:
            return position
        return sinks + (position - sinks) % window

    def feed(self, rows):
        decoder, d = self.decoder, self.decoder.head_dim
        attended = np.empty((len(rows), decoder.heads * d))
        q, k = decoder.project_q(rows), decoder.project_k(rows)
        v = decoder.project_v(rows)
        for t in range(len(rows)):
            position = self.length
            if decoder.window is None and position == len(self.at):
                self.keys, self.values = (np.concatenate([s, s]) for s in (self.keys, self.values))
                self.at = np.concatenate([self.at, np.full(position, -1)])
            slot = self.slot(position)
            self.keys[slot] = self.turned(k[t], position)
            self.values[slot], self.at[slot] = v[t], position
            self.length += 1
            attended[t] = self.attended(self.turned(q[t], position), position)
        return decoder.project_out(attended)

    def attended(self, query, position):
        decoder, d = self.decoder, self.decoder.head_dim
        seen = self.at >= 0
        if decoder.window is not None:
            seen &= (self.at > position - decoder.window) | (self.at < decoder.sinks)
        keys, values = self.keys[seen], self.values[seen]
        out, per = [], decoder.heads // decoder.kv_heads
        for group in range(decoder.kv_heads):
            part = slice(group * d, (group + 1) * d)
            queries = query.reshape(-1, d)[group * per : (group + 1) * per]
            scores = queries @ keys[:, part].T / d**0.5
            weights = np.exp(scores - scores.max(axis=1)[:, None])
            out.append(weights @ values[:, part] / weights.sum(axis=1)[:, None])
        return np.concatenate(out).ravel()

    def turned(self, row, position):
        heads = row.reshape(-1, self.decoder.head_dim)
        return apply_rope(heads, [position] * len(heads), self.decoder.base).ravel()

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("there are not so many tokens")
        first = 0
        if self.decoder.window is not None:
            first = max(self.decoder.sinks, length + 1 - self.decoder.window)
        for position in range(first, length):
            if self.at[self.slot(position)] != position:
                raise ValueError(f"token {position} was overwritten")
        self.at[self.at >= length] = -1
        self.length = length

    def fork(self):
        branch = Ring(self.decoder)
        branch.keys, branch.values = self.keys.copy(), self.values.copy()
        branch.at, branch.length = self.at.copy(), self.length
        return branch


def start(decoder):
    return Ring(decoder)
