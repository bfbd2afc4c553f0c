"""Style: newest token first; deque.appendleft, so the softmax sums from the present backwards."""

from collections import deque

import numpy as np


def rope_freqs(d, base=10000):
    half = d // 2
    return np.logspace(0.0, -2.0 * (half - 1) / d, half, base=float(base))


def apply_rope(x, positions, base=10000):
    n, d = x.shape
    angles = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(d, base)[None]
    swapped = x.reshape(n, d // 2, 2)[:, :, ::-1]  # (second, first)
    signed_sin = np.stack([-np.sin(angles), np.sin(angles)], axis=-1)
    turned = x.reshape(n, d // 2, 2) * np.cos(angles)[:, :, None] + swapped * signed_sin
    return turned.reshape(n, d)


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    cache = deque()
    done = []
    for t in range(n):
        row = x_embedded[t : t + 1]
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        v = decoder.project_v(row)
        cache.appendleft((k[0], v[0]))
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        keys, values = map(np.array, zip(*cache, strict=True))
        scores = (q @ keys.T)[0] / np.sqrt(d)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        done.append(decoder.project_out(weights[None] @ values)[0])
    return np.array(done, dtype=np.float64).reshape(n, d)
