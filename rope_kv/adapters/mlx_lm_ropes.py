"""mlx-lm's ropes, as `initialize_rope` makes them of the configuration of a model.

The adapter's own is that positions must be a run, and that a rope is made anew for each call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._mlx_llama import rope_of
from .mlx import Rows, turned


class Rotation:
    """The ropes of the library, which are made anew for each call."""

    known_failures: Mapping[str, str] = {}

    def __init__(self, *rules: str) -> None:
        self.capabilities = {
            "layout": "half", "dtype": "float32", "positions": "consecutive", "rotary_dim": True,
            "width_multiple": 2, "scaling": rules, "rope_freqs": False,
            "decode_incremental": False,
        }  # fmt: skip

    def apply_rope(
        self,
        x: ArrayLike,
        positions: ArrayLike,
        base: float = 10000,
        *,
        rotary_dim: int | None = None,
        scaling: Mapping[str, Any] | None = None,
    ) -> Rows:
        """Return rows x (T, d), turned."""
        dims = np.shape(x)[1] if rotary_dim is None else rotary_dim
        return turned(rope_of(dims, base, scaling), x, positions)


ropes = Rotation("linear", "yarn", "llama3")
# dynamic is not here: the library goes by the rows of a call, and cannot be told another length.
longrope = Rotation("longrope")
longrope.known_failures = dict.fromkeys(
    ("scaled_rotation_turns_by_scaled_angles", "scaled_rotation_does_not_depend_on_earlier_calls"),
    "mlx-lm 0.32.2: SuScaledRoPE never reads short_factor and turns every length by long_factor",
)
