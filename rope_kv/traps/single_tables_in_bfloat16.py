"""cos and sin are stored in bfloat16 though the rows have float32.

Misconception: The tables take less memory, and no entry is off by more than 2e-3.
Hint: How many digits does a product have whose factor has eight bits?
Seen in: KellerJordan/modded-nanogpt #39
Function: apply_rope
Model: float32
Shown by: angles-keep-their-digits-where-16-bits-run-out-2ceed066.json
"""

import numpy as np

capabilities = {"dtype": "float32"}


def rope_freqs(d, base=10000):
    exponents = np.arange(0, d, 2, dtype=np.float32) / np.float32(d)
    return np.float32(1) / np.float32(base) ** exponents


def bfloat16(x):
    return (x.view(np.uint32) + 0x8000 & 0xFFFF0000).view(np.float32)


def apply_rope(x, positions, base=10000):
    angles = np.outer(np.asarray(positions, dtype=np.float32), rope_freqs(x.shape[1], base))
    cos, sin = bfloat16(np.cos(angles)), bfloat16(np.sin(angles))
    even, odd = x[:, 0::2].astype(np.float32), x[:, 1::2].astype(np.float32)
    rotated = np.empty(x.shape, dtype=x.dtype)
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
