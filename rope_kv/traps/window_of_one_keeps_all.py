"""The last W - 1 tokens are sliced off the end, which is all of them where W is 1.

Misconception: A slice from -0 on is empty.
Hint: With a window of 1, how many keys are there after the third token?
Seen in: huggingface/transformers, DynamicSlidingWindowLayer.update
Function: start
Model: narrow
Shown by: a-window-below-the-least-is-refused-or-right-f32a3442.json
"""

import numpy as np

capabilities = {"sessions": True, "window": True, "min_window": 2}


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


def start(decoder):
    return Session(decoder)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.position = 0
        self.keys, self.values = [], []

    def feed(self, rows):
        decoder, window = self.decoder, self.decoder.window
        positions = [self.position]
        q = apply_rope(decoder.project_q(rows), positions, decoder.base)
        self.keys.extend(apply_rope(decoder.project_k(rows), positions, decoder.base))
        self.values.extend(decoder.project_v(rows))
        self.position += 1
        attended = self.attend(q)
        if window is not None:
            self.keys, self.values = self.keys[1 - window :], self.values[1 - window :]
        return decoder.project_out(attended)

    def attend(self, q):
        scores = q @ np.transpose(self.keys) / np.sqrt(q.shape[1])
        weights = np.exp(scores - scores.max())
        return weights / weights.sum() @ np.array(self.values)
