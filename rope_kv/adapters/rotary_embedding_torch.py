"""rotary-embedding-torch: its frequencies, the angles that it remembers, and its rotation.

The library has no attention: in `with_cached_keys` that is torch's, and the keys, of which the
library is given all, unturned, at every step, are kept by the adapter, as its README describes.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb
from torch.nn.functional import scaled_dot_product_attention

from .torch_calls import array, tensor

_SCALINGS = {"linear": "interpolate_factor", "ntk": "theta_rescale_factor"}


# A module remembers angles, so it is kept: what one call leaves behind is seen by the next.
@functools.lru_cache(maxsize=64)
def _kept(d: int, base: float, **scaled: float) -> RotaryEmbedding:
    return RotaryEmbedding(d, theta=base, **scaled)


def _module(d: int, base: float, scaling: Any) -> RotaryEmbedding:
    return _kept(d, base, **({_SCALINGS[scaling["rule"]]: scaling["factor"]} if scaling else {}))


def _by_positions(module: RotaryEmbedding, x: torch.Tensor, positions: Any) -> torch.Tensor:
    """Turn rows by the angles that a module gives for any positions; it remembers none of them."""
    return apply_rotary_emb(module(tensor(positions)), x)


def _by_offset(module: RotaryEmbedding, x: torch.Tensor, positions: Any) -> torch.Tensor:
    """Turn rows by the angles that a module remembers, from an offset on."""
    # The library can be told no other positions, so it is the adapter that must refuse them.
    if positions[0] < 0 or not np.array_equal(positions, positions[0] + np.arange(len(x))):
        raise ValueError("the positions must be a run p, p + 1, ..., with p at least 0")
    return module.rotate_queries_or_keys(x[None, None], offset=int(positions[0]))[0, 0]


class Rotation:
    """Rows that are turned by one of the two functions above."""

    def __init__(self, turned: Any, known_failures: dict[str, str], **declared: Any) -> None:
        self._turned = turned
        self.known_failures = known_failures
        self.capabilities = {
            "dtype": "float32", "min_width": 4, "rotary_dim": True, "scaling": [*_SCALINGS],
            "decode_incremental": False, **declared,
        }  # fmt: skip

    def rope_freqs(self, d: int, base: float = 10000, *, scaling: Any = None) -> NDArray[Any]:
        """Return the angles of position 1, which come twice each."""
        module = _module(d, base, scaling)
        return array(module(module.get_seq_pos(1, offset=1))[0, ::2]).astype(np.float64)

    def apply_rope(
        self, x: NDArray[Any], positions: ArrayLike, base: float = 10000, *,
        rotary_dim: int | None = None, scaling: Any = None,
    ) -> NDArray[Any]:  # fmt: skip
        """Turn rows by their positions."""
        module = _module(rotary_dim or x.shape[1], base, scaling)
        return array(self._turned(module, tensor(x), np.asarray(positions, dtype=np.int64)))


class Session:
    """The keys, unturned, and values (heads, tokens, d) that were seen."""

    def __init__(self, decoder: Any) -> None:
        self._decoder, d = decoder, decoder.head_dim
        self._module = _module(decoder.rotary_dim or d, decoder.base, decoder.scaling)
        self._keys = self._values = torch.zeros(decoder.kv_heads, 0, d)

    def feed(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the outputs of the next tokens."""
        q, k, v = (self._heads(getattr(self._decoder, f"project_{name}")(rows)) for name in "qkv")
        self._keys, self._values = torch.cat([self._keys, k], 1), torch.cat([self._values, v], 1)
        q, k = self._module.rotate_queries_with_cached_keys(q[None], self._keys[None])
        seen = torch.ones(len(rows), k.shape[2], dtype=torch.bool).tril(k.shape[2] - len(rows))
        values = self._values[None]
        out = scaled_dot_product_attention(q, k, values, attn_mask=seen, enable_gqa=True)
        return np.asarray(self._decoder.project_out(array(out[0].transpose(0, 1).flatten(1))))

    def _heads(self, rows: NDArray[Any]) -> torch.Tensor:
        d = self._decoder.head_dim
        return tensor(rows).reshape(len(rows), rows.shape[1] // d, d).transpose(0, 1)


_VERSION = "(rotary-embedding-torch 0.9.1)"
_ODD = f"an odd width is rounded down, and refused at offset 0 alone {_VERSION}"
_ODD_WIDTHS = {
    "rows_below_the_least_width_are_refused": _ODD,
    "a_rotary_dim_that_does_not_fit_is_refused": _ODD,
}
_NO_FACTOR = f"forward gives angles that interpolate_factor does not divide {_VERSION}"
_COARSE = f"positions are rounded to the dtype of the rows {_VERSION}"
_COARSE_POSITIONS = dict.fromkeys(
    [
        "far_positions_turn_as_exactly_as_near_ones",
        "scores_depend_on_relative_position_alone",
        "angles_keep_their_digits_where_16_bits_run_out",
    ],
    _COARSE,
)
by_positions = Rotation(_by_positions, _ODD_WIDTHS, scaling=["ntk"])
interpolated_by_positions = Rotation(
    _by_positions,
    _ODD_WIDTHS
    | {
        "scaled_rotation_turns_by_scaled_angles": _NO_FACTOR,
        "scaled_rotation_does_not_depend_on_earlier_calls": _NO_FACTOR,
    },
    scaling=["linear"],
)
by_offset = Rotation(_by_offset, _ODD_WIDTHS, positions="consecutive")
by_offset_bfloat16 = Rotation(
    _by_offset,
    _ODD_WIDTHS
    | _COARSE_POSITIONS
    | {
        "each_adjacent_pair_turns_by_its_own_angle": _COARSE,
        "long_inputs_turn_row_by_row_like_short_ones": _COARSE,
        "each_row_depends_on_its_own_position_alone": _COARSE,
        "a_partial_rotation_turns_its_part_like_a_whole_row": _COARSE,
    },
    positions="consecutive",
    dtype="bfloat16",
)
by_offset_float16 = Rotation(
    _by_offset,
    _ODD_WIDTHS
    | _COARSE_POSITIONS
    | {
        "positions_may_be_a_list_or_an_integer_array": _COARSE,
        "pairs_keep_their_length_in_few_digits_as_well": _COARSE,
    },
    positions="consecutive",
    dtype="float16",
)
with_cached_keys = SimpleNamespace(
    start=Session,
    capabilities={
        "dtype": "float32", "min_width": 4, "rotary_dim": True, "scaling": [*_SCALINGS],
        "chunks": True, "heads": True, "rope_freqs": False, "apply_rope": False,
    },
)  # fmt: skip
