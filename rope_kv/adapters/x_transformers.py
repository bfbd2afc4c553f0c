"""x-transformers: one causal layer of `AttentionLayers`, and the cache that it returns.

What runs is the library's model loop: it counts positions, turns queries and keys, masks, and
keeps the keys and values, the keys unturned. The projections are the decoder's, there are no
norms, and what `project_out` said is returned, before the residual is added.
"""

from __future__ import annotations

import copy
import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from x_transformers.autoregressive_wrapper import modify_cached_kv
from x_transformers.x_transformers import AttentionLayers, RotaryEmbedding, apply_rotary_pos_emb

from .torch_calls import Asking, array, tensor

_VERSION = "(x-transformers 2.31.10)"
_SCALINGS = {"linear": "interpolation_factor", "ntk": "base_rescale_factor"}


def _embedding(d: int, base: float, scaling: Any) -> RotaryEmbedding:
    named = {_SCALINGS[scaling["rule"]]: scaling["factor"]} if scaling else {}
    return RotaryEmbedding(d, base=base, **named)


def rope_freqs(d: int, base: float = 10000, *, scaling: Any = None) -> NDArray[Any]:
    """Return the angles of position 1, which come twice each."""
    angles, _ = _embedding(d, base, scaling)(torch.ones(1))
    return array(angles[0, 0, ::2]).astype(np.float64)


def apply_rope(
    x: NDArray[Any], positions: ArrayLike, base: float = 10000, *,
    rotary_dim: int | None = None, scaling: Any = None, model: torch.dtype = torch.float32,
) -> NDArray[Any]:  # fmt: skip
    """Turn rows as a head is turned, in a model that was converted to a dtype."""
    embedding = _embedding(rotary_dim or x.shape[1], base, scaling).to(model)
    angles, scale = embedding(tensor(np.asarray(positions, dtype=np.int64)))
    return array(apply_rotary_pos_emb(tensor(x)[None, None], angles, scale)[0, 0])


