"""float32 rows come back as float64.

Misconception: An array is allocated as float64 unless another dtype is named.
Hint: Print the dtype of what comes back.
Seen in: huggingface/transformers #24262
Function: apply_rope
Model: float32
Shown by: rotation-returns-a-float64-array-like-x-8b3a1ef3.json
"""

import numpy as np

capabilities = {"dtype": "float32"}


def rope_freqs(d, base=10000):
    exponents = np.arange(0, d, 2, dtype=np.float32) / np.float32(d)
    return np.float32(1) / np.float32(base) ** exponents


def apply_rope(x, positions, base=10000):
    angles = np.outer(np.asarray(positions, dtype=np.float32), rope_freqs(x.shape[1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2].astype(np.float32), x[:, 1::2].astype(np.float32)
    rotated = np.empty(x.shape)
    rotated[:, 0::2] = even * cos - odd * sin
    rotated[:, 1::2] = even * sin + odd * cos
    return rotated


def decode_incremental(decoder, x_embedded):
    keys = np.empty((0, decoder.width), dtype=x_embedded.dtype)
    values = np.empty((0, decoder.width), dtype=x_embedded.dtype)
    outputs = []
    for t in range(len(x_embedded)):
        row = x_embedded[t : t + 1]
        q = apply_rope(decoder.project_q(row), [t], decoder.base)
        k = apply_rope(decoder.project_k(row), [t], decoder.base)
        keys = np.concatenate([keys, k])
        values = np.concatenate([values, decoder.project_v(row)])
        scores = q.astype(np.float32) @ keys.T.astype(np.float32) / np.sqrt(decoder.width)
        weights = np.exp(scores - scores.max())
        weights = weights / weights.sum()
        attended = (weights @ values).astype(values.dtype)
        outputs.append(decoder.project_out(attended))
    return np.concatenate(outputs)
