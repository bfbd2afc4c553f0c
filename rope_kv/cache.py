"""Stores of rotated keys and of values: one that grows, and a ring that keeps a window.

A position is not a slot: it says when a token came, a slot only where its row is stored.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class KVCache:
    """The rotated keys and the values of the tokens seen, and the position of each.

    Parameters
    ----------
    width : int
        How many numbers a key has, and a value.
    capacity : int, optional
        How many tokens there is room for; more are refused. By default the store doubles when it
        is full, so that appending T rows copies O(T) rows in all.

    """

    def __init__(self, width: int, capacity: int | None = None) -> None:
        self.capacity = capacity
        room = 4 if capacity is None else capacity
        self._length = 0
        self._keys = np.empty((room, width))
        self._values = np.empty((room, width))
        self._positions = np.empty(room, dtype=np.int64)

    def __len__(self) -> int:
        return self._length

    @property
    def keys(self) -> Array:
        """The rotated keys (n, width), oldest first."""
        return self._keys[: self._length]

    @property
    def values(self) -> Array:
        """The values (n, width), oldest first."""
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
        """Keep one token: its rotated key (width,), its value (width,), its absolute position."""
        if self._length == len(self._positions):
            self._grow(self._length + 1)
        self._keys[self._length] = key
        self._values[self._length] = value
        self._positions[self._length] = position
        self._length += 1

    def extend(self, keys: Array, values: Array, positions: NDArray[np.int64]) -> None:
        """Keep some tokens: keys (n, width), values (n, width) and positions (n,).

        ValueError where there is no room for them; then none is kept.
        """
        end = self._length + len(positions)
        if end > len(self._positions):
            self._grow(end)
        self._keys[self._length : end] = keys
        self._values[self._length : end] = values
        self._positions[self._length : end] = positions
        self._length = end

    def crop(self, length: int) -> None:
        """Forget everything after the first `length` tokens."""
        self._length = length

    def copy(self) -> KVCache:
        """Return a cache of the same tokens that shares nothing with this one."""
        return copy.deepcopy(self)

    def fill_unused(self, value: float) -> None:
        """Write a number into every slot that holds no token; none of them may ever be read."""
        self._keys[self._length :] = value
        self._values[self._length :] = value

    def _grow(self, least: int) -> None:
        if self.capacity is not None:
            raise ValueError(f"the cache has room for {self.capacity} tokens, not for {least}")
        room = max(2 * len(self._positions), least)
        self._keys = _enlarged(self._keys, room)
        self._values = _enlarged(self._values, room)
        self._positions = _enlarged(self._positions, room)


class RingCache:
    """The last `window` tokens, in a ring, and the first `sinks`, which stay.

    The token at position p has slot p where it is a sink, else sinks + (p - sinks) mod window.

    Parameters
    ----------
    width : int
        How many numbers a key has, and a value.
    window, sinks : int
        How many tokens are kept.

    """

    def __init__(self, width: int, window: int, sinks: int) -> None:
        self.window = window
        self.sinks = sinks
        self._keys = np.empty((sinks + window, width))
        self._values = np.empty((sinks + window, width))
        self._positions = np.full(sinks + window, -1)

    def __len__(self) -> int:
        return int(np.count_nonzero(self._used))

    @property
    def keys(self) -> Array:
        """The rotated keys (n, width), by slot."""
        return self._keys[self._used]

    @property
    def values(self) -> Array:
        """The values (n, width), by slot."""
        return self._values[self._used]

    @property
    def positions(self) -> NDArray[np.int64]:
        """The absolute position (n,) at which each key was rotated, by slot."""
        return self._positions[self._used]

    def extend(self, keys: Array, values: Array, positions: NDArray[np.int64]) -> None:
        """Keep of some tokens, and of those before, the sinks and the last `window`."""
        stay = positions < self.sinks
        stay[-self.window :] = True
        kept = positions[stay]
        slots = np.where(kept < self.sinks, kept, self.sinks + (kept - self.sinks) % self.window)
        self._keys[slots] = keys[stay]
        self._values[slots] = values[stay]
        self._positions[slots] = kept

    def crop(self, length: int) -> None:
        """Forget everything after the first `length` tokens.

        ValueError where the next token would see one that is no longer here; then nothing changes.
        """
        seen_next = range(max(self.sinks, length - self.window + 1), length)
        if not set(seen_next) <= set(self._positions):
            raise ValueError(
                f"cannot go back to {length} tokens: some of those before are overwritten, "
                f"since only the last {self.window} are kept"
            )
        self._positions[self._positions >= length] = -1

    def copy(self) -> RingCache:
        """Return a cache of the same tokens that shares nothing with this one."""
        return copy.deepcopy(self)

    def fill_unused(self, value: float) -> None:
        """Write a number into every slot that holds no token; none of them may ever be read."""
        self._keys[~self._used] = value
        self._values[~self._used] = value

    @property
    def _used(self) -> NDArray[np.bool_]:
        return self._positions >= 0


def _enlarged(store: NDArray[Any], room: int) -> NDArray[Any]:
    larger = np.empty((room, *store.shape[1:]), store.dtype)
    larger[: len(store)] = store
    return larger
