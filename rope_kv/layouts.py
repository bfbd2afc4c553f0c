"""Which two entries of a row form a pair, and the reference in each such layout.

"interleaved" pairs entries 2i and 2i+1, as the paper does; "half" pairs i and i + d/2, as much
code does whose weights were permuted to match. Turning commutes with the permutation between the
two, so that the score of a query and a key is the same in both. Some code takes the one and
returns the other, "interleaved to half".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import even_width, real_rows
from .decoder import Decoder
from .rope import apply_rope, rope_freqs
from .session import Session, start

Array = NDArray[np.float64]
LAYOUTS = ("interleaved", "half")


def convert_layout(x: ArrayLike, source: str, target: str) -> Array:
    """Return rows (T, d) whose pairs are laid out as `source`, laid out as `target`.

    The same converts weights: the rows of W.T, where x @ W is turned. ValueError where a layout is
    none of "interleaved" and "half".
    """
    rows = real_rows(x, "x")
    d = even_width(rows.shape[1], "the number of columns of x")
    for layout in (source, target):
        if layout not in LAYOUTS:
            raise ValueError(f"a layout is 'interleaved' or 'half', found {layout!r}")
    if source == target:
        return rows.copy()
    if target == "half":
        return np.concatenate([rows[:, 0::2], rows[:, 1::2]], axis=1)
    return np.stack([rows[:, : d // 2], rows[:, d // 2 :]], axis=2).reshape(rows.shape)


class InLayout:
    """The reference, its rows laid out otherwise: `apply_rope` and `start` as in the package.

    `taken` is the layout of what is turned, `returned` that of what comes of it.
    """

    def __init__(self, taken: str, returned: str) -> None:
        self._layouts = taken, returned
        name = taken if taken == returned else f"{taken} to {returned}"
        self.capabilities = {
            "layout": name, "rotary_dim": True, "chunks": True, "heads": True, "window": True,
            "sinks": True, "crop": True, "fork": True, "reset": True, "width_multiple": 2,
            "min_width": 2, "scaling": ["linear", "ntk", "dynamic", "yarn", "llama3", "longrope"],
        }  # fmt: skip
        self.rope_freqs = rope_freqs

    def apply_rope(
        self, x: ArrayLike, positions: ArrayLike, base: float = 10000, **more: Any
    ) -> Array:
        """Return rows turned as by `rope_kv.apply_rope`, laid out as this implementation says."""
        rows = real_rows(x, "x").copy()
        d = rows.shape[1] if more.get("rotary_dim") is None else more["rotary_dim"]
        taken, returned = self._layouts
        rows[:, :d] = convert_layout(rows[:, :d], taken, "interleaved")
        turned = apply_rope(rows, positions, base, **more)
        turned[:, :d] = convert_layout(turned[:, :d], "interleaved", returned)
        return turned

    def start(self, decoder: Decoder, *, capacity: int | None = None) -> Session:
        """Return a new session, as `rope_kv.start`."""
        return start(decoder, capacity=capacity, turn=self.apply_rope)


half = InLayout("half", "half")
interleaved_to_half = InLayout("interleaved", "half")
