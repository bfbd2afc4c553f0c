"""Adjacent pairs as complex numbers, keys turned by conjugation; conversion by indexing."""

import numpy as np

capabilities = {
    "convert_layout": True,
    "rotary_dim": True,
    "sessions": True,
    "reset": True,
    "fork": True,
    "paths": ["relative_scores"],
}


def rope_freqs(d, base=10000):
    return np.exp(-np.arange(d // 2) * (2 * np.log(base) / d))


def convert_layout(x, source, target):
    d = np.shape(x)[1]
    halves = np.arange(d).reshape(2, d // 2).T.ravel()
    if source == target:
        order = np.arange(d)
    elif target == "interleaved":
        order = halves
    else:
        order = np.argsort(halves)
    return np.asarray(x)[:, order]


def apply_rope(x, positions, base=10000, rotary_dim=None):
    x = np.array(x, dtype=np.float64, order="C")
    d = x.shape[1] if rotary_dim is None else int(rotary_dim)
    if d < 2 or d % 2 or d > x.shape[1]:
        raise ValueError("no such part of a row")
    turned = np.ascontiguousarray(x[:, :d]).view(complex)
    freqs_cis = np.ones((len(x), d // 2)) * np.exp(
        1j * np.asarray(positions).reshape(-1, 1) * rope_freqs(d, base)
    )
    return np.concatenate([(turned * freqs_cis).view(float), x[:, d:]], axis=1)


class Session:
    def __init__(self, decoder):
        self.decoder = decoder
        self.cache = {}

    def feed(self, rows):
        decoder, position = self.decoder, len(self.cache)
        q, k, v = decoder.project_q(rows), decoder.project_k(rows), decoder.project_v(rows)
        q, k = (apply_rope(z, [position], decoder.base, decoder.rotary_dim) for z in (q, k))
        self.cache = {**self.cache, position: (k[0], v[0])}
        keys, values = map(np.array, zip(*self.cache.values(), strict=True))
        scores = np.inner(q, keys) / np.sqrt(q.shape[1])
        weights = np.exp(scores - np.max(scores))
        return decoder.project_out(weights @ values / np.sum(weights))

    def reset(self):
        self.cache = {}

    def fork(self):
        branch = Session(self.decoder)
        branch.cache = self.cache
        return branch


start = Session


def relative_scores(decoder, x):
    """All at once, each score by the distance alone: Re(q · conj(k) · exp(j·(m - n)·θ))."""
    q, k, v = decoder.project_q(x), decoder.project_k(x), decoder.project_v(x)
    r = decoder.rotary_dim or decoder.head_dim
    zq, zk = (z[:, 0:r:2] + 1j * z[:, 1:r:2] for z in (q, k))
    t = np.arange(len(x))
    turns = np.exp(1j * (t[:, None] - t)[..., None] * rope_freqs(r, decoder.base))
    scores = np.einsum("mi,ni,mni->mn", zq, zk.conj(), turns).real + q[:, r:] @ k[:, r:].T
    scores = np.where(t <= t[:, None], scores / np.sqrt(q.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return decoder.project_out(weights / weights.sum(axis=1, keepdims=True) @ v)
