"""What is right for an implementation, by what it declares, and how near it must be."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import oracle
from ..decoder import Decoder
from . import bounds
from .implementation import Implementation

Array = NDArray[np.float64]


MOST_REMEMBERED = 20_000

# What was computed before, of what, where that is remembered at all.
_remembered: dict[Hashable, Array] | None = None


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """Compute each answer and each bound once in the block; many files are asked the same."""
    global _remembered
    before, _remembered = _remembered, {}
    try:
        yield
    finally:
        _remembered = before


class Right:
    """A right answer and the bound of an error in it, entry by entry, computed when asked.

    `of` is what they depend on, a function of the contract first.
    """

    def __init__(
        self, of: tuple[Any, ...], expected: Callable[[], Array], within: Callable[[], Array]
    ) -> None:
        self._of = of
        self._expected = expected
        self._within = within

    @cached_property
    def expected(self) -> Array:
        """The answer."""
        return self._once("expected", self._expected)

    @cached_property
    def within(self) -> Array:
        """How far from it a right implementation may be."""
        return self._once("within", self._within)

    def _once(self, what: str, compute: Callable[[], Array]) -> Array:
        if _remembered is None:
            return compute()
        key = (what, *map(_hashable, self._of))
        if key not in _remembered:
            if len(_remembered) >= MOST_REMEMBERED:
                _remembered.clear()
            _remembered[key] = compute()
            _remembered[key].flags.writeable = False
        return _remembered[key]


def _hashable(value: Any) -> Hashable:
    """Return what tells a value from all that have other contents."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Decoder):
        return tuple(_hashable(part) for part in vars(value).values())
    if isinstance(value, Mapping):
        return repr(sorted(value.items()))
    array = np.asarray(value)
    return array.shape, array.dtype.str, array.tobytes()


def frequencies(
    impl: Implementation, d: int, base: float, scaling: oracle.Scaling | None = None
) -> Right:
    """Return what rope_freqs(d, base) is."""
    return Right(
        ("rope_freqs", impl.capabilities.dtype, d, base, scaling),
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
        ("apply_rope", impl.capabilities.dtype, x, positions, base, *turning),
        lambda: oracle.rotate(x, positions, base, **turning._asdict()),
        lambda: bounds.rotation(x, positions, base, turning, precision(impl)),
    )


def decoding(impl: Implementation, x: ArrayLike, decoder: oracle.Weights) -> Right:
    """Return what decode_incremental(decoder, x) is."""
    layout = impl.capabilities.layout
    return Right(
        ("decode_incremental", impl.capabilities.dtype, x, decoder, layout),
        lambda: oracle.forward(x, decoder, layout),
        lambda: bounds.decoding(x, decoder, layout, precision(impl)),
    )


def precision(impl: Implementation) -> bounds.Precision:
    """Return the precision that an implementation declares."""
    return bounds.PRECISIONS[impl.capabilities.dtype]
