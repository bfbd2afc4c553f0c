"""onnxruntime's GroupQueryAttention on a CPU, which rotates, caches and has a window by itself.

Driven are the rotation, heads, the causal mask, the window and the cache.
The adapter's own are the angles, and the store, of which the operator returns a new one.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..decoder import Decoder
from .onnxruntime import Standard
from .operators import Array, tables

INPUTS = ("q", "k", "v", "past_keys", "past_values", "last", "total", "cos", "sin")
NOT_GIVEN = ("position_ids", "bias", "sink", "k_scale", "v_scale", "q_norm", "k_norm")


class GroupQuery(Standard):
    """GroupQueryAttention; `apply_rope` is how it stores keys, which is from position 0 on."""

    known_failures: ClassVar[dict[str, str]] = {}

    def __init__(self, layout: str, **declared: Any) -> None:
        limits = {"positions": "from zero", "min_width": 16, "width_multiple": 16}
        super().__init__(layout, 24, **limits, window=True, **declared)

    def apply_rope(
        self, x: Array, positions: ArrayLike, base: float = 10000, *, rotary_dim: int | None = None
    ) -> Array:
        """Return rows as they are stored when they are keys."""
        if not np.array_equal(positions, np.arange(len(x))) or (rotary_dim or 0) % 2:
            raise ValueError("positions are from 0 on, and only pairs are turned")
        asked = {"base": base, "head_dim": x.shape[1], "rotary_dim": rotary_dim}
        decoder = SimpleNamespace(**asked, heads=1, kv_heads=1, window=None)
        rows = np.ascontiguousarray(x, np.float32)[np.newaxis]
        past = np.zeros((1, 1, 0, x.shape[1]), np.float32)
        return self.attended(decoder, [rows] * 3, [past] * 2, [len(x)])[1][0, 0]

    def attended(
        self,
        decoder: Any,
        new: list[Array],
        past: list[Array],
        seen: ArrayLike,
        fed: ArrayLike | None = None,
    ) -> list[Array]:
        """Return outputs, keys and values, of queries, keys and values on top of past ones.

        `seen` is the number of tokens of each sequence with those that are new; `fed` is how many
        these are, where some are pads.
        """
        last = np.int32(seen) - 1
        # With pads, a bound of what is seen: there must be room for all of them.
        room = max(seen) if fed is None else max(np.subtract(seen, fed)) + new[0].shape[1]
        total = np.int32([room])
        angles = tables(range(room), decoder.rotary_dim or decoder.head_dim, decoder.base)
        inputs = dict(zip(INPUTS, (*new, *past, last, total, *angles), strict=True))
        inputs |= dict.fromkeys(NOT_GIVEN) | {"fed": None if fed is None else np.int32(fed)}
        return self.run(
            "GroupQueryAttention", inputs, "y", "keys", "values", domain="com.microsoft",
            num_heads=decoder.heads, kv_num_heads=decoder.kv_heads, do_rotary=1,
            rotary_interleaved=self.interleaved, local_window_size=decoder.window or -1,
        )  # fmt: skip

    def start(self, decoder: Decoder, *, capacity: int | None = None) -> GroupSession:
        """Return a new session."""
        return GroupSession(self, decoder, capacity)


def projected(decoder: Decoder, rows: Array) -> list[Array]:
    """Return queries, keys and values of rows."""
    return [
        np.float32(project(rows))
        for project in (decoder.project_q, decoder.project_k, decoder.project_v)
    ]


class GroupSession:
    """One sequence; what is behind it in the store stays there, and must not be read."""

    def __init__(self, library: GroupQuery, decoder: Decoder, capacity: int | None = None) -> None:
        self.library, self.decoder, self.capacity = library, decoder, capacity
        self.length = 0
        store = np.zeros((1, decoder.kv_heads, capacity or 0, decoder.head_dim), np.float32)
        self.past = [store, store]

    def feed(self, rows: Array) -> Array:
        """Return the outputs of the next tokens."""
        seen = self.length + len(rows)
        self.expect_room(seen)
        if not len(rows):
            return rows.astype(np.float32)  # The operator is not for an empty sequence.
        new = [part[np.newaxis] for part in projected(self.decoder, rows)]
        past = self.past
        if self.capacity is None:  # The operator takes a store that is full, or of a fixed size.
            past = [store[:, :, : self.length] for store in past]
        y, *past = self.library.attended(self.decoder, new, past, [seen])
        out = np.float32(self.decoder.project_out(y[0]))
        self.length, self.past = seen, past
        return out

    def expect_room(self, seen: int) -> None:
        """Raise ValueError where there is no room for so many tokens."""
        if self.capacity is not None and seen > self.capacity:
            raise ValueError(f"there is room for {self.capacity} tokens")

    def crop(self, length: int) -> None:
        """Forget all tokens but the first."""
        if not 0 <= length <= self.length:
            raise ValueError(f"there are {self.length} tokens, found length {length}")
        self.length = length

    def reset(self) -> None:
        """Forget everything."""
        self.length = 0

    def fork(self) -> GroupSession:
        """Return a copy; the operator leaves its inputs as they are, so they may be shared."""
        other = type(self)(self.library, self.decoder, self.capacity)
        other.length, other.past = self.length, self.past
        return other

    def fill_unused(self, value: float) -> None:
        """Write a value into all slots that hold no token."""
        self.past = [store.copy() for store in self.past]
        for store in self.past:
            store[:, :, self.length :] = value


half = GroupQuery("half", capacity=True, fill_unused=True)
interleaved = GroupQuery("interleaved", capacity=True, fill_unused=True)
