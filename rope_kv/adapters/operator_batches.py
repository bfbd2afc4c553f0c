"""Attention of ONNX over ragged batches, padded on the left, as it is mostly run.

Driven are masks of pads beside the causal one, over past keys and values. The adapter's own are
the positions, which do not count the pads, and which slots the mask leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..decoder import Decoder
from .onnx import Models
from .onnxruntime import Standard
from .operators import Array, tables

SKIPPED = ("chunks", "crop", "fork", "reset", "length", "apply_rope", "decode_incremental")


def declared(layout: str) -> dict[str, Any]:
    """Return the capabilities of batches alone."""
    said = Models(layout, 23).capabilities | dict.fromkeys(SKIPPED, False)
    return said | {"batch": True, "reorder": True, "select": True}


class Batches:
    """Batches by the Attention of `library`; `is_row` masks keys for all queries at once."""

    known_failures: ClassVar[dict[str, str]] = {}

    def __init__(self, library: Models, layout: str, *, is_row: bool) -> None:
        self.library, self.is_row = library, is_row
        self.capabilities = declared(layout)

    def start_batch(self, decoder: Decoder, size: int) -> Batch:
        """Return a new batch."""
        return Batch(self, decoder, size)


class Batch:
    """Past keys and values of all sequences, with the pads, and which of them are tokens."""

    def __init__(self, batches: Batches, decoder: Decoder, size: int) -> None:
        self.batches, self.decoder = batches, decoder
        self.past = [np.zeros((size, decoder.kv_heads, 0, decoder.head_dim), np.float32)] * 2
        self.is_token = np.zeros((size, 0), bool)

    def feed(self, rows: Sequence[Array]) -> list[Array]:
        """Return the outputs of the next tokens of each sequence."""
        longest, decoder = max(map(len, rows)), self.decoder
        if not longest:
            return [own.astype(np.float32) for own in rows]
        pads = [longest - len(own) for own in rows]
        q, k, v = (
            np.stack([
                np.pad(np.float32(project(own)), ((count, 0), (0, 0)))
                for own, count in zip(rows, pads, strict=True)
            ])
            for project in (decoder.project_q, decoder.project_k, decoder.project_v)
        )  # fmt: skip
        is_new = np.arange(longest) >= np.array(pads)[:, np.newaxis]
        is_token = np.concatenate([self.is_token, is_new], axis=1)
        places = np.maximum(np.cumsum(is_token, axis=1) - 1, 0)[:, -longest:]
        q, k = (self.turned(part, places) for part in (q, k))
        mask = is_token[:, np.newaxis, np.newaxis]
        if not self.batches.is_row:
            mask = np.repeat(mask, longest, axis=2)
        past = {"past_keys": self.past[0], "past_values": self.past[1]}
        inputs = {"q": q, "k": k, "v": v, "mask": mask, **past}
        y, *self.past = self.batches.library.attend(inputs, decoder)
        self.is_token = is_token
        return [
            np.float32(decoder.project_out(outputs[count:]))
            for outputs, count in zip(y, pads, strict=True)
        ]

    def turned(self, x: Array, places: Array) -> Array:
        """Return heads (B, T, H·d), turned by their positions (B, T)."""
        decoder, end = self.decoder, max(places.max() + 1, places.shape[1])
        cos, sin = tables(range(end), decoder.rotary_dim or decoder.head_dim, decoder.base)
        part = {"rotary_embedding_dim": decoder.rotary_dim} if decoder.rotary_dim else {}
        heads = x.shape[2] // decoder.head_dim
        return self.batches.library.rotate(x, cos, sin, places, num_heads=heads, **part)

    def reorder(self, indices: Sequence[int]) -> None:
        """Go on from other histories."""
        self.past = [store[list(indices)] for store in self.past]
        self.is_token = self.is_token[list(indices)]

    select = reorder


reference = Batches(Models("half", 24), "half", is_row=False)
reference_row_mask = Batches(Models("half", 24), "half", is_row=True)
onnxruntime = Batches(Standard("half", 24), "half", is_row=False)
reference_row_mask.known_failures = dict.fromkeys(
    (
        "each_row_of_a_batch_is_that_sequence_alone", "reordered_rows_go_on_from_their_histories",
        "selected_rows_go_on_by_themselves", "any_program_of_a_batch_gives_what_its_rows_give",
    ),
    "onnx 1.23.2 makes the causal mask as high as the mask it is given, of one row for all.",
)  # fmt: skip
