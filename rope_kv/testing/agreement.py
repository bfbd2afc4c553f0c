"""Whether a new version does what the old one does: the same values, calls and refusals.

Values are equal within the bounds of free_bounds.py, or, where a pair is `exact`, bit for bit, in
dtype and shape as well. A call that raises in one version must raise in the other; with what
exception, and after which projections, is its own business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bounds import PRECISIONS, TINY, Precision
from .comparison import Broken, IncomparableError, described, expect, matrix, ratio
from .implementation import Implementation
from .pair import Pair

Array = NDArray[np.float64]
Returned = tuple[Any, Any]
SIDES = ("old", "new")
REFUSALS = ("raised", "unwritten")


def paired(impl: Implementation) -> Pair:
    """Return an implementation as the pair that it is; TypeError where it is none."""
    if not isinstance(impl, Pair):
        raise TypeError("there is no old version to compare with")
    return impl


def precision(pair: Pair) -> Precision:
    """Return the precision that both versions declare."""
    return PRECISIONS[pair.common.dtype]


def agreed(new: Callable[[], Any], old: Callable[[], Any], what: str) -> Returned | None:
    """Return what both versions answer, old and new; None where both refuse.

    Broken where one of them refuses and the other answers; IncomparableError where the old
    version has no such function.
    """
    before, refused = _answered(old, "the old version: ")
    now, refused_now = _answered(new, "")
    if refused and refused_now:
        return None
    if refused_now:
        raise Broken(f"{refused_now}, and the old version answers", "raised")
    if refused:
        raise Broken(
            f"{what} is answered by {described(now)}, and in the old version {refused}", "limit"
        )
    return before, now


def _answered(call: Callable[[], Any], whose: str) -> tuple[Any, str]:
    """Return what a call returns, or None and how it is refused."""
    try:
        return call(), ""
    except Broken as broken:
        if broken.kind in REFUSALS:
            return None, broken.sentence
        if broken.kind == "missing" and whose:
            raise IncomparableError(f"{whose}{broken.sentence}") from None
        raise Broken(f"{whose}{broken.sentence}", broken.kind) from None


def expect_same(
    pair: Pair,
    returned: Returned | None,
    function: str,
    within: Array | Callable[[Array], Array],
    saying: str = "",
) -> None:
    """Raise Broken where both versions answered, and not with the same values.

    `within` is the bound, (T, d) or (T, 1) for values (T, d), or gives it for the old values.
    """
    if returned is None:
        return
    before, now = returned
    old = matrix(before, _shape(before, function), f"the old version: {function}")
    new = matrix(now, old.shape, function)
    bound = np.asarray(within(old) if callable(within) else within)
    if bound.shape[:1] != old.shape[:1] or bound.ndim != old.ndim:
        bound = np.full(
            old.shape, np.max(bound, initial=TINY)
        )  # A shape that is not the contract's.
    if pair.exact:
        _expect_identical(returned, (old, new), bound, function, saying)
        return
    # What is not finite is no number to be near to: both have it, or it is a difference.
    alike = ~np.isfinite(old) & ((old == new) | (np.isnan(old) & np.isnan(new)))
    if alike.any():
        old, new = (np.where(alike, 0.0, values) for values in (old, new))
    expect(new, old, bound, saying, SIDES)


def _shape(returned: Any, function: str) -> tuple[int, ...]:
    """Return the shape of what the old version returned: it may have a contract of its own."""
    try:
        return np.shape(returned)
    except ValueError:  # Rows of different lengths.
        raise Broken(f"the old version: {function} returned no array", "type") from None


def _expect_identical(
    returned: Returned, values: tuple[Array, Array], bound: Array, function: str, saying: str
) -> None:
    """Raise Broken unless two answers are the same, bit for bit, in dtype and shape as well."""
    before, now = map(described, returned)
    if before != now:
        raise Broken(f"{function} returned {now}, and {before} in the old version", "type")
    (old, new), (old_bits, new_bits) = values, map(_bits, returned)
    differs = np.any(old_bits != new_bits, axis=1).reshape(old.shape)
    if differs.any():
        at = tuple(int(i) for i in np.argwhere(differs)[0])
        ratios = ratio(new, old, bound)
        if ratios[differs].max() <= 1:
            saying = (saying or "differs") + " by rounding alone, and the same bits are asked for"
        raise Broken(
            saying, expected=old, yours=new, sides=SIDES, at=at,
            ratio_at=float(ratios[at]), ratio=float(ratios[differs].max()),
        )  # fmt: skip


def _bits(returned: Any) -> NDArray[np.uint8]:
    """Return the bytes of each entry of an array, an entry a row."""
    entries = np.ascontiguousarray(returned).ravel()
    return entries.view(np.uint8).reshape(len(entries), entries.dtype.itemsize)
