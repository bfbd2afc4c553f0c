"""Style: rope_freqs hands out one shared immutable array, which sits on bytes and so is final."""

from functools import cache

import numpy as np


@cache
def _frozen_freqs(d, base):
    exponents = np.linspace(0.0, 1.0, d // 2, endpoint=False)
    return np.frombuffer((1.0 / base**exponents).tobytes(), dtype=np.float64)


def rope_freqs(d, base=10000):
    """Return the same read-only array for equal arguments; nobody can write to it."""
    return _frozen_freqs(d, float(base))


def apply_rope(x, positions, base=10000):
    angles = np.asarray(positions, dtype=np.float64).reshape(-1, 1) * rope_freqs(x.shape[1], base)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = x[:, ::2], x[:, 1::2]
    turned = np.stack((first * cos - second * sin, first * sin + second * cos), axis=-1)
    return turned.reshape(x.shape)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    past = ()  # an immutable cache: every step makes a longer tuple
    outputs = ()
    for t, token in enumerate(x_embedded):
        token = token[np.newaxis, :]
        q = apply_rope(decoder.project_q(token), [t], decoder.base)
        k = apply_rope(decoder.project_k(token), [t], decoder.base)
        past += ((k, decoder.project_v(token)),)
        logits = np.array([(q @ key.T).item() for key, _ in past]) / np.sqrt(d)
        weights = np.exp(logits - np.amax(logits))
        mixed = sum(w * value for w, (_, value) in zip(weights, past, strict=True)) / weights.sum()
        outputs += (decoder.project_out(mixed),)
    return np.array(outputs, dtype=np.float64).reshape(n, d)
