"""onnxruntime's GroupQueryAttention of ragged batches, whose chunks are padded on the right.

Driven are the lengths and pads of the operator; the adapter's own is to pad.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..decoder import Decoder
from .onnxruntime_group_query import GroupQuery, projected
from .operators import Array


class Batched(GroupQuery):
    """GroupQueryAttention of batches alone."""

    def __init__(self, layout: str) -> None:
        super().__init__(layout)
        sessions = (
            "chunks",
            "crop",
            "fork",
            "reset",
            "length",
            "apply_rope",
            "decode_incremental",
        )
        parts = {"batch": True, "reorder": True, "select": True}
        self.capabilities |= dict.fromkeys(sessions, False) | parts

    def start_batch(self, decoder: Decoder, size: int) -> Batch:
        """Return a new batch."""
        return Batch(self, decoder, size)


class Batch:
    """Sequences in one store, their chunks padded on the right with what must not be read."""

    def __init__(self, library: GroupQuery, decoder: Decoder, size: int) -> None:
        self.library, self.decoder = library, decoder
        self.lengths = np.zeros(size, np.int64)
        self.past = [np.zeros((size, decoder.kv_heads, 0, decoder.head_dim), np.float32)] * 2

    def feed(self, rows: Sequence[Array]) -> list[Array]:
        """Return the outputs of the next tokens of each sequence."""
        counts = np.array([len(own) for own in rows])
        parts = zip(*(projected(self.decoder, own) for own in rows), strict=True)
        seen = self.lengths + counts
        # The operator refuses a sequence of no token at all; there must be room for all pads.
        begun = np.flatnonzero(seen)
        if not counts.any():
            return [own.astype(np.float32) for own in rows]
        new = [padded(part, max(counts))[begun] for part in parts]
        past = [store[begun] for store in self.past]
        y, *stores = self.library.attended(self.decoder, new, past, seen[begun], counts[begun])
        self.lengths = seen
        self.past = [np.zeros((len(rows), *store.shape[1:]), np.float32) for store in stores]
        for kept, store in zip(self.past, stores, strict=True):
            kept[begun] = store
        out = [own[:0].astype(np.float32) for own in rows]
        for b, outputs in zip(begun, y, strict=True):
            out[b] = np.float32(self.decoder.project_out(outputs[: counts[b]]))
        return out

    def reorder(self, indices: Sequence[int]) -> None:
        """Go on from other histories."""
        self.lengths = self.lengths[list(indices)]
        self.past = [store[list(indices)] for store in self.past]

    select = reorder


def padded(sequences: Sequence[Array], length: int) -> Array:
    """Return sequences of one length, what is missing on the right not a number."""
    pads = [((0, length - len(own)), (0, 0)) for own in sequences]
    return np.stack([
        np.pad(own, pad, constant_values=np.nan) for own, pad in zip(sequences, pads, strict=True)
    ])  # fmt: skip


half = Batched("half")
interleaved = Batched("interleaved")
