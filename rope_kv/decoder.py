"""The decoder that a decode loop is given: fixed weights, four projections, the whole pass."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import oracle
from .arguments import even_width, positive_base, real_rows


class Decoder:
    """One attention head of width D with fixed weights.

    Parameters
    ----------
    width : even int, at least 2
        D, the width of a token's row.
    base : finite number above 0
        The base of the rotation's frequencies.
    seed : int from 0 to 2**32 - 1
        Which weights. 0 is identity matrices, so that an answer can be checked by hand; any
        other seed draws each of `Wq, Wk, Wv, Wo` (D, D), float64, from a normal distribution of
        variance 1/D, always the same for the same seed.

    """

    def __init__(self, width: int, base: float = 10000, seed: int = 0) -> None:
        self.width = even_width(width, "width")
        positive_base(base)
        self.base = base
        self.seed = _checked_seed(seed)
        self.Wq, self.Wk, self.Wv, self.Wo = _weights(self.width, self.seed)

    def project_q(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the queries (n, D) of `rows` (n, D)."""
        return real_rows(rows, "rows", self.width) @ self.Wq

    def project_k(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the keys (n, D) of `rows` (n, D)."""
        return real_rows(rows, "rows", self.width) @ self.Wk

    def project_v(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the values (n, D) of `rows` (n, D)."""
        return real_rows(rows, "rows", self.width) @ self.Wv

    def project_out(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the outputs (n, D) of the attended `rows` (n, D)."""
        return real_rows(rows, "rows", self.width) @ self.Wo

    def forward_full(self, x_embedded: ArrayLike) -> NDArray[np.float64]:
        """Return the outputs (T, D) of all tokens `x_embedded` (T, D), computed at once.

        This is what a decode loop is compared with; a decode loop must not call it.
        """
        return oracle.forward(real_rows(x_embedded, "x_embedded", self.width), self)

    def __repr__(self) -> str:
        base = "" if self.base == 10000 else f", base={self.base!r}"
        seed = f", seed={self.seed}" if self.seed else ""
        return f"Decoder({self.width}{base}{seed})"


def _checked_seed(seed: int) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(
            f"seed must be an integer, found {seed!r} of type {type(seed).__name__}"
        ) from None
    if not 0 <= number < 2**32:
        raise ValueError(f"seed must be from 0 to 2**32 - 1, found {seed!r}")
    return number


def _weights(width: int, seed: int) -> list[NDArray[np.float64]]:
    if seed == 0:
        return [np.eye(width) for _ in range(4)]
    # RandomState and not default_rng: its stream is frozen, so a stored case keeps its weights.
    stream = np.random.RandomState(seed)
    return [stream.standard_normal((width, width)) / np.sqrt(width) for _ in range(4)]
