"""Incremental decoding with a KV cache: the reference, as a reader should learn it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import real_rows
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


class KVCache:
    """The rotated keys and the values of the tokens seen, and the position of each.

    A position is not a slot: it says when a token came, a slot only where its row is stored.
    The store doubles when it is full, so that appending T rows copies O(T) rows in all.
    """

    def __init__(self, width: int) -> None:
        self._length = 0
        self._keys = np.empty((4, width))
        self._values = np.empty((4, width))
        self._positions = np.empty(4, dtype=np.int64)

    def __len__(self) -> int:
        return self._length

    @property
    def keys(self) -> Array:
        """The rotated keys (n, D), oldest first."""
        return self._keys[: self._length]

    @property
    def values(self) -> Array:
        """The values (n, D), oldest first."""
        return self._values[: self._length]

    @property
    def positions(self) -> NDArray[np.int64]:
        """The absolute position (n,) at which each key was rotated."""
        return self._positions[: self._length]

    @property
    def next_position(self) -> int:
        """The position of the token that comes next: one after the newest, 0 at the start."""
        return int(self._positions[self._length - 1]) + 1 if self._length else 0

    def append(self, key: ArrayLike, value: ArrayLike, position: int) -> None:
        """Keep one token: its rotated key (D,), its value (D,) and its absolute position."""
        if self._length == len(self._positions):
            self._keys = _doubled(self._keys)
            self._values = _doubled(self._values)
            self._positions = _doubled(self._positions)
        self._keys[self._length] = key
        self._values[self._length] = value
        self._positions[self._length] = position
        self._length += 1


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


def _doubled(store: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([store, np.empty_like(store)])
