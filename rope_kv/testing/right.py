"""What is right for an implementation, by what it declares, and how near it must be."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import oracle
from . import bounds
from .implementation import Implementation

Array = NDArray[np.float64]


class Right:
    """A right answer and the bound of an error in it, entry by entry, computed when asked."""

    def __init__(self, expected: Callable[[], Array], within: Callable[[], Array]) -> None:
        self._expected = expected
        self._within = within

    @cached_property
    def expected(self) -> Array:
        """The answer."""
        return self._expected()

    @cached_property
    def within(self) -> Array:
        """How far from it a right implementation may be."""
        return self._within()


def frequencies(
    impl: Implementation, d: int, base: float, scaling: oracle.Scaling | None = None
) -> Right:
    """Return what rope_freqs(d, base) is."""
    return Right(
        lambda: oracle.frequencies(d, base, scaling),
        lambda: bounds.frequencies(d, base, scaling, precision(impl)),
    )


def rotation(
    impl: Implementation,
    x: ArrayLike,
    positions: ArrayLike,
    base: float,
    rotary_dim: int | None = None,
    scaling: oracle.Scaling | None = None,
) -> Right:
    """Return what apply_rope(x, positions, base) is."""
    turning = bounds.Turning(impl.capabilities.layout, rotary_dim, scaling)
    return Right(
        lambda: oracle.rotate(x, positions, base, **turning._asdict()),
        lambda: bounds.rotation(x, positions, base, turning, precision(impl)),
    )


def decoding(impl: Implementation, x: ArrayLike, decoder: oracle.Weights) -> Right:
    """Return what decode_incremental(decoder, x) is."""
    layout = impl.capabilities.layout
    return Right(
        lambda: oracle.forward(x, decoder, layout),
        lambda: bounds.decoding(x, decoder, layout, precision(impl)),
    )


def precision(impl: Implementation) -> bounds.Precision:
    """Return the precision that an implementation declares."""
    return bounds.PRECISIONS[impl.capabilities.dtype]
