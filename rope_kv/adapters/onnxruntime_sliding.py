"""onnxruntime's GroupQueryAttention over a store that keeps a window, and drops what is older.

Driven is what the operator keeps and drops; the adapter's own is which crops it refuses, by the
rule that the operator is documented with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..decoder import Decoder
from .onnxruntime_batches import Batch, Batched
from .onnxruntime_group_query import GroupQuery, GroupSession
from .operators import Array

SLACK = 2  # Slots beyond the window, so that not every token moves all that is kept.


class Evicting(GroupQuery):
    """GroupQueryAttention with `sliding_window_cache`, where there is a window."""

    def run(
        self, operator: str, inputs: dict[str, Any], *outputs: str, **attributes: Any
    ) -> list[Array]:
        """Return the outputs of one operator."""
        if attributes.get("local_window_size", -1) > 0:
            attributes["sliding_window_cache"] = 1
        return super().run(operator, inputs, *outputs, **attributes)


class SlidingBatches(Evicting, Batched):
    """Batches of such stores, each sequence of which drops what is old to itself."""

    def start_batch(self, decoder: Decoder, size: int) -> Batch:
        """Return a new batch."""
        batch = Batch(self, decoder, size)
        if decoder.window is not None:
            slots = decoder.window + SLACK
            shape = size, decoder.kv_heads, slots, decoder.head_dim
            batch.past = [np.zeros(shape, np.float32)] * 2
        return batch


class Sliding(Evicting):
    """Sessions of such stores."""

    def start(self, decoder: Decoder, *, capacity: int | None = None) -> GroupSession:
        """Return a new session."""
        if decoder.window is None:
            return GroupSession(self, decoder)
        return SlidingSession(self, decoder, decoder.window + SLACK)


class SlidingSession(GroupSession):
    """A store of a window and some slots."""

    def expect_room(self, seen: int) -> None:
        """There is always room, as old tokens are dropped."""

    def kept(self, length: int) -> int:
        """Return how many tokens are kept of so many; see "Windowed KV Cache" of the operator."""
        over = max(0, length - self.capacity)
        return length - (SLACK + 1) * -(-over // (SLACK + 1))

    def crop(self, length: int) -> None:
        """Forget all tokens but the first, where what they see is there."""
        dropped = self.length - self.kept(self.length)
        if 0 < length < self.length and length - self.kept(length) != dropped:
            raise ValueError("what these tokens see was dropped")
        super().crop(length)


half = Sliding("half")
interleaved = Sliding("interleaved")
batches = SlidingBatches("half")
