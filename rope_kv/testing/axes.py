"""Axes along which an implementation is called: one thing of a call changes, all else stays.

Where it is right on one part of an axis and wrong on the rest, that says more of the mistake than
any single case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import forms
from .answers import answered
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
    """An axis of whole numbers: which are tried, what each is called, and the call it makes."""

    values: tuple[int, ...]
    called: Callable[[int], str]
    case: Callable[[int], Case]


class Within(NamedTuple):
    """The rows, or the pairs, of the answer to one call: what each is called."""

    case: Case
    called: Callable[[int], str]
    parts: Callable[[NDArray[np.bool_]], Any]


Choice = Mapping[str, Case]
Axis = Line | Within | Choice


def found_along(axis: Axis, impl: Implementation) -> str:
    """Return where along an axis an implementation is right and where wrong, or ""."""
    if isinstance(axis, Line):
        tried = {value: answered(impl, axis.case(value)).is_right for value in axis.values}
        return _border(tried, axis.called, lambda value: answered(impl, axis.case(value)).is_right)
    if isinstance(axis, Within):
        answer = answered(impl, axis.case)
        if answer.numbers is None:
            return ""
        parts = dict(enumerate(~axis.parts(answer.wrong)))
        return _border(parts, axis.called, parts.__getitem__)
    return _odd_ones_out({name: answered(impl, case).is_right for name, case in axis.items()})


def _border(
    tried: Mapping[int, bool], called: Callable[[int], str], is_right: Callable[[int], bool]
) -> str:
    """Return the one place at which an answer turns from right to wrong, or back; else ""."""
    values = sorted(tried)
    turns = [i for i in range(1, len(values)) if tried[values[i]] != tried[values[i - 1]]]
    if len(turns) != 1:
        return ""
    low, high = values[turns[0] - 1], values[turns[0]]
    begins = tried[values[0]]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_right(middle) == begins else (low, middle)
    first, then = ("right", "wrong") if begins else ("wrong", "right")
    up_to = "at" if low == values[0] else "up to"
    return f"{first} {up_to} {called(low)}, {then} from {called(high)} on"


def _odd_ones_out(tried: Mapping[str, bool]) -> str:
    """Return which few of some choices are wrong, or right, where the others are not."""
    right = [name for name, is_right in tried.items() if is_right]
    wrong = [name for name, is_right in tried.items() if not is_right]
    if not right or not wrong:
        return ""
    few, word = (wrong, "wrong") if len(wrong) <= len(right) else (right, "right")
    return f"{word} only with {' and with '.join(few)}"


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
_ROW = (WIDE[0][:4],)
_WHOLE: Matrix = ((1.0, 2.0, -1.0, 3.0), (0.0, 1.0, 2.0, -2.0))


def _row_count(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _bases(case: Case) -> Choice:
    return {f"base {base:g}": case._replace(base=base) for base in BASES}


_FREQUENCY_AXES: tuple[Axis, ...] = (
    Within(FrequencyCase(32, 10000), lambda i: f"entry {i}", lambda wrong: wrong),
    Line(PAIRS, lambda pairs: f"d = {2 * pairs}", lambda pairs: FrequencyCase(2 * pairs, 10000)),
    _bases(FrequencyCase(8, 10000)),
)
_ROTATION_AXES: tuple[Axis, ...] = (
    Line(POSITIONS, lambda p: f"position {p}", lambda p: RotationCase(_ROW, (p,), 10000)),
    {
        "positive positions": RotationCase(_ROW, (3,), 10000),
        "negative positions": RotationCase(_ROW, (-3,), 10000),
    },
    Within(
        RotationCase(WIDE, (3,), 10000),
        lambda i: f"pair {i}",
        lambda wrong: wrong[:, 0::2].any(axis=0) | wrong[:, 1::2].any(axis=0),
    ),
    Line(COUNTS, _row_count, lambda count: RotationCase(_ROW * count, (1,) * count, 10000)),
    Line(
        PAIRS,
        lambda pairs: f"width {2 * pairs}",
        lambda pairs: RotationCase(rows(1, 2 * pairs), (1,), 10000),
    ),
    Within(
        RotationCase(_ROW * 257, tuple(range(1, 258)), 10000),
        lambda t: f"row {t}",
        lambda wrong: wrong.any(axis=1),
    ),
    _bases(RotationCase(_ROW, (1,), 10000)),
    {
        **{
            ("rows as " + form): ArgumentCase(_WHOLE, (1, 2), 10000, form)
            for form in forms.ROWS
            if form != forms.UNSIGNED
        },
        "positions as an int32 array": ArgumentCase(_WHOLE, (1, 2), 10000, "an int32 array"),
    },
)
_DECODE_AXES: tuple[Axis, ...] = (
    Within(
        DecodeCase(rows(257, 2), 10000, 1), lambda t: f"row {t}", lambda wrong: wrong.any(axis=1)
    ),
    Line(
        PAIRS[:-1],
        lambda pairs: f"width {2 * pairs}",
        lambda pairs: DecodeCase(rows(4, 2 * pairs), 10000, 1),
    ),
    _bases(DecodeCase(rows(4, 4), 10000, 1)),
    {
        ("rows as " + form): DecodeFormCase(_WHOLE, 10000, 1, form)
        for form in forms.ROWS
        if form != forms.UNSIGNED
    },
)
AXES: dict[str, tuple[Axis, ...]] = {
    "rope_freqs": _FREQUENCY_AXES,
    "apply_rope": _ROTATION_AXES,
    "decode_incremental": _DECODE_AXES,
}