class Session:
    """A layer, its last module, and the cache that it returned last."""

    def __init__(self, layers: AttentionLayers, to_out: Asking, cache: Any = None) -> None:
        self._layers, self._to_out, self._cache = layers, to_out, cache

    @property
    def length(self) -> int:
        """How many tokens the cache says it has."""
        return self._cache.cache_length if self._cache else 0

    @torch.inference_mode()
    def feed(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the outputs of the next tokens."""
        if not len(rows):
            return rows.copy()  # The library raises: no tokens have no last position.
        # Where there is a cache, a layer takes the last `cache_age` rows alone, 1 by default.
        named = {"cache": self._cache, "cache_age": len(rows), "return_hiddens": True}
        _, self._cache = self._layers(tensor(rows)[None], **named)
        return np.array(self._to_out.answered)

    def crop(self, length: int) -> None:
        """Forget all tokens but the first, by what the library itself cuts a cache with."""
        if not 0 <= length <= self.length:
            raise ValueError(f"there are {self.length} tokens, not {length}")
        if self._cache:
            modify_cached_kv(self._cache, lambda kept: kept[..., :length, :])
            self._cache.cache_length = length

    def reset(self) -> None:
        """Forget everything."""
        self._cache = None

    def fork(self) -> Session:
        """Return a session of the same layer, with a cache copied as the library copies one."""
        return Session(self._layers, self._to_out, copy.copy(self._cache))


def _swapped(rows: NDArray[Any], first: int, second: int) -> NDArray[Any]:
    """Return rows of first x second heads with the heads in the order second x first."""
    return rows.reshape(len(rows), first, second, -1).swapaxes(1, 2).reshape(rows.shape)


def layers_of(
    decoder: Any, *, flash: bool = False, in_groups: bool = True
) -> tuple[AttentionLayers, Asking]:
    """Return a new layer, with its own softmax or, for `flash`, that of torch, and its `to_out`.

    Query head h of the library attends to key head h mod G. To have it attend to h // (H/G), as
    in other libraries, the adapter exchanges the query heads before, and those of the outputs
    after: weights that were trained here differ from theirs in that order.
    """
    turned = decoder.rotary_dim or decoder.head_dim
    layers = AttentionLayers(
        dim=decoder.width, depth=1, only_attn=True, causal=True, verbose=False, attn_flash=flash,
        heads=decoder.heads, attn_kv_heads=decoder.kv_heads, attn_dim_head=decoder.head_dim,
        # It counts what is seen besides the own token.
        attn_max_attend_past=None if decoder.window is None else decoder.window - 1,
        rotary_pos_emb=True, rotary_emb_dim=turned,
    ).eval()  # fmt: skip
    # A layer has no argument for the base.
    layers.rotary_pos_emb = _embedding(turned, decoder.base, decoder.scaling)
    (norms, attend, _), groups = layers.layers[0], decoder.kv_heads if in_groups else 1
    shared = decoder.heads // groups
    norms[0] = layers.final_norm = torch.nn.Identity()
    attend.to_q = Asking(lambda rows: _swapped(decoder.project_q(rows), groups, shared))
    attend.to_k, attend.to_v = Asking(decoder.project_k), Asking(decoder.project_v)
    attend.to_out = Asking(lambda rows: decoder.project_out(_swapped(rows, shared, groups)))
    return layers, attend.to_out


def start(decoder: Any, **named: bool) -> Session:
    """Start a session of a new layer."""
    return Session(*layers_of(decoder, **named))


attention = SimpleNamespace(
    rope_freqs=rope_freqs, apply_rope=apply_rope, start=start,
    capabilities={
        "dtype": "float32", "min_width": 4, "rotary_dim": True, "scaling": [*_SCALINGS],
        "chunks": True, "crop": True, "fork": True, "reset": True, "length": True,
        "heads": True, "window": True,
    },
    known_failures={
        "a_rotary_dim_that_does_not_fit_is_refused": f"an odd dim is rounded up {_VERSION}",
    },
)  # fmt: skip
flash_attention = SimpleNamespace(
    start=functools.partial(start, flash=True),
    capabilities=attention.capabilities | {"rope_freqs": False, "apply_rope": False},
)
# As `layers.bfloat16()` leaves it; the rows of a model in float32 may be bfloat16 as well.
bfloat16_model = SimpleNamespace(
    apply_rope=functools.partial(apply_rope, model=torch.bfloat16),
    capabilities={
        "dtype": "bfloat16", "min_width": 4, "rope_freqs": False, "decode_incremental": False,
    },
    known_failures=dict.fromkeys(
        [
            "each_adjacent_pair_turns_by_its_own_angle",
            "turning_by_a_then_by_b_is_turning_by_their_sum",
            "scores_depend_on_relative_position_alone",
            "angles_keep_their_digits_where_16_bits_run_out",
            "far_positions_turn_as_exactly_as_near_ones",
            "long_inputs_turn_row_by_row_like_short_ones",
            "negative_positions_turn_the_other_way",
        ],
        f"positions and angles are rounded to the dtype of the model {_VERSION}",
    ),
)  # fmt: skip
_IN_TURN = f"query head h attends to key head h mod G, not h // (H/G) {_VERSION}"
heads_in_turn = SimpleNamespace(
    start=functools.partial(start, in_groups=False),
    capabilities={
        "dtype": "float32", "min_width": 4, "heads": True,
        "rope_freqs": False, "apply_rope": False,
    },
    known_failures=dict.fromkeys(
        [
            "each_query_head_attends_with_the_keys_of_its_group",
            "large_scores_of_one_head_leave_the_others_as_they_are",
            "grouped_heads_equal_heads_whose_keys_are_repeated",
            "sessions_of_one_decoder_do_not_see_each_other",
            "sessions_of_two_decoders_do_not_see_each_other",
            "any_program_gives_what_its_tokens_give",
        ],
        _IN_TURN,
    ),
)  # fmt: skip
