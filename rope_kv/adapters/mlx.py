"""mlx: `mlx.nn.RoPE`, which calls `mlx.core.fast.rope`, in both of its layouts.

Driven is the rotation, with its offset, its `dims` (a part of a row) and its `scale`, by which
positions are multiplied: linear scaling. The library keeps no frequencies that could be asked for.
The adapter's own is that positions must be a run from 0 or more on, as the library is told the
first one alone. It takes a negative offset as well; there is no word for that in the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mlx.core as mx
import numpy as np
from mlx import nn
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.float32]


def first_of_a_run(positions: ArrayLike) -> int:
    """Return the first of positions p, p + 1, ..., p from 0 up; ValueError for any others."""
    places = np.asarray(positions, dtype=np.int64)
    if len(places) and (places[0] < 0 or np.any(np.diff(places) != 1)):
        raise ValueError("positions must be a run p, p + 1, ... from 0 or more on")
    return int(places[0]) if len(places) else 0


def turned(rope: Any, x: ArrayLike, positions: ArrayLike) -> Rows:
    """Return rows x (T, d) as a rope of the library turns them."""
    # mlx takes no array whose strides are negative.
    rows = mx.array(np.ascontiguousarray(x, dtype=np.float32))
    return np.array(rope(rows[None, None], offset=first_of_a_run(positions)))[0, 0]


class Rotation:
    """The rotation of the library, in one of its layouts."""

    def __init__(self, layout: str) -> None:
        self._traditional = layout == "interleaved"
        self.capabilities = {
            "layout": layout, "dtype": "float32", "positions": "consecutive", "rotary_dim": True,
            "width_multiple": 2, "scaling": ["linear"], "rope_freqs": False,
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
        scale = 1.0 if scaling is None else 1 / scaling["factor"]
        return turned(nn.RoPE(dims, self._traditional, base, scale), x, positions)


half = Rotation("half")
interleaved = Rotation("interleaved")
