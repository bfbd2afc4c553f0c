"""A batch is a list of sessions, each of one sequence; pads are cut off before they are seen."""

import copy

import numpy as np

capabilities = {
    "chunks": True,
    "fork": True,
    "crop": True,
    "length": True,
    "reset": True,
    "heads": True,
    "window": True,
    "sinks": True,
    "rotary_dim": True,
    "batch": True,
    "padding": True,
    "reorder": True,
    "select": True,
}


def rope_freqs(d, base=10000):
    return base ** -(np.arange(d // 2) / (d // 2))


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x, dtype=np.float64)
    d = rotary_dim or x.shape[1]
    if d % 2 or d > x.shape[1]:
        raise ValueError("rotary_dim is odd or too large")
    angles = np.asarray(positions)[:, np.newaxis] * rope_freqs(d, base)
    cos, sin = np.ones((2, len(x), x.shape[1]))
    cos[:, :d], sin[:, :d] = np.repeat(np.cos(angles), 2, 1), np.repeat(np.sin(angles), 2, 1)
    sin[:, d:] = 0
    swapped = x.copy()
    swapped[:, 0:d:2], swapped[:, 1:d:2] = -x[:, 1:d:2], x[:, 0:d:2]
    return x * cos + swapped * sin


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        self.k = self.v = np.empty((0, self.decoder.kv_heads * self.decoder.head_dim))

    @property
    def length(self):
        return len(self.k)

    def feed(self, rows):
        decoder = self.decoder
        t = np.arange(self.length, self.length + len(rows))
        q, k = (self.turn(project(rows), t) for project in (decoder.project_q, decoder.project_k))
        self.k = np.append(self.k, k, axis=0)
        self.v = np.append(self.v, decoder.project_v(rows), axis=0)
        u = np.arange(self.length)
        seen = u <= t[:, None]
        if decoder.window is not None:
            seen &= (u > t[:, None] - decoder.window) | (u < decoder.sinks)
        d, out = decoder.head_dim, []
        for h in range(decoder.heads):
            g = h // (decoder.heads // decoder.kv_heads) * d
            scores = q[:, h * d : h * d + d] @ self.k[:, g : g + d].T / np.sqrt(d)
            scores = np.where(seen, scores, -np.inf)
            weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
            weights /= weights.sum(axis=1, keepdims=True)
            out.append(weights @ self.v[:, g : g + d])
        return decoder.project_out(np.hstack(out))

    def turn(self, rows, places):
        decoder, d = self.decoder, self.decoder.head_dim
        return np.hstack(
            [
                apply_rope(rows[:, i : i + d], places, decoder.base, decoder.rotary_dim)
                for i in range(0, rows.shape[1], d)
            ]
        )

    def crop(self, length):
        if not 0 <= length <= self.length:
            raise ValueError("length")
        self.k, self.v = self.k[:length], self.v[:length]

    def fork(self):
        return copy.copy(self)


class Batch:
    def __init__(self, decoder, size, side="left", extra=0, fill=0.0):
        self.sessions = [Session(decoder) for _ in range(size)]
        self.padding = side, extra, fill

    def feed(self, rows):
        padded, mask = self.padded(rows)
        fed = zip(self.sessions, padded, mask, strict=True)
        return [session.feed(x[is_token]) for session, x, is_token in fed]

    def padded(self, rows):
        side, extra, fill = self.padding
        longest = max(map(len, rows)) + extra
        padded, masks = [], []
        for x in rows:
            pads = np.full((longest - len(x), x.shape[1]), fill)
            padded.append(np.vstack([pads, x] if side == "left" else [x, pads]))
            at = np.arange(longest)
            masks.append(at >= len(pads) if side == "left" else at < len(x))
        return padded, masks

    def reorder(self, indices):
        self.sessions = [self.sessions[i].fork() for i in indices]

    def select(self, indices):
        self.sessions = [self.sessions[i] for i in indices]


start = Session
start_batch = Batch
