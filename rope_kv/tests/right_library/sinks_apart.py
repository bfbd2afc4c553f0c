"""The first tokens in a small store of their own, the recent ones in a queue of fixed length."""

import collections

import numpy as np

capabilities = {
    "sessions": True,
    "fork": True,
    "reset": True,
    "length": True,
    "window": True,
    "sinks": True,
    "rotary_dim": True,
}


def rope_freqs(d, base=10000):
    return np.reciprocal(np.power(float(base), np.arange(d // 2) * 2.0 / d))


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.asarray(x, dtype=np.float64)
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if d % 2 or d > x.shape[1] or d < 2:
        raise ValueError("rotary_dim")
    angles = np.repeat(np.outer(positions, rope_freqs(d, base)), 2, axis=1)
    head, tail = np.hsplit(x, [d])
    crossed = np.empty_like(head)
    crossed[:, 0::2], crossed[:, 1::2] = -head[:, 1::2], head[:, 0::2]
    return np.hstack([head * np.cos(angles) + crossed * np.sin(angles), tail])


class Streaming:
    def __init__(self, decoder):
        self.decoder = decoder
        self.reset()

    def reset(self):
        self.length = 0
        self.first = []
        self.recent = collections.deque(maxlen=self.decoder.window)

    def feed(self, rows):
        decoder = self.decoder
        q, k, v = decoder.project_q(rows), decoder.project_k(rows), decoder.project_v(rows)
        q, k = (
            apply_rope(each, [self.length], decoder.base, decoder.rotary_dim) for each in (q, k)
        )
        self.recent.append((self.length, k[0], v[0]))
        fresh = {position for position, _, _ in self.recent}
        if self.length < decoder.sinks:
            self.first.append((self.length, k[0], v[0]))
        self.length += 1
        seen = [token for token in self.first if token[0] not in fresh] + list(self.recent)
        keys, values = (np.stack([token[part] for token in seen]) for part in (1, 2))
        scores = q @ keys.T / np.sqrt(q.shape[1])
        weights = np.exp(scores - scores.max())
        return decoder.project_out(weights @ values / weights.sum())

    def fork(self):
        branch = Streaming(self.decoder)
        branch.length, branch.first = self.length, list(self.first)
        branch.recent = self.recent.copy()
        return branch


start = Streaming
