"""Axes along which an implementation is called: one thing of a call changes, all else stays.

Where it is right on one part of an axis and wrong on the rest, that says more of the mistake than
any single case.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import forms
from .answers import Answered, answered
from .cases import (
    ArgumentCase,
    Case,
    DecodeCase,
    DecodeFormCase,
    FrequencyCase,
    Matrix,
    RotationCase,
)
from .implementation import Implementation


class Line(NamedTuple):
    """An axis of whole numbers: which are tried, what each is called, and the call it makes.

    `values_of` gives the numbers at which a wrong answer to another call is wrong.
    """

    values: tuple[int, ...]
    called: Callable[[int], str]
    case: Callable[[int], Case]
    values_of: Callable[[Answered], Iterable[int]]


class Within(NamedTuple):
    """The rows, or the pairs, of the answer to one call: which are wrong, what each is called."""

    case: Case
    called: Callable[[int], str]
    wrong: Callable[[Answered], NDArray[np.bool_]]


class Choice(NamedTuple):
    """Calls that differ in one thing, by name; `names_of` gives those of a wrong answer."""

    cases: Mapping[str, Case]
    names_of: Callable[[Answered], Iterable[str]]


Axis = Line | Within | Choice


def found_along(axis: Axis, impl: Implementation, wrong: Sequence[Answered]) -> str:
    """Return where along an axis an implementation is right and where wrong, or "".

    Nothing is said that one of the `wrong` answers to other calls gives the lie.
    """
    if isinstance(axis, Choice):
        tried = {name: answered(impl, case).is_right for name, case in axis.cases.items()}
        return _odd_ones_out(tried, {name for answer in wrong for name in axis.names_of(answer)})
    if isinstance(axis, Line):
        is_right = functools.cache(lambda value: answered(impl, axis.case(value)).is_right)
        known = {value for answer in wrong for value in axis.values_of(answer)}
        return _border(axis.values, axis.called, is_right, known)
    answer = answered(impl, axis.case)
    if answer.numbers is None:
        return ""
    parts = ~axis.wrong(answer)
    known = {int(i) for other in wrong for i in np.flatnonzero(axis.wrong(other))}
    return _border(range(len(parts)), axis.called, lambda i: bool(parts[i]), known)


def _border(
    values: Sequence[int],
    called: Callable[[int], str],
    is_right: Callable[[int], bool],
    known_wrong: Iterable[int],
) -> str:
    """Return the one place at which an answer turns from right to wrong, or back; else ""."""
    begins = is_right(values[0])
    turns = [i for i in range(1, len(values)) if is_right(values[i]) != is_right(values[i - 1])]
    if len(turns) != 1:
        return ""
    low, high = values[turns[0] - 1], values[turns[0]]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_right(middle) == begins else (low, middle)
    if any(value <= low if begins else value >= high for value in known_wrong):
        return ""
    first, then = ("right", "wrong") if begins else ("wrong", "right")
    up_to = "at" if low == values[0] else "up to"
    return f"{first} {up_to} {called(low)}, {then} from {called(high)} on"


def _odd_ones_out(tried: Mapping[str, bool], known_wrong: set[str]) -> str:
    """Return which few of some choices are wrong, or right, where the others are not."""
    right = [name for name, is_right in tried.items() if is_right]
    wrong = [name for name, is_right in tried.items() if not is_right]
    if not right or not wrong or known_wrong & set(right):
        return ""
    if len(wrong) <= len(right):
        return f"wrong only with {' and with '.join(wrong)}" if known_wrong <= set(wrong) else ""
    return f"right only with {' and with '.join(right)}"


def rows(count: int, width: int) -> Matrix:
    """Return rows of eighths, no two alike, so small that a softmax of them is gentle."""
    return tuple(
        tuple(((7 * t + 5 * i + t * i) % 17 - 8) / 8 for i in range(width)) for t in range(count)
    )


# 0 to 3, then past each power of two.
POSITIONS = (0, 1, 2, 3, *(2**k + 1 for k in range(2, 21)))
COUNTS = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
PAIRS = (1, 2, 3, 4, 8, 16, 32)
BASES = (10000, 100, 10, 2, 500000, 0.5)
WIDE = ((1.0, 0.5, -0.25, 2.0, 1.0, -1.0, 0.5, 1.5),)
ROW = (WIDE[0][:4],)
_WHOLE: Matrix = ((1.0, 2.0, -1.0, 3.0), (0.0, 1.0, 2.0, -2.0))


def _row_count(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _bases(case: Case) -> Choice:
    return Choice(
        {_base(base): case._replace(base=base) for base in BASES},
        lambda answer: (_base(answer.case.base),),
    )


def _base(base: float) -> str:
    return f"base {base:g}"


def _forms(case_type: Callable[..., Case], *numbers: Any) -> dict[str, Case]:
    return {
        f"rows as {form}": case_type(*numbers, form)
        for form in forms.ROWS
        if form != forms.UNSIGNED
    }


def _plain(answer: Answered) -> tuple[str]:
    return (f"rows as {forms.PLAIN}",)


def _wrong_rows(answer: Answered) -> NDArray[np.bool_]:
    return np.asarray(answer.wrong.any(axis=1))


def _wrong_pairs(answer: Answered) -> NDArray[np.bool_]:
    pairs = answer.wrong.reshape(len(answer.wrong), -1, 2)
    return np.asarray(pairs.any(axis=(0, 2)))


def _wrong_positions(answer: Answered) -> list[int]:
    return [answer.case.positions[t] for t in np.flatnonzero(_wrong_rows(answer))]


def _signs(answer: Answered) -> set[str]:
    return {SIGNS[p > 0] for p in _wrong_positions(answer) if p != 0}


SIGNS = ("negative positions", "positive positions")
_FREQUENCY_AXES: tuple[Axis, ...] = (
    Within(FrequencyCase(32, 10000), lambda i: f"entry {i}", lambda answer: answer.wrong),
    Line(
        PAIRS,
        lambda pairs: f"d = {2 * pairs}",
        lambda pairs: FrequencyCase(2 * pairs, 10000),
        lambda answer: (answer.case.d // 2,),
    ),
    _bases(FrequencyCase(8, 10000)),
)
_ROTATION_AXES: tuple[Axis, ...] = (
    Line(
        POSITIONS,
        lambda p: f"position {p}",
        lambda p: RotationCase(ROW, (p,), 10000),
        lambda answer: [abs(p) for p in _wrong_positions(answer)],
    ),
    Choice(
        {name: RotationCase(ROW, (p,), 10000) for name, p in zip(SIGNS, (-3, 3), strict=True)},
        _signs,
    ),
    Within(RotationCase(WIDE, (3,), 10000), lambda i: f"pair {i}", _wrong_pairs),
    Line(
        COUNTS,
        _row_count,
        lambda count: RotationCase(ROW * count, (1,) * count, 10000),
        lambda answer: (len(answer.case.x),),
    ),
    Line(
        PAIRS,
        lambda pairs: f"width {2 * pairs}",
        lambda pairs: RotationCase(rows(1, 2 * pairs), (1,), 10000),
        lambda answer: (len(answer.case.x[0]) // 2,),
    ),
    Within(
        RotationCase(ROW * 257, tuple(range(1, 258)), 10000), lambda t: f"row {t}", _wrong_rows
    ),
    _bases(RotationCase(ROW, (1,), 10000)),
    Choice(
        {
            **_forms(ArgumentCase, _WHOLE, (1, 2), 10000),
            "positions as an int32 array": ArgumentCase(_WHOLE, (1, 2), 10000, "an int32 array"),
        },
        _plain,
    ),
)
_DECODE_AXES: tuple[Axis, ...] = (
    Within(DecodeCase(rows(257, 2), 10000, 1), lambda t: f"row {t}", _wrong_rows),
    Line(
        PAIRS[:-1],
        lambda pairs: f"width {2 * pairs}",
        lambda pairs: DecodeCase(rows(4, 2 * pairs), 10000, 1),
        lambda answer: (len(answer.case.x[0]) // 2,),
    ),
    _bases(DecodeCase(rows(4, 4), 10000, 1)),
    Choice(_forms(DecodeFormCase, _WHOLE, 10000, 1), _plain),
)
AXES: dict[str, tuple[Axis, ...]] = {
    "rope_freqs": _FREQUENCY_AXES,
    "apply_rope": _ROTATION_AXES,
    "decode_incremental": _DECODE_AXES,
}
