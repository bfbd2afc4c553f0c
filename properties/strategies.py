"""What the properties draw: one strategy a case type.

Values are eighths, so that they are exact in every dtype, short on paper and never confused with
rounding. All numbers of a case come from one draw of bytes, a byte a number: as varied as a draw
for each number, shrunk as well (byte 0 is the simplest entry of its table), and many times faster.
"""

from __future__ import annotations

from typing import Any, TypeVar

from hypothesis import strategies as st

from rope_kv.testing import forms
from rope_kv.testing.cases import (
    ArgumentCase,
    BasesCase,
    DecodeBasesCase,
    DecodeCallsCase,
    DecodeCase,
    DecodeFormCase,
    EditCase,
    FrequencyCallsCase,
    FrequencyCase,
    LinearCase,
    Matrix,
    PrefixCase,
    RotationCallsCase,
    RotationCase,
    ScoreCase,
    TurnsCase,
)
from rope_kv.testing.profiles import reach

Number = TypeVar("Number", int, float)

# Simplest first: 0 and 1, then whole numbers, halves, quarters, eighths.
EIGHTHS = tuple(
    n / 8
    for n in sorted(range(-32, 33), key=lambda n: (n % 8 != 0, n % 4 != 0, n % 2 != 0, abs(n), -n))
)
WHOLE = tuple(float(n) for n in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5))
NEAR = tuple(range(24))
# Both sides of the lengths at which tables end and small types overflow.
EDGES = tuple(p + step for p in (32, 64, 100, 128, 256) for step in (-1, 0, 1))
FAR = (1000, 100000, 1000001, *(2**k + step for k in range(9, 21) for step in (-1, 0, 1)))
FARTHEST = (*FAR, *(2**k + step for k in range(21, 32) for step in (-1, 0, 1)))
# The usual one, then powers of ten to check by hand, then what configurations really hold.
BASES = (10000, 100, 10, 500, 500000, 1000000, 1000001, 2, 2.5, 12345.75, 0.5)

COUNTS = (1, 2, 3, 4, 5, 6, 2, 3)
WIDTHS = (2, 4, 6, 8, 4, 8, 10, 16, 32)
SEEDS = (0, 1, 2, 3)
ZERO_ROW = 240  # a row whose position is drawn by such a byte is all zeros: one in sixteen
# A factor that leaves single precision, but not double, short of digits.
FINE = 1 + 2.0**-40


def entries(data: bytes, table: tuple[Number, ...]) -> tuple[Number, ...]:
    """Return one entry of a table for each byte."""
    return tuple(table[byte % len(table)] for byte in data)


def matrix(data: bytes, width: int, table: tuple[float, ...] = EIGHTHS) -> Matrix:
    """Return rows of `width` numbers from a table, a byte a number.

    Each row is read from its end: bytes shrink towards zeros in front, so the simplest row that
    shows something reads 1, 0, 0, 0.
    """
    values = entries(data, table)
    return tuple(values[start : start + width][::-1] for start in range(0, len(values), width))


def scaled(x: Matrix, scale: float) -> Matrix:
    """Return the rows times a number."""
    return x if scale == 1 else tuple(tuple(value * scale for value in row) for row in x)


def some(size: int) -> st.SearchStrategy[bytes]:
    """Draw that many bytes."""
    return st.binary(min_size=size, max_size=size)


def one_of(*values: Any) -> st.SearchStrategy[Any]:
    """Draw one of the values; the first is the simplest."""
    return st.sampled_from(values)


def widths(smallest: int = 2) -> st.SearchStrategy[int]:
    """Draw an even width."""
    return one_of(*(width for width in WIDTHS if width >= smallest))


def counts(smallest: int = 1) -> st.SearchStrategy[int]:
    """Draw how many rows; a few, and many in a long hunt."""
    few = tuple(count for count in COUNTS if count >= smallest)
    return st.deferred(lambda: one_of(*few, *(few if reach() == 1 else (9, 20, 50, 130))))


def any_base() -> st.SearchStrategy[float]:
    """Draw a usual base, or any multiple of an eighth."""
    return st.one_of(one_of(*BASES), st.integers(9, 8_000_000).map(lambda n: n / 8))


@st.composite
def frequencies(draw: st.DrawFn) -> FrequencyCase:
    """Draw a width, any even one to 64, and a base, any above 0."""
    return FrequencyCase(2 * draw(st.integers(1, 32)), draw(any_base()))


@st.composite
def growing_frequencies(draw: st.DrawFn) -> FrequencyCase:
    """Draw a width with at least two pairs, and a base above 1."""
    base = draw(any_base().filter(lambda base: base > 1))
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
    """Draw a few rows at positions of both signs."""
    case = draw(rotations())
    places = tuple(-p if p % 2 else p for p in case.positions)
    return case._replace(positions=places)


