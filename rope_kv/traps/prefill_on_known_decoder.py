"""A decoder that was used before projects all rows of the next sequence in one call.

Misconception: The second sequence is a prefill of known text, and a prefill may be done at once.
Hint: What shape does project_k see in the second call with one decoder?
Seen in: constructed
Function: decode_incremental
Shown by: later-decodes-are-projected-row-by-row-as-well-79c92727.json
"""

import weakref

import numpy as np

_used = weakref.WeakSet()


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


def _at_once(decoder, x):
    places = range(len(x))
    q = apply_rope(decoder.project_q(x), places, decoder.base)
    k = apply_rope(decoder.project_k(x), places, decoder.base)
    scores = np.where(np.tri(len(x)) > 0, q @ k.T / np.sqrt(x.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return decoder.project_out(weights @ decoder.project_v(x))


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded, dtype=np.float64)
    if decoder in _used:
        return _at_once(decoder, x_embedded)
    _used.add(decoder)
    width = x_embedded.shape[1]
    keys, values, outputs = [], [], []
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        v = decoder.project_v(row)
        keys.append(k[0])
        values.append(v[0])
        scores = np.array(keys) @ q[0] / np.sqrt(width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = weights @ np.array(values)
        outputs.append(decoder.project_out(attended[np.newaxis]))
    return np.concatenate(outputs)
