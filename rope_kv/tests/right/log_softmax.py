"""Style: log-softmax on shifted scores; keys kept as two half-width planes, even and odd."""

import numpy as np


def rope_freqs(d, base=10000):
    return np.power(np.full(d // 2, base, dtype=np.float64), -np.arange(d // 2) / (d / 2))


def _planes(x, positions, base):
    """Rotate and return the even and the odd coordinates as two (T, d/2) arrays."""
    angle = np.asarray(positions, dtype=np.float64)[:, None] * rope_freqs(x.shape[1], base)
    even, odd = x[:, ::2], x[:, 1::2]
    c, s = np.cos(angle), np.sin(angle)
    return even * c - odd * s, even * s + odd * c


def apply_rope(x, positions, base=10000):
    even, odd = _planes(x, positions, base)
    out = np.empty(x.shape)
    out[:, ::2] = even
    out[:, 1::2] = odd
    return out


def decode_incremental(decoder, x_embedded):
    n, d = x_embedded.shape
    k_even, k_odd = np.empty((n, d // 2)), np.empty((n, d // 2))
    v_cache = np.empty((n, d))
    out = np.empty((n, d))
    for t in range(n):
        row = x_embedded[t : t + 1]
        q_even, q_odd = _planes(decoder.project_q(row), [t], decoder.base)
        k_even[t : t + 1], k_odd[t : t + 1] = _planes(decoder.project_k(row), [t], decoder.base)
        v_cache[t] = decoder.project_v(row)[0]
        live = slice(t + 1)
        logits = (k_even[live] @ q_even[0] + k_odd[live] @ q_odd[0]) / np.sqrt(d)
        shifted = logits - logits.max()
        log_probs = shifted - np.log(np.exp(shifted).sum())
        out[t] = decoder.project_out(np.exp(log_probs)[None] @ v_cache[live])[0]
    return out
