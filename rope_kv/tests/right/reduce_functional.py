"""Style: functional; decoding is a fold (functools.reduce) over immutable state."""

from functools import reduce
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    keys: np.ndarray
    values: np.ndarray
    outputs: np.ndarray


def rope_freqs(d, base=10000):
    return np.array([float(base) ** (-2 * i / d) for i in range(d // 2)])


def apply_rope(x, positions, base=10000):
    freqs = rope_freqs(x.shape[1], base)

    def turn(row, position):
        pairs = row.astype(np.float64).reshape(-1, 2)
        cos, sin = np.cos(position * freqs), np.sin(position * freqs)
        first, second = pairs.T
        return np.ravel(np.column_stack((first * cos - second * sin, first * sin + second * cos)))

    return np.array(list(map(turn, x, positions)), dtype=np.float64).reshape(x.shape)


def _softmax(scores):
    weights = np.exp(scores - np.max(scores))
    return weights / np.sum(weights)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape

    def step(state, t):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), (t,), decoder.base)
        k = apply_rope(decoder.project_k(row), (t,), decoder.base)
        keys = np.concatenate((state.keys, k))
        values = np.concatenate((state.values, decoder.project_v(row)))
        attended = _softmax(q @ keys.T / np.sqrt(d)) @ values
        return State(keys, values, np.concatenate((state.outputs, decoder.project_out(attended))))

    empty = np.empty((0, d))
    return reduce(step, range(n), State(empty, empty, empty)).outputs
