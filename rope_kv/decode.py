"""Incremental decoding with a KV cache: the reference, as a reader should learn it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import real_rows
from .cache import KVCache
from .rope import apply_rope

Array = NDArray[np.float64]


class SupportsDecoding(Protocol):
    """What a decode loop uses of its decoder: the base, and projections of rows (n, D)."""

    base: float

    def project_q(self, rows: ArrayLike, /) -> Array:
        """Return queries (n, D)."""

    def project_k(self, rows: ArrayLike, /) -> Array:
        """Return keys (n, D)."""

    def project_v(self, rows: ArrayLike, /) -> Array:
        """Return values (n, D)."""

    def project_out(self, rows: ArrayLike, /) -> Array:
        """Return outputs (n, D)."""


def attend(q: Array, cache: KVCache) -> Array:
    """Return softmax(q·keys / √D)·values (1, D), for one query q (1, D) over a whole cache."""
    scores = q @ cache.keys.T / np.sqrt(q.shape[1])
    # Softmax is unchanged by a shift of all scores, and exp of the largest must not overflow.
    weights: Array = np.exp(scores - scores.max())
    attended: Array = (weights / weights.sum()) @ cache.values
    return attended


def decode_incremental(decoder: SupportsDecoding, x_embedded: ArrayLike) -> Array:
    """Return the attention output of each token, computed one token at a time.

    Parameters
    ----------
    decoder : Decoder
        Gives `base` and the projections; each is called once a step, with rows (1, D).
    x_embedded : real array (T, D), D even
        One row a token; it is not changed.

    Returns
    -------
    float64 array (T, D): row t is what `decoder.forward_full(x_embedded)` has in row t.

    Raises
    ------
    TypeError, ValueError
        Where `x_embedded` is not a 2-D array of real numbers of the decoder's width.

    """
    x = real_rows(x_embedded, "x_embedded")
    cache = KVCache(x.shape[1])
    outputs = np.empty(x.shape)
    for t in range(len(x)):
        row, position = x[t : t + 1], cache.next_position
        q = apply_rope(decoder.project_q(row), [position], decoder.base)
        k = apply_rope(decoder.project_k(row), [position], decoder.base)
        v = decoder.project_v(row)
        cache.append(k[0], v[0], position)
        outputs[t] = decoder.project_out(attend(q, cache))[0]
    return outputs
