"""Style: pages of 64 positions made on demand, in a bounded module-level dictionary."""

import math

import numpy as np

_PAGE = 64
_MAX_PAGES = 512
_pages = {}


def rope_freqs(d, base=10000):
    log_base = math.log2(base)
    return np.exp2(-log_base * np.arange(0, d, 2) / d)


def _page(number, d, base):
    """Read-only (cos, sin) of positions number * _PAGE ... ; number may be negative."""
    key = (number, d, base)
    if key not in _pages:
        if len(_pages) >= _MAX_PAGES:
            _pages.clear()
        positions = np.arange(number * _PAGE, (number + 1) * _PAGE)
        angles = positions[:, None] * rope_freqs(d, base)
        cos, sin = np.cos(angles), np.sin(angles)
        cos.setflags(write=False)
        sin.setflags(write=False)
        _pages[key] = cos, sin
    return _pages[key]


def apply_rope(x, positions, base=10000):
    d = x.shape[1]
    out = np.array(x, dtype=np.float64)
    for row, position in zip(out, positions, strict=True):
        number, offset = divmod(int(position), _PAGE)
        cos, sin = _page(number, d, float(base))
        even, odd = row[0::2].copy(), row[1::2].copy()
        row[0::2] = even * cos[offset] - odd * sin[offset]
        row[1::2] = even * sin[offset] + odd * cos[offset]
    return out


def decode_incremental(decoder, x_embedded):
    steps, dim = x_embedded.shape
    pages_k, pages_v = [], []  # the cache is paged as well
    out = np.empty((steps, dim))
    for t in range(steps):
        if t % _PAGE == 0:
            pages_k.append(np.zeros((_PAGE, dim)))
            pages_v.append(np.zeros((_PAGE, dim)))
        token = x_embedded[[t]]
        pages_v[-1][t % _PAGE] = decoder.project_v(token)[0]
        pages_k[-1][t % _PAGE] = apply_rope(decoder.project_k(token), [t], decoder.base)[0]
        q = apply_rope(decoder.project_q(token), [t], decoder.base)[0]
        scores = np.concatenate([page @ q for page in pages_k])[: t + 1] / math.sqrt(dim)
        weights = np.zeros(len(pages_k) * _PAGE)
        weights[: t + 1] = np.exp(scores - scores.max())
        weights /= weights.sum()
        attended = np.zeros((1, dim))
        for part, page in zip(np.split(weights, len(pages_v)), pages_v, strict=True):
            attended += part @ page
        out[t : t + 1] = decoder.project_out(attended)
    return out
