"""Whether two implementations do the same when they are probed.

The numbers that were returned, the rows that were projected and what the property said are
compared, not how it came about: another style of the same mistake does the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .observation import Answer, Observation, Projected

# How far apart two answers of the same mistake may be, to the largest of their numbers.
SAME = 1e-9
# And to the error that they both have, where a mistake is hardly larger than rounding.
SAME_ERROR = 1e-3
LAST_DIGITS = 1e-14
# What is said of a breach in words that do not depend on the style of the code.
_SAID_ALIKE = ("purity", "type")


def alike(one: Observation, other: Observation) -> bool:
    """Return whether two implementations did the same."""
    if (one.broken is None) != (other.broken is None):
        return False
    if one.broken is not None and other.broken is not None:
        if one.broken.kind != other.broken.kind:
            return False
        if one.broken.kind in _SAID_ALIKE and one.broken.sentence != other.broken.sentence:
            return False
    return len(one.answers) == len(other.answers) and all(
        _same_calls(a.projected, b.projected) and _same(a, b, _expected(one))
        for a, b in zip(one.answers, other.answers, strict=True)
    )


def nearly_alike(one: Observation, other: Observation) -> bool:
    """Return whether two implementations did the same but for their style.

    The same rows may be projected in other portions, and rows that were changed may be returned
    or copied.
    """
    answers = list(zip(one.answers, other.answers, strict=False))
    kinds = [seen.broken and seen.broken.kind for seen in (one, other)]
    have_changed = any(a.changed and b.changed for a, b in answers)
    return (kinds[0] == kinds[1] or have_changed) and all(
        _same_rows(a.projected, b.projected) and _same(a, b, _expected(one)) for a, b in answers
    )


def _same_calls(one: Projected, other: Projected) -> bool:
    """Return whether the same rows were projected, call by call."""
    return len(one) == len(other) and all(
        a[:2] == b[:2] and _close(a.content, b.content) for a, b in zip(one, other, strict=True)
    )


def _same_rows(one: Projected, other: Projected) -> bool:
    """Return whether each projection was given the same rows, whatever the portions."""
    names = {rows.name for rows in (*one, *other)}
    return all(_close(_joined(one, name), _joined(other, name)) for name in names)


def _joined(projected: Projected, name: str) -> NDArray[np.float64]:
    return np.concatenate([np.empty(0), *(r.content for r in projected if r.name == name)])


def _close(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    if one.shape != other.shape:
        return False
    largest = np.abs(one).max(initial=0, where=np.isfinite(one))
    return np.allclose(one, other, rtol=0, atol=SAME * largest, equal_nan=True)


def _expected(seen: Observation) -> NDArray[Any] | None:
    """Return what was expected of the one answer, where there is one."""
    return seen.broken.expected if seen.broken is not None and len(seen.answers) == 1 else None


def _same(one: Answer, other: Answer, expected: NDArray[Any] | None) -> bool:
    if one.changed != other.changed:
        return False
    if one.numbers is None or other.numbers is None:
        return one.numbers is other.numbers and one.words == other.words
    if one.numbers.shape != other.numbers.shape:
        return False
    finite = np.isfinite(one.numbers)
    if not np.array_equal(finite, np.isfinite(other.numbers)):
        return False
    a, b = (numbers[finite].astype(np.float64) for numbers in (one.numbers, other.numbers))
    apart, largest = np.abs(a - b).max(initial=0), np.abs(a).max(initial=0)
    allowed = SAME * largest
    if expected is not None and expected.shape == finite.shape:
        allowed = min(allowed, SAME_ERROR * np.abs(b - expected[finite]).max(initial=0))
    return bool(apart <= max(allowed, LAST_DIGITS * largest))
