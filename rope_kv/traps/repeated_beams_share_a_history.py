"""A history that is chosen twice is one list, to which both rows append.

Misconception: Copying the list of histories was thought to copy the histories.
Hint: Reorder to 0 0 and feed different tokens.
Seen in: constructed
Function: start_batch
Model: rows
Shown by: reordered-rows-go-on-from-their-histories-38b81135.json
"""

import numpy as np

capabilities = {"batch": True, "reorder": True, "select": True, "decode_incremental": False}


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


class Batch:
    def __init__(self, decoder, size):
        self.decoder = decoder
        self.histories = [[] for _ in range(size)]

    def feed(self, rows):
        outputs = [np.empty((len(x), self.decoder.width)) for x in rows]
        for b, history in enumerate(self.histories):
            for t, row in enumerate(rows[b]):
                outputs[b][t] = self.step(history, row[np.newaxis])
        return outputs

    def step(self, history, row):
        decoder, position = self.decoder, len(history)
        q = apply_rope(decoder.project_q(row), [position], decoder.base)
        k = apply_rope(decoder.project_k(row), [position], decoder.base)
        history.append((k[0], decoder.project_v(row)[0]))
        keys, values = map(np.array, zip(*history))
        scores = keys @ q[0] / np.sqrt(decoder.width)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        return decoder.project_out((weights @ values)[np.newaxis])[0]

    def reorder(self, indices):
        self.histories = [self.histories[index] for index in indices]

    def select(self, indices):
        self.reorder(indices)


def start_batch(decoder, size):
    return Batch(decoder, size)
