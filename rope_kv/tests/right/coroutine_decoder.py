"""Style: coroutine; the decoder is a generator that is sent one row and yields one output row."""

import numpy as np


def rope_freqs(d, base=10000):
    return np.array(list(_frequencies(d, base)), dtype=np.float64)


def _frequencies(d, base):
    for i in range(d // 2):
        yield base ** -(2 * i / d)


def apply_rope(x, positions, base=10000):
    freqs = rope_freqs(x.shape[1], base)
    rotated = np.zeros(x.shape, dtype=np.float64)
    for target, row, position in zip(rotated, x, positions, strict=True):
        angle = float(position) * freqs
        target[0::2] = row[0::2] * np.cos(angle) - row[1::2] * np.sin(angle)
        target[1::2] = row[0::2] * np.sin(angle) + row[1::2] * np.cos(angle)
    return rotated


def _decoding(decoder, d):
    """Prime with next(); then send (1, D) rows and receive (1, D) outputs."""
    keys = values = np.empty((0, d))
    output = None
    while True:
        row = yield output
        at = [len(keys)]
        q = apply_rope(decoder.project_q(row), at, decoder.base)
        keys = np.vstack([keys, apply_rope(decoder.project_k(row), at, decoder.base)])
        values = np.vstack([values, decoder.project_v(row)])
        scores = q @ keys.T / np.sqrt(d)
        weights = np.exp(scores - scores.max())
        output = decoder.project_out(weights / weights.sum() @ values)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    stepper = _decoding(decoder, d)
    next(stepper)
    out = np.zeros((n, d))
    for t in range(n):
        out[t] = stepper.send(x_embedded[t : t + 1])[0]
    stepper.close()
    return out
