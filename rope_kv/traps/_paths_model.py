"""A right solution with two more ways to the same outputs, from which traps differ by one slip."""

import numpy as np

capabilities = {"window": True, "paths": ["prefill", "prefill_then_decode"]}


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    angles = np.outer(positions, rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.keys = np.empty((0, decoder.width))
        self.values = np.empty((0, decoder.width))

    def feed(self, row):
        decoder, t = self.decoder, len(self.keys)
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        self.keys = np.concatenate([self.keys, k])
        self.values = np.concatenate([self.values, decoder.project_v(row)])
        first = 0 if decoder.window is None else max(0, t + 1 - decoder.window)
        scores = q @ self.keys[first:].T / np.sqrt(decoder.width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        return decoder.project_out(weights @ self.values[first:])


def start(decoder):
    return Session(decoder)


def prefill(decoder, x):
    return fill(Session(decoder), x)


def prefill_then_decode(decoder, x):
    session, half = Session(decoder), (len(x) + 1) // 2
    outputs = [fill(session, x[:half])]
    for t in range(half, len(x)):
        outputs.append(session.feed(x[t : t + 1]))
    return np.concatenate(outputs)


def fill(session, x):
    decoder, positions = session.decoder, np.arange(len(x))
    q = apply_rope(decoder.project_q(x), positions, decoder.base)
    session.keys = apply_rope(decoder.project_k(x), positions, decoder.base)
    session.values = decoder.project_v(x)
    scores = q @ session.keys.T / np.sqrt(decoder.width)
    back = positions[:, np.newaxis] - positions
    is_seen = back >= 0
    if decoder.window is not None:
        is_seen &= back < decoder.window
    scores = np.where(is_seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return decoder.project_out(weights @ session.values)
