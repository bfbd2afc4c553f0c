"""Comparing what an implementation returned with what it should have.

`Broken` is the one way in which a property says no. It carries the numbers, so that a report
can show them, and how many times the rounding bound the error is.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Array = NDArray[np.float64]
Kind = Literal[
    "value", "raised", "unwritten", "missing", "type", "calls", "purity", "limit",
    "crash", "hang", "endless", "attack", "protocol",
]  # fmt: skip
# Kinds that take seconds to see, and what each costs: a call that did not return, and an attack on
# what watches over the code.
COSTLY: dict[Kind, int] = {"hang": 1, "attack": 4}
# Kinds after which the code runs in a new process.
ENDING: tuple[Kind, ...] = (*COSTLY, "endless", "crash", "protocol")

# How many rounding bounds the right answer must move before yours has to move at all.
CLEARLY = 1000.0
EXPECTED_AND_YOURS = ("expected", "yours")


class Broken(AssertionError):  # noqa: N818 - the word of the reports
    """A property does not hold: a sentence, and the numbers where there are some.

    `expected` and `yours` are shown under the names in `sides`: two answers of the implementation
    that should agree are not called expected. `at` is the first entry that differs and `ratio_at`
    its error in rounding bounds; `ratio` is the largest error.
    """

    def __init__(
        self,
        sentence: str,
        kind: Kind = "value",
        *,
        expected: Array | None = None,
        yours: Array | None = None,
        sides: tuple[str, str] = EXPECTED_AND_YOURS,
        at: tuple[int, ...] | None = None,
        ratio_at: float | None = None,
        ratio: float | None = None,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.kind = kind
        self.expected = expected
        self.yours = yours
        self.sides = sides
        self.at = at
        self.ratio_at = ratio_at
        self.ratio = ratio


class IncomparableError(BaseException):
    """There is nothing to compare with; the message says why, and nobody has made a mistake.

    A BaseException, since Hypothesis takes every Exception for a failure of the test.
    """


class Meter:
    """The largest error, in rounding bounds, that the comparisons of a search have seen."""

    def __init__(self) -> None:
        self.worst: float | None = None

    def see(self, ratio: float) -> None:
        """Take note of one comparison."""
        if self.worst is None or not ratio <= self.worst:
            self.worst = ratio


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def measuring() -> Iterator[Meter]:
    """Give the meter that all comparisons inside the block report to."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def matrix(returned: Any, shape: tuple[int, ...], function: str) -> Array:
    """Return what `function` returned as a new float64 array of `shape`.

    Forgiving on purpose: a list, another dtype or an extra axis of length 1 is the business of
    one property, and must not hide what the numbers are.
    """
    if returned is None:
        raise _not_an_array(returned, shape, function)
    try:
        found = np.array(returned)
        if found.dtype.kind == "O":
            found = found.astype(np.float64)
    except Exception:
        raise _not_an_array(returned, shape, function) from None
    if not is_real(found.dtype) or found.size != int(np.prod(shape)):
        raise _not_an_array(returned, shape, function)
    return found.astype(np.float64).reshape(shape)


def is_real(dtype: np.dtype[Any]) -> bool:
    """Return whether numbers of a dtype are real, as numpy says, or those of bfloat16."""
    return dtype.kind in "iuf" or dtype.name == "bfloat16"


def expect_array(
    returned: Any, shape: tuple[int, ...], function: str, precision: str = "float64"
) -> None:
    """Raise Broken unless what `function` returned is an array of `shape` in a precision."""
    plain = type(returned) is np.ndarray and returned.dtype.name == precision
    if not plain or returned.shape != shape:
        raise _not_an_array(returned, shape, function, precision)


def counted(count: int, noun: str) -> str:
    """Return a count and its noun, for a sentence."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def described(returned: Any) -> str:
    """Return what something is, for a sentence: its type, and dtype and shape of an array."""
    if type(returned) is np.ndarray:
        return f"a {returned.dtype} array of shape {returned.shape}"
    if returned is None:
        return "None"
    name = type(returned).__name__
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name}"


def ratio(yours: Array, expected: Array, within: Array | float) -> Array:
    """Return |yours - expected| / within, entry by entry; infinite where either is not finite."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        ratios: Array = np.abs(yours - expected) / within
    return np.where(np.isfinite(ratios), ratios, np.inf)


def expect(
    yours: Array,
    expected: Array,
    within: Array | float,
    saying: str = "",
    sides: tuple[str, str] = EXPECTED_AND_YOURS,
) -> None:
    """Raise Broken where an entry is further from the expected one than its rounding bound."""
    ratios = ratio(yours, expected, within)
    worst = float(ratios.max(initial=0.0))
    if (meter := _meter.get()) is not None:
        meter.see(worst)
    if worst > 1:
        at = tuple(int(i) for i in np.argwhere(ratios > 1)[0])
        raise Broken(
            saying,
            expected=expected,
            yours=yours,
            sides=sides,
            at=at,
            ratio_at=float(ratios[at]),
            ratio=worst,
        )


def expect_change(yours: tuple[Array, Array], right: tuple[Array, Array], within: Array) -> None:
    """Raise Broken where the right answer clearly changes in a row and yours not by one bit."""
    due = np.abs(right[0] - right[1]) > CLEARLY * within
    standing = due.any(axis=1) & np.all(yours[0] == yours[1], axis=1)
    if standing.any():
        row = int(np.argmax(standing))
        raise Broken(
            f"row {row} of the result does not change at all",
            expected=right[1],
            yours=yours[1],
            at=(row, int(np.argmax(due[row]))),
        )


def expect_refusal(call: Callable[[], Any], what: str) -> None:
    """Raise Broken unless a call raises an exception, as it must for what is beyond a limit."""
    try:
        returned = call()
    except Broken as broken:
        if broken.kind in ("raised", "unwritten"):
            return
        raise
    raise Broken(f"{what}: not refused, but answered by {described(returned)}", "limit")


def _not_an_array(
    returned: Any, shape: tuple[int, ...], function: str, precision: str = "float64"
) -> Broken:
    due = f"a {precision} array of shape {shape}"
    return Broken(f"{function} returned {described(returned)}, expected {due}", "type")
