"""torch.onnx.ops: rotary_embedding, and attention over past keys and values.

Driven are the rotation, heads and the cache, and of `is_causal` the causal mask. The adapter's
own are the angles, as cos and sin are inputs of rotary_embedding, and the mask of `masked`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
import torch.onnx.ops

from ..decoder import Decoder
from .operators import Array, Operators

# More threads wait for each other longer than such small rows take.
torch.set_num_threads(1)


def tensor(array: Array | None) -> torch.Tensor | None:
    """Return a tensor that has its own memory: rows may be read-only, and torch warns of it."""
    return None if array is None else torch.tensor(array)


class Torch(Operators):
    """The operators as torch runs them where it does not export them."""

    known_failures: ClassVar[dict[str, str]] = {
        "rows_of_a_width_that_is_no_multiple_are_refused": (
            "torch 2.13.0 returns one entry more than it is given for a head that is odd."
        ),
        "a_rotary_dim_that_does_not_fit_is_refused": (
            "torch 2.13.0 returns one entry more than it is given for an odd rotary_embedding_dim."
        ),
    }

    def __init__(self, layout: str, *, is_causal: bool, **declared: Any) -> None:
        super().__init__(layout, **declared)
        self.is_causal = is_causal

    def rotate(self, x: Array, cos: Array, sin: Array, ids: Array, **attributes: int) -> Array:
        """Return rotary_embedding of rows."""
        given = map(tensor, (x, cos, sin, ids))
        attributes["interleaved"] = bool(self.interleaved)
        with torch.inference_mode():
            return torch.onnx.ops.rotary_embedding(*given, **attributes).numpy()

    def mask(self, decoder: Decoder, first: int, end: int) -> Array | None:
        """Return the causal mask and that of a window, unless the operator makes one."""
        if self.is_causal:
            return None
        causal = np.tri(end - first, end, first, dtype=bool)
        window = super().mask(decoder, first, end)
        return causal if window is None else causal & window

    def attend(self, inputs: dict[str, Array | None], decoder: Decoder) -> list[Array]:
        """Return attention of q, k and v over past keys and values, and these with k and v."""
        heads = {"q_num_heads": decoder.heads, "kv_num_heads": decoder.kv_heads}
        given = map(tensor, inputs.values())
        with torch.inference_mode():
            y, keys, values, _ = torch.onnx.ops.attention(
                *given, is_causal=self.is_causal, **heads
            )
        return [y.numpy(), keys.numpy(), values.numpy()]


masked = Torch("half", is_causal=False, window=True, sinks=True)
masked_interleaved = Torch("interleaved", is_causal=False, window=True, sinks=True)
masked_interleaved.known_failures = {
    "a_rotary_dim_that_does_not_fit_is_refused": (
        "torch 2.13.0 takes a rotary_embedding_dim that is wider than the head."
    ),
}
# What sees one token at least from a warm cache.
TOP_LEFT = (
    "incremental_decoding_equals_the_full_forward", "long_histories_decode_like_short_ones",
    "large_scores_do_not_overflow", "each_output_depends_on_every_visible_token",
    "decoding_follows_the_base_of_its_decoder",
    "decoding_turns_the_rotary_part_of_a_head_alone",
    "each_query_head_attends_with_the_keys_of_its_group",
    "large_scores_of_one_head_leave_the_others_as_they_are",
    "any_chunks_give_what_the_whole_gives",
    "long_chunks_on_a_warm_cache_see_all_that_came_before",
    "sessions_of_one_decoder_do_not_see_each_other",
    "sessions_of_two_decoders_do_not_see_each_other",
    "after_a_crop_only_the_first_tokens_were_seen",
    "a_crop_below_0_or_beyond_the_tokens_is_refused",
    "a_fork_and_its_origin_go_their_own_ways", "after_a_reset_nothing_was_seen",
    "any_program_gives_what_its_tokens_give", "rows_that_were_fed_are_their_owners_again",
)  # fmt: skip
# It takes no mask beside is_causal, so no window.
is_causal = Torch("half", is_causal=True)
is_causal.known_failures = Torch.known_failures | dict.fromkeys(
    TOP_LEFT, "torch 2.13.0 aligns the causal mask top-left: after a past, token 0 alone is seen."
)
