"""Style: probabilities as exp(score - logsumexp(scores)), with numpy.logaddexp doing the sum."""

import numpy as np


def rope_freqs(d, base=10000):
    return np.exp2(np.log2(float(base)) * (np.arange(0, -d, -2) / d))


def apply_rope(x, positions, base=10000):
    x = np.asarray(x, dtype=np.float64)
    theta = np.einsum("t,f->tf", np.asarray(positions, dtype=float), rope_freqs(x.shape[1], base))
    rotated = np.empty_like(x)
    np.subtract(x[:, ::2] * np.cos(theta), x[:, 1::2] * np.sin(theta), out=rotated[:, ::2])
    np.add(x[:, ::2] * np.sin(theta), x[:, 1::2] * np.cos(theta), out=rotated[:, 1::2])
    return rotated


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    keys, values, rows = [], [], []
    for t in range(n):
        token = x_embedded[t : t + 1]
        query = apply_rope(decoder.project_q(token), [t], decoder.base)
        keys.append(apply_rope(decoder.project_k(token), [t], decoder.base))
        values.append(decoder.project_v(token))
        scores = (query @ np.concatenate(keys).T) / np.sqrt(d)
        log_z = np.logaddexp.reduce(scores, axis=1, keepdims=True)
        rows.append(np.exp(scores - log_z) @ np.concatenate(values))
    return np.array(decoder.project_out(np.array(rows).reshape(n, d)))
