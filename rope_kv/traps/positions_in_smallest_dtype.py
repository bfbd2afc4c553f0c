"""The positions are stored in the smallest type that holds the largest of them.

Misconception: The largest position is the one that needs the most bits.
Hint: Which positions of the contract does the choice of the type not look at?
Seen in: constructed
Function: apply_rope
Shown by: negative-positions-turn-the-other-way-4646b49e.json
"""

import numpy as np


def rope_freqs(d, base=10000):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    positions = np.asarray(positions)
    fits = [t for t in (np.int8, np.int16, np.int32) if positions.max() <= np.iinfo(t).max]
    angles = np.outer(positions.astype(fits[0]), rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    rotated = np.empty_like(x)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated


def decode_incremental(decoder, x_embedded):
    x_embedded = np.asarray(x_embedded, dtype=np.float64)
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
