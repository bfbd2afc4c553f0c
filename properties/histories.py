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
    GENTLE,
    SEEDS,
    WHOLE,
    counts,
    from_7_to,
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
    largest_width: int = 32,
    table: tuple[float, ...] = EIGHTHS,
    scales: tuple[float, ...] = (1.0, 1.0, 1.0, 2.0**-40),
) -> DecodeCase:
    """Draw a few rows to decode: any, all equal, two in turn, or one zero; or all tiny."""
    count, width = draw(counts(smallest)), draw(widths(smallest_width, largest_width))
    base, seed = draw(one_of(*BASES)), draw(one_of(*SEEDS))
    pattern = draw(one_of("any", "any", "any", "equal", "in turn", "zero"))
    x = matrix(draw(some(count * width)), width, table)
    if pattern == "equal":
        x = x[:1] * count
    elif pattern == "in turn":
        x = (x[:2] * count)[:count]
    elif pattern == "zero":
        x = (*x[: count // 2], (0.0,) * width, *x[count // 2 + 1 :])
    return DecodeCase(scaled(x, draw(one_of(*scales))), base, seed)


@st.composite
def long_histories(draw: st.DrawFn) -> DecodeCase:
    """Draw rows enough to fill every usual buffer, or just to the brim; few of them differ."""
    edges = (16, 17, 32, 33, 64, 65, 128, 129, 256, 257)
    lengths = edges if reach() == 1 else (257, 513, 1025)
    count = draw(st.one_of(one_of(*lengths), from_7_to(lengths[-1])))
    width, base = draw(one_of(2, 4, 2, 6, 18, 32)), draw(one_of(10000, 10))
    if width > 6:
        count = min(count, 70)  # Wide rows are for what depends on both; they need not be many.
    rows = matrix(draw(some(7 * width)), width)
    return DecodeCase((rows * (count // 7 + 1))[:count], base, draw(one_of(0, 1)))


# Tables and windows of 256 are common, and their fault is one row in 257.
LONGEST = DecodeCase((((1.0, 0.0), (0.0, 1.0), (-1.0, 0.5)) * 86)[:257], 10000, 0)
# One row whose keys hardly turn, louder and louder and then softer and softer: a score of a later
# block of tokens is far above all before it, or far below.
SWELLING = DecodeCase(
    tuple((0.0, 0.0, 32.0 * min(t, 66 - t), 0.0) for t in range(1, 66)), 1000000, 0
)


@st.composite
def loud_histories(draw: st.DrawFn) -> DecodeCase:
    """Draw rows whose scores are far above what exp can take, now and then nearly equal ones."""
    case = draw(histories())
    scale = draw(one_of(32.0, 64.0, 128.0, 2048.0))
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
    """Draw a sequence of at least two gentle rows, and another row for one of its places."""
    case = draw(histories(smallest=2, largest_width=8, table=GENTLE))
    width = len(case.x[0])
    at = draw(st.integers(0, len(case.x) - 1))
    (row,) = matrix(draw(some(width)), width, GENTLE)
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
    """Draw a gentle sequence of at least two pairs, and two bases that differ."""
    case = draw(histories(smallest=2, smallest_width=4, largest_width=8, table=GENTLE))
    other = draw(one_of(*(base for base in BASES if base != case.base)))
    return DecodeBasesCase(case.x, case.base, other, case.seed)


@st.composite
def history_forms(draw: st.DrawFn) -> DecodeFormCase:
    """Draw a sequence of whole numbers and the dtype or memory layout of its array."""
    case = draw(histories(table=WHOLE, scales=(1.0,)))
    form = draw(one_of(*(f for f in forms.ROWS if f not in (forms.PLAIN, forms.UNSIGNED))))
    return DecodeFormCase(*case, form)


@st.composite
def histories_of_all_kinds(draw: st.DrawFn) -> DecodeFormCase:
    """Draw a sequence of any kind that other properties draw, in any form."""
    kind = draw(one_of("form", "loud", "repeated", "gentle"))
    if kind == "form":
        return draw(history_forms())
    if kind == "loud":
        case = draw(loud_histories())
    elif kind == "repeated":
        case = draw(repeated_tokens())
    else:
        case = draw(histories(smallest=2, largest_width=8, table=GENTLE))
    return DecodeFormCase(*case, forms.PLAIN)


CHANGES = {
    "nothing": ("rows", "length", "base", "width", "weights"),
    "decoder": ("rows", "length"),
    "x_embedded": ("rows", "weights", "base"),
}


@st.composite
def decode_calls(draw: st.DrawFn) -> DecodeCallsCase:
    """Draw a decode, others that differ from it in one thing each, and what they share."""
    shared = draw(one_of("nothing", "nothing", "decoder", "x_embedded"))
    count, width, base = draw(one_of(1, 2, 3, 4)), draw(one_of(2, 4, 6)), draw(one_of(*BASES))
    x = matrix(draw(some(count * width)), width)
    first = DecodeCase(x, base, draw(one_of(*SEEDS)))
    changes = CHANGES[shared]
    others = tuple(_changed(draw, first, changes) for _ in range(draw(one_of(1, 2, 3))))
    return DecodeCallsCase(first, others, shared)


def _changed(draw: st.DrawFn, case: DecodeCase, changes: tuple[str, ...]) -> DecodeCase:
    """Return a decode that differs from another in one thing."""
    change, count, width = draw(one_of(*changes)), len(case.x), len(case.x[0])
    if change == "base":
        return case._replace(base=draw(one_of(*(base for base in BASES if base != case.base))))
    if change == "weights":
        return case._replace(seed=(case.seed + 1) % len(SEEDS))
    if change == "length":
        count = draw(one_of(1, 2, 3, 4))
    elif change == "width":
        width = draw(one_of(2, 4, 6))
    return case._replace(x=matrix(draw(some(count * width)), width))
