"""Slip: angles-memo-by-length, the angles are remembered by the number of rows, so new positions are ignored."""

import math

import numpy as np

_cos_sin = {}


def rope_freqs(d, base=10000):
    freqs = []
    for i in range(0, d, 2):
        freqs.append(math.pow(base, -i / d))
    return np.array(freqs)


def _tables(positions, d, base):
    pos = tuple(int(p) for p in positions)
    key = (len(pos), d, base)
    if key not in _cos_sin:
        angles = np.array([[p * f for f in rope_freqs(d, base)] for p in pos]).reshape(
            len(pos), -1
        )
        _cos_sin[key] = (np.cos(angles), np.sin(angles))
    return _cos_sin[key]


def apply_rope(x, positions, base=10000):
    cos, sin = _tables(positions, x.shape[1], base)
    even, odd = np.split(x.reshape(len(x), -1, 2), 2, axis=2)
    even, odd = even[:, :, 0], odd[:, :, 0]
    return np.dstack((even * cos - odd * sin, even * sin + odd * cos)).reshape(x.shape)


def decode_incremental(decoder, x_embedded):
    # the loop turns a key and its query by itself, pair by pair
    n, d = x_embedded.shape
    freqs = rope_freqs(d, decoder.base)
    keys, values, outs = [], [], []
    for t in range(n):
        row = x_embedded[t : t + 1]
        unit = np.exp(1j * t * freqs)
        q, k = decoder.project_q(row)[0], decoder.project_k(row)[0]
        q = (q[0::2] + 1j * q[1::2]) * unit
        keys.append((k[0::2] + 1j * k[1::2]) * unit)
        values.append(decoder.project_v(row)[0])
        scores = np.array([np.vdot(key, q).real for key in keys]) / math.sqrt(d)
        w = np.exp(scores - scores.max())
        outs.append(decoder.project_out((w / w.sum() @ np.array(values)).reshape(1, d)))
    return np.concatenate(outs)
