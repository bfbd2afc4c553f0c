"""What the properties of decoding draw: one strategy a case type."""

from __future__ import annotations

from hypothesis import strategies as st

from rope_kv.testing import forms
from rope_kv.testing.cases import (
    DecodeBasesCase,
    DecodeCallsCase,
    DecodeCase,
    DecodeFormCase,
    EditCase,
    PrefixCase,
)
from rope_kv.testing.profiles import reach

from .values import (
    BASES,
    EIGHTHS,
    FINE,
    SEEDS,
    WHOLE,
    counts,
    matrix,
    one_of,
    scaled,
    some,
    widths,
)


@st.composite
def histories(
    draw: st.DrawFn,
    *,
    smallest: int = 1,
    smallest_width: int = 2,
    bases: tuple[float, ...] = BASES,
    table: tuple[float, ...] = EIGHTHS,
) -> DecodeCase:
    """Draw a few rows to decode: any, all equal, two in turn, or one of them zero."""
    count, width = draw(counts(smallest)), draw(widths(smallest_width))
    base, seed = draw(one_of(*bases)), draw(one_of(*SEEDS))
    pattern = draw(one_of("any", "any", "any", "equal", "in turn", "zero"))
    x = matrix(draw(some(count * width)), width, table)
    if pattern == "equal":
        x = x[:1] * count
    elif pattern == "in turn":
        x = (x[:2] * count)[:count]
    elif pattern == "zero":
        x = (*x[: count // 2], (0.0,) * width, *x[count // 2 + 1 :])
    return DecodeCase(x, base, seed)


@st.composite
def long_histories(draw: st.DrawFn) -> DecodeCase:
    """Draw narrow rows, enough of them to fill every usual buffer; few of them differ."""
    lengths = (17, 33, 65, 129, 257) if reach() == 1 else (257, 513, 1025)
    count = draw(st.one_of(one_of(*lengths), st.integers(7, lengths[-1])))
    width, base = draw(one_of(2, 4)), draw(one_of(10000, 10))
    rows = matrix(draw(some(7 * width)), width)
    return DecodeCase((rows * (count // 7 + 1))[:count], base, draw(one_of(0, 1)))


@st.composite
def loud_histories(draw: st.DrawFn) -> DecodeCase:
    """Draw rows whose scores are far above what exp can take, now and then nearly equal ones."""
    case = draw(histories())
    scale = draw(one_of(32.0, 64.0, 128.0))
    if draw(st.booleans()):
        # One row, repeated, that has only its slowest pair: its keys hardly turn.
        slow = (*(0.0,) * len(case.x[0]), *case.x[0][-2:])
        case = DecodeCase((slow,) * len(case.x), 1000000, 0)
    return case._replace(x=scaled(case.x, scale))


@st.composite
def fine_histories(draw: st.DrawFn) -> DecodeCase:
    """Draw a few rows to decode, now and then of numbers that need all digits of float64."""
    case = draw(histories())
    return case._replace(x=scaled(case.x, draw(one_of(1.0, FINE))))


@st.composite
def repeated_tokens(draw: st.DrawFn) -> DecodeCase:
    """Draw one row, repeated."""
    case = draw(histories())
    return case._replace(x=case.x[:1] * len(case.x))


@st.composite
def edits(draw: st.DrawFn) -> EditCase:
    """Draw a sequence of at least two rows, and another row for one of its places."""
    case = draw(histories(smallest=2))
    width = len(case.x[0])
    at = draw(st.integers(0, len(case.x) - 1))
    (row,) = matrix(draw(some(width)), width)
    if row == case.x[at]:
        row = (row[0] + 1.0, *row[1:])
    return EditCase(case.x, at, row, case.base, case.seed)


@st.composite
def prefixes(draw: st.DrawFn) -> PrefixCase:
    """Draw a sequence of at least two rows and the length of a shorter one it begins with."""
    case = draw(histories(smallest=2))
    return PrefixCase(case.x, draw(st.integers(1, len(case.x) - 1)), case.base, case.seed)


@st.composite
def histories_under_two_bases(draw: st.DrawFn) -> DecodeBasesCase:
    """Draw a sequence of at least two pairs and two bases that differ."""
    case = draw(histories(smallest=2, smallest_width=4))
    other = draw(one_of(*(base for base in BASES if base != case.base)))
    return DecodeBasesCase(case.x, case.base, other, case.seed)


@st.composite
def history_forms(draw: st.DrawFn) -> DecodeFormCase:
    """Draw a sequence of whole numbers and the dtype or memory layout of its array."""
    case = draw(histories(table=WHOLE))
    form = draw(one_of(*(f for f in forms.ROWS if f not in (forms.PLAIN, forms.UNSIGNED))))
    return DecodeFormCase(*case, form)


@st.composite
def decode_calls(draw: st.DrawFn) -> DecodeCallsCase:
    """Draw two decodes that differ in one thing and may share an object."""
    changed, shared = draw(
        one_of(
            ("rows", "nothing"),
            ("length", "nothing"),
            ("base", "nothing"),
            ("width", "nothing"),
            ("weights", "nothing"),
            ("rows", "decoder"),
            ("length", "decoder"),
            ("rows", "x_embedded"),
            ("weights", "x_embedded"),
        )
    )
    count, width, base = draw(one_of(1, 2, 3, 4)), draw(one_of(2, 4, 6)), draw(one_of(*BASES))
    seed = draw(one_of(*SEEDS))
    first = DecodeCase(matrix(draw(some(count * width)), width), base, seed)
    if changed == "base":
        second = first._replace(base=draw(one_of(*(b for b in BASES if b != base))))
    elif changed == "weights":
        second = first._replace(seed=(seed + 1) % 4)
    else:
        rows = draw(one_of(1, 2, 3, 4)) if changed == "length" else count
        columns = draw(one_of(2, 4, 6)) if changed == "width" else width
        second = first._replace(x=matrix(draw(some(rows * columns)), columns))
    return DecodeCallsCase(first, second, shared)