@st.composite
def far_rotations(draw: st.DrawFn) -> RotationCase:
    """Draw narrow rows at positions to 2^20, and to 2^31 in a long hunt."""
    width, count, base = draw(one_of(2, 4)), draw(one_of(1, 2, 3)), draw(one_of(*BASES))
    table = FAR if reach() == 1 else FARTHEST
    return _rotation(draw(some(count * (width + 1))), width, base, table)


@st.composite
def long_rotations(draw: st.DrawFn) -> RotationCase:
    """Draw many narrow rows, in any order of positions."""
    count, width = draw(one_of(17, 33, 65, 129, 257)), draw(one_of(2, 4))
    pattern = draw(some(4 * (width + 1))) * (count // 4 + 1)
    case = _rotation(pattern[: count * (width + 1)], width, 10000, NEAR)
    first, step = draw(st.integers(0, 20)), draw(one_of(1, 0, 3))
    places = tuple(first + step * t for t in range(count))
    return RotationCase(case.x, places[::-1] if draw(st.booleans()) else places, case.base)


def _rotation(
    data: bytes, width: int, base: float, table: tuple[int, ...], scale: float = 1.0
) -> RotationCase:
    """Return the rotation whose rows, each a position and `width` numbers, are in the bytes."""
    step = width + 1
    places = data[::step]
    x = matrix(b"".join(data[t + 1 : t + step] for t in range(0, len(data), step)), width)
    x = tuple(
        (0.0,) * width if place >= ZERO_ROW else row for place, row in zip(places, x, strict=True)
    )
    return RotationCase(scaled(x, scale), entries(places, table), base)


@st.composite
def rotation_arguments(
    draw: st.DrawFn, kinds: tuple[str, ...], table: tuple[int, ...]
) -> ArgumentCase:
    """Draw a rotation and the form of one of its arguments."""
    form = draw(one_of(*kinds))
    width, count, base = draw(one_of(2, 4, 6, 8)), draw(counts()), draw(one_of(*BASES))
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
    return rotation_arguments(tuple(forms.POSITIONS), NEAR + EDGES + FAR[:30])


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
    width, base = draw(widths()), draw(one_of(*BASES))
    data = draw(some(2 * width + 3))
    q, k = matrix(data[3:], width)
    m, n, shift = entries(data[:3], NEAR + EDGES + FAR[:30])
    return ScoreCase(q, k, m, n, shift, base)


@st.composite
def two_bases(draw: st.DrawFn) -> BasesCase:
    """Draw rows of at least two pairs, and two bases that differ."""
    case = draw(rotations(smallest_width=4))
    other = draw(one_of(*(base for base in BASES if base != case.base)))
    return BasesCase(*case, other)


@st.composite
def rotation_calls(draw: st.DrawFn) -> RotationCallsCase:
    """Draw two rotations that differ in one thing, and a form of their arguments."""
    changed = draw(
        one_of("positions", "rows", "base", "length", "width", "order", "dtype", "contents")
    )
    form = draw(one_of(forms.PLAIN, forms.PLAIN, forms.INTEGER))
    count, other_count = draw(one_of(1, 2, 3, 4)), draw(one_of(1, 2, 3, 4, 7))
    width, other_width = draw(one_of(2, 4, 6, 8)), draw(one_of(2, 4, 6, 8))
    base, other_base = draw(one_of(*BASES)), draw(one_of(*BASES))
    data = draw(some(count * (width + 1)))
    first = _rotation(data, width, base, NEAR + EDGES)
    if form == forms.INTEGER:
        first = first._replace(x=scaled(first.x, 8.0))
    if changed == "contents":
        form = forms.SAME_ARRAYS
        second = _rotation(draw(some(count * (width + 1))), width, base, NEAR + EDGES)
    elif changed == "dtype":
        form = forms.SAME_BYTES
        places = tuple(half for place in first.positions for half in (place, 0))
        second = RotationCase(first.x * 2, places, base)
    elif changed == "length":
        data = draw(some(other_count * (width + 1)))
        second = _rotation(data, width, base, NEAR + EDGES)
    elif changed == "width":
        x = matrix(draw(some(count * other_width)), other_width)
        second = RotationCase(x, first.positions, base)
    elif changed == "base":
        second = first._replace(base=other_base if other_base != base else base + 1)
    elif changed == "rows":
        second = first._replace(x=matrix(draw(some(count * width)), width))
    elif changed == "positions":
        second = first._replace(positions=entries(draw(some(count)), NEAR + EDGES))
    else:
        second = first._replace(x=first.x[::-1], positions=first.positions[::-1])
    return RotationCallsCase(first, second, form)


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
