"""What the properties of frequencies and rotations draw: one strategy a case type."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

from rope_kv.testing import forms
from rope_kv.testing.cases import (
    ArgumentCase,
    BasesCase,
    FrequencyCallsCase,
    FrequencyCase,
    LinearCase,
    RotationCallsCase,
    RotationCase,
    ScoreCase,
    TurnsCase,
)
from rope_kv.testing.library_cases import LayoutCase, LimitCase, LongerCase
from rope_kv.testing.profiles import reach

from .values import (
    BASES,
    EDGES,
    EIGHTHS,
    FAR,
    FARTHEST,
    FINE,
    NARROW,
    NEAR,
    SIGNED,
    ZERO_ROW,
    counts,
    entries,
    from_7_to,
    matrix,
    one_of,
    scaled,
    some,
    widths,
)


@functools.cache
def any_base() -> st.SearchStrategy[float]:
    """Draw a usual base, or any multiple of an eighth."""
    return st.one_of(
        one_of(*BASES), some(3).map(lambda data: (9 + int.from_bytes(data, "big")) / 8)
    )


@functools.cache
def _base_above_1() -> st.SearchStrategy[float]:
    """Draw a usual base above 1, or any such multiple of an eighth."""
    return any_base().filter(lambda base: base > 1)


@st.composite
def frequencies(draw: st.DrawFn) -> FrequencyCase:
    """Draw a width, any even one to 64, and a base, any above 0."""
    return FrequencyCase(2 * draw(st.integers(1, 32)), draw(any_base()))


@st.composite
def growing_frequencies(draw: st.DrawFn) -> FrequencyCase:
    """Draw a width with at least two pairs, and a base above 1."""
    base = draw(_base_above_1())
    return FrequencyCase(2 * draw(st.integers(2, 32)), base)


@st.composite
def frequency_calls(draw: st.DrawFn) -> FrequencyCallsCase:
    """Draw two calls that differ in width, in base, or in both."""
    first, second = draw(frequencies()), draw(frequencies())
    same = draw(one_of("width", "base", "nothing"))
    if same == "width":
        other = second.base if second.base != first.base else first.base + 1
        second = FrequencyCase(first.d, other)
    elif same == "base":
        second = FrequencyCase(second.d, first.base)
    return FrequencyCallsCase(first, second)


@st.composite
def rotations(draw: st.DrawFn, smallest_width: int = 2) -> RotationCase:
    """Draw a few rows at near positions: any order, repeated, with gaps."""
    width, count, base = draw(widths(smallest_width)), draw(counts()), draw(one_of(*BASES))
    scale = draw(one_of(1.0, 1.0, 1.0, 2.0**-44, 2.0**30))
    return _rotation(draw(some(count * (width + 1))), width, base, NEAR + EDGES, scale)


@st.composite
def signed_rotations(draw: st.DrawFn) -> RotationCase:
    """Draw narrow rows at positions of both signs, near and far."""
    width, count, base = draw(one_of(2, 4)), draw(counts()), draw(one_of(*BASES))
    table = tuple(-p for p in NEAR[1:] + EDGES + FAR) if draw(st.booleans()) else SIGNED
    return _rotation(draw(some(count * (width + 1))), width, base, table)


@st.composite
def far_rotations(draw: st.DrawFn) -> RotationCase:
    """Draw narrow rows at positions to 2^20, and to 2^31 in a long hunt."""
    width, count, base = draw(one_of(2, 4)), draw(one_of(1, 2, 3)), draw(one_of(*BASES))
    table = FAR if reach() == 1 else FARTHEST
    return _rotation(draw(some(count * (width + 1))), width, base, table)


@st.composite
def long_rotations(draw: st.DrawFn) -> RotationCase:
    """Draw many narrow rows: around the usual sizes of blocks, or any number."""
    edges = (10, 16, 17, 32, 33, 64, 65, 128, 129, 256, 257, 257)
    count = draw(st.one_of(one_of(*edges), from_7_to(260)))
    width, base = draw(one_of(2, 4)), draw(one_of(10000, 10))
    pattern = draw(some(5 * (width + 1))) * (count // 5 + 1)
    case = _rotation(pattern[: count * (width + 1)], width, base, NEAR)
    order = draw(
        one_of("one by one", "as drawn", "every third", "backwards", "the middle exchanged")
    )
    first = draw(st.integers(0, 20))
    places = list(range(first, first + count))
    if order == "as drawn":
        return case
    if order == "every third":
        places = [3 * place for place in places]
    elif order == "backwards":
        places.reverse()
    elif order == "the middle exchanged":
        middle = count // 2
        places[middle - 1 : middle + 1] = places[middle], places[middle - 1]
    return case._replace(positions=tuple(places))


# Whole blocks of the usual sizes, and one row more: what is cut wrongly is cut wrongly here.
WHOLE_BLOCKS = tuple(
    RotationCase(((1.0, 0.0),) * count, tuple(range(count)), 10000) for count in (16, 64, 256, 257)
)


def _rotation(
    data: bytes, width: int, base: float, table: tuple[int, ...], scale: float = 1.0
) -> RotationCase:
    """Return the rotation whose rows, each `width` numbers and a position, are in the bytes."""
    step = width + 1
    places = data[width::step]
    x = matrix(b"".join(data[t : t + width] for t in range(0, len(data), step)), width)
    x = tuple(
        (0.0,) * width if place >= ZERO_ROW else row for place, row in zip(places, x, strict=True)
    )
    return RotationCase(scaled(x, scale), entries(places, table), base)


@st.composite
def rotation_arguments(
    draw: st.DrawFn, kinds: tuple[str, ...], table: tuple[int, ...], *, far: bool = False
) -> ArgumentCase:
    """Draw a rotation and the form of one of its arguments."""
    form = draw(one_of(*kinds))
    width, count, base = draw(one_of(2, 4, 6, 8)), draw(counts()), draw(one_of(*BASES))
    table += FAR if far and width <= NARROW else ()
    case = _rotation(draw(some(count * (width + 1))), width, base, table)
    if form == forms.INTEGER:
        case = case._replace(x=scaled(case.x, draw(one_of(8.0, 8.0 * (2**24 + 1)))))
    elif form == forms.UNSIGNED:
        case = case._replace(x=tuple(tuple(abs(8 * value) for value in row) for row in case.x))
    return ArgumentCase(*case, form)


def row_forms() -> st.SearchStrategy[ArgumentCase]:
    """Draw a rotation and the dtype or memory layout of its rows."""
    return rotation_arguments(tuple(f for f in forms.ROWS if f != forms.PLAIN), NEAR)


def position_forms() -> st.SearchStrategy[ArgumentCase]:
    """Draw a rotation and the type of its positions."""
    return rotation_arguments(tuple(forms.POSITIONS), NEAR + EDGES, far=True)


@st.composite
def turns(draw: st.DrawFn) -> TurnsCase:
    """Draw rows, each with two positions to turn it by."""
    width, count, base = draw(widths()), draw(counts()), draw(one_of(*BASES))
    data = draw(some(count * (width + 2)))
    x = matrix(data[2 * count :], width)
    first, second = data[:count], data[count : 2 * count]
    return TurnsCase(x, entries(first, NEAR + EDGES), entries(second, NEAR + EDGES), base)


@st.composite
def turns_and_back(draw: st.DrawFn) -> TurnsCase:
    """Draw rows, and for each a position of either sign and the opposite one."""
    case = draw(turns())
    first = tuple(a if b % 2 else -a for a, b in zip(case.first, case.second, strict=True))
    return TurnsCase(case.x, first, tuple(-a for a in first), case.base)


@st.composite
def sums(draw: st.DrawFn) -> LinearCase:
    """Draw two matrices of rows at the same positions, and two factors."""
    width, count, base = draw(widths()), draw(counts()), draw(one_of(*BASES))
    data = draw(some(count * (2 * width + 1) + 2))
    (a, b), data = entries(data[:2], EIGHTHS), data[2:]
    places, data = entries(data[:count], NEAR + EDGES), data[count:]
    x, y = (matrix(part, width) for part in (data[: count * width], data[count * width :]))
    return LinearCase(x, y, a, b, places, base)


@st.composite
def scores(draw: st.DrawFn) -> ScoreCase:
    """Draw a query and a key, their positions, and a shift of both."""
    width, base = draw(one_of(2, 4, 4, 8, 16)), draw(one_of(*BASES))
    data = draw(some(2 * width + 3))
    q, k = matrix(data[3:], width)
    m, n, shift = entries(data[:3], NEAR + EDGES + (FAR if width <= NARROW else ()))
    return ScoreCase(q, k, m, n, shift, base)


@st.composite
def two_bases(draw: st.DrawFn) -> BasesCase:
    """Draw rows of at least two pairs, and two bases that differ."""
    case = draw(rotations(smallest_width=4))
    other = draw(one_of(*(base for base in BASES if base != case.base)))
    return BasesCase(*case, other)


@st.composite
def rotation_calls(draw: st.DrawFn) -> RotationCallsCase:
    """Draw a rotation, others that differ from it in one thing each, and what they share."""
    form = draw(
        one_of(forms.PLAIN, forms.PLAIN, forms.INTEGER, forms.SAME_ARRAYS, forms.SAME_BYTES)
    )
    count, width, base = draw(one_of(1, 2, 3, 4)), draw(one_of(2, 4, 6, 8)), draw(one_of(*BASES))
    first = _rotation(draw(some(count * (width + 1))), width, base, NEAR + EDGES)
    if form == forms.SAME_BYTES:
        places = tuple(half for place in first.positions for half in (place, 0))
        return RotationCallsCase(first, (RotationCase(first.x * 2, places, base),), form)
    if form == forms.INTEGER:
        first = first._replace(x=scaled(first.x, 8.0))
    changes = REFILLS if form == forms.SAME_ARRAYS else CHANGES
    others = tuple(_changed(draw, first, changes) for _ in range(draw(one_of(1, 2, 3, 4))))
    return RotationCallsCase(first, others, form)


CHANGES = ("positions", "rows", "base", "length", "width", "order")
REFILLS = ("rows", "positions", "order")


def _changed(draw: st.DrawFn, case: RotationCase, changes: tuple[str, ...]) -> RotationCase:
    """Return a rotation that differs from another in one thing."""
    change, count, width = draw(one_of(*changes)), len(case.x), len(case.x[0])
    if change == "length":
        count = draw(one_of(1, 2, 3, 4, 7))
        return _rotation(draw(some(count * (width + 1))), width, case.base, NEAR + EDGES)
    if change == "width":
        width = draw(one_of(2, 4, 6, 8))
    if change in ("width", "rows"):
        return case._replace(x=matrix(draw(some(count * width)), width))
    if change == "base":
        return case._replace(base=draw(one_of(*(base for base in BASES if base != case.base))))
    if change == "positions":
        return case._replace(positions=entries(draw(some(count)), NEAR + EDGES))
    return case._replace(x=case.x[::-1], positions=case.positions[::-1])


@st.composite
def layouts(draw: st.DrawFn) -> LayoutCase:
    """Draw a few rows, the layout they are in and the one they are due in."""
    width, count = draw(one_of(4, 6, 8, 2, 16)), draw(one_of(2, 1, 3))
    source, target = draw(
        one_of(("interleaved", "half"), ("half", "interleaved"), ("half", "half"))
    )
    data = draw(some(count * (width + 1)))
    x, places = matrix(data[count:], width), entries(data[:count], NEAR)
    x = scaled(x, draw(one_of(1.0, FINE)))
    return LayoutCase(x, places, source, target)


@st.composite
def rotations_at_turning_points(draw: st.DrawFn) -> RotationCase:
    """Draw rows at the positions where numbers of 16 or 32 bits run out of digits."""
    width, base, count = draw(one_of(2, 4, 8, 64)), draw(one_of(*BASES)), draw(one_of(1, 2, 3))
    table = (1, 257, 2049, 4095, 2**16, 2**17, 256, 2048, 2**16 + 1, 2**17 + 1)
    return _rotation(draw(some(count * (width + 1))), width, base, table)


@st.composite
def rotations_beyond(draw: st.DrawFn, limit: str) -> LimitCase:
    """Draw a rotation that is fitted to break a limit: by position or by width."""
    width, count = draw(one_of(2, 4, 6, 8)), draw(one_of(1, 2, 3))
    case = _rotation(draw(some(count * (width + 1))), width, 10000, NEAR)
    # Not zeros: what is answered is to be told from what is answered otherwise.
    case = case._replace(x=tuple((row[0] or 1.0, *row[1:]) for row in case.x))
    places = case.positions
    if limit == "negative":
        places = (*(-p for p in places[:-1]), -1 - places[-1])
    elif limit == "apart":
        first = draw(one_of(0, 1, 2, 7))
        order = draw(one_of((0, 2), (0, 0), (1, 0), (0, 1, 3), (0, 1, 1), (0, 0, 2), (0, 100)))
        places = tuple(first + step for step in order)
        case = case._replace(x=(case.x * 3)[: len(order)])
    elif limit == "later":
        first = draw(one_of(1, 2, 3, 100))
        places = tuple(range(first, first + count))
    elif limit == "max_position":
        places = tuple(sorted(places))
    return LimitCase(case.x, places, 10000, limit)


@st.composite
def too_many_rows(draw: st.DrawFn) -> LongerCase:
    """Draw two rows that are fitted to be decoded in turn, more often than there are positions."""
    width = draw(one_of(2, 4))
    first, second = matrix(draw(some(2 * width)), width)
    # Of equal rows every mean is the same, whatever is seen.
    x = (first[0] or 1.0, *first[1:]), (*second[:-1], second[-1] or -1.0)
    return LongerCase(x, 10000, draw(one_of(1, 2)))
