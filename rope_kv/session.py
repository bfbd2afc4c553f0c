"""One generation with a KV cache: any chunk at a time, going back, branching off.

The exercise's `decode_incremental` is the simplest case of it: one head, one row at a time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import real_rows
from .attention import attend, visible
from .cache import KVCache, RingCache
from .rope import apply_rope
from .scaling import goes_by_length

if TYPE_CHECKING:
    from .decoder import Decoder

Array = NDArray[np.float64]
Turn = Callable[..., Array]


def start(decoder: Decoder, *, capacity: int | None = None, turn: Turn = apply_rope) -> Session:
    """Return a new session, which has seen no token.

    Parameters
    ----------
    decoder : Decoder
        Gives the projections, and what is done with them: heads, base, window and so on.
    capacity : int, optional
        How many tokens there is room for, from the start; more are refused. By default the store
        grows, or, where there is a window, it is a ring of that many.
    turn : function, optional
        What turns queries and keys, called as `apply_rope` is.

    """
    width = decoder.kv_heads * decoder.head_dim
    # What is turned by the length of the sequence is turned when it is read, so keys are kept as
    # they are, and all of them: a ring would do too, and is for keys that stay.
    if decoder.window is None or capacity is not None or goes_by_length(decoder.scaling):
        return Session(decoder, KVCache(width, capacity), turn)
    return Session(decoder, RingCache(width, decoder.window, decoder.sinks), turn)


def prefill(decoder: Decoder, x_embedded: ArrayLike) -> Array:
    """Return the outputs (T, D) of all tokens x_embedded (T, D), fed at once to a new session."""
    return start(decoder).feed(x_embedded)


class Session:
    """A KV cache and the position of the next token; see `start`."""

    def __init__(self, decoder: Decoder, cache: KVCache | RingCache, turn: Turn) -> None:
        self._decoder = decoder
        self._cache = cache
        self._turn = turn
        self._length = 0

    @property
    def length(self) -> int:
        """How many tokens were seen; that is the position of the next one."""
        return self._length

    def feed(self, rows: ArrayLike) -> Array:
        """Return the outputs (n, D) of the next tokens, rows (n, D), n from 0 up."""
        decoder = self._decoder
        rows = real_rows(rows, "rows", decoder.width)
        q, k, v = (
            project(rows) for project in (decoder.project_q, decoder.project_k, decoder.project_v)
        )
        positions = np.arange(self._length, self._length + len(rows))
        if goes_by_length(decoder.scaling):
            attended = self._attended_by_length(q, k, v, positions)
        else:
            q, k = self._turned(q, positions), self._turned(k, positions)
            attended = self._attended(q, k, v, positions)
        self._length += len(rows)
        return decoder.project_out(attended)

    def crop(self, length: int) -> None:
        """Forget everything after the first `length` tokens.

        ValueError where `length` is not from 0 to the number of tokens seen, or where a ring has
        overwritten what would be seen again; then the session stays as it is.
        """
        length = operator.index(length)
        if not 0 <= length <= self._length:
            raise ValueError(f"length must be from 0 to {self._length}, found {length}")
        self._cache.crop(length)
        self._length = length

    def reset(self) -> None:
        """Forget everything."""
        self.crop(0)

    def fork(self) -> Session:
        """Return a session that has seen the same tokens and shares nothing with this one."""
        branch = Session(self._decoder, self._cache.copy(), self._turn)
        branch._length = self._length
        return branch

    def fill_unused(self, value: float) -> None:
        """Write a number into every slot of the cache that holds no token."""
        self._cache.fill_unused(value)

    def _attended(self, q: Array, k: Array, v: Array, positions: NDArray[np.int64]) -> Array:
        """Return what the next tokens attend to (n, H·d), and keep them.

        What is kept comes first: in a ring, the last tokens of a long chunk take the slots of
        those that its first tokens still see.
        """
        decoder, cache = self._decoder, self._cache
        keys, values = (np.concatenate(both) for both in ((cache.keys, k), (cache.values, v)))
        places = np.concatenate([cache.positions, positions])
        cache.extend(k, v, positions)
        seen = visible(positions, places, decoder.window, decoder.sinks)
        attended = attend(self._heads(q), self._heads(keys), self._heads(values), seen)
        return attended.reshape(q.shape)

    def _attended_by_length(
        self, q: Array, k: Array, v: Array, positions: NDArray[np.int64]
    ) -> Array:
        """Return what the next tokens attend to, each turned by the length that it sees.

        All that a token sees is turned by the same frequencies, so keys are kept as projected.
        """
        decoder, cache = self._decoder, self._cache
        cache.extend(k, v, positions)
        attended = np.empty_like(q)
        for row, position in enumerate(positions):
            length = int(position) + 1
            turned_q = self._turned(q[row : row + 1], positions[row : row + 1], length=length)
            keys = self._turned(cache.keys[:length], cache.positions[:length], length=length)
            seen = visible(
                positions[row : row + 1], cache.positions[:length], decoder.window, decoder.sinks
            )
            by_head = attend(
                self._heads(turned_q), self._heads(keys), self._heads(cache.values[:length]), seen
            )
            attended[row] = by_head.ravel()
        return attended

    def _turned(self, rows: Array, positions: NDArray[np.int64], **more: Any) -> Array:
        """Return queries or keys (n, heads·d), turned to their positions, head by head."""
        decoder = self._decoder
        heads = rows.reshape(-1, decoder.head_dim)
        turned = self._turn(
            heads,
            np.repeat(positions, rows.shape[1] // decoder.head_dim),
            decoder.base,
            rotary_dim=decoder.rotary_dim,
            scaling={**decoder.scaling, **more} if decoder.scaling else None,
        )
        return turned.reshape(rows.shape)

    def _heads(self, rows: Array) -> Array:
        d = self._decoder.head_dim
        return rows.reshape(len(rows), rows.shape[1] // d, d)
