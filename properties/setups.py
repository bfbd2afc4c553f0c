"""What the properties of the library contract draw: decoders, programs, batches."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

from rope_kv.oracle_scaling import BY_LENGTH
from rope_kv.testing import forms
from rope_kv.testing.cases import Matrix
from rope_kv.testing.library_cases import (
    FILLS,
    BatchCase,
    BatchStep,
    FormedProgramCase,
    NarrowWindowCase,
    ProgramCase,
    Scaling,
    Setup,
    SetupDecodeCase,
    Step,
    TwoProgramsCase,
    WidthCase,
    WindowEditCase,
    longest,
)
from rope_kv.testing.profiles import reach

from .scalings import scalings
from .values import EIGHTHS, GENTLE, LOUD, SEEDS, WHOLE, from_7_to, matrix, one_of, some

# Query heads, and key and value heads: one group, a group each, and what lies between.
HEADS = ((1, 1), (2, 1), (2, 2), (4, 2), (4, 1), (6, 3), (6, 2), (4, 4))
WIDTHS = (2, 4, 6, 8)
HEAD_DIMS = (2, 4, 6, 8)
BASES = (10000, 100, 10, 500000, 500)
ALL = ("heads", "rotary_dim", "window", "sinks", "scaling")
# The ways in which rows may be stored, other than usual.
STORED = tuple(f for f in forms.ROWS if f not in (forms.PLAIN, forms.INTEGER, forms.UNSIGNED))


@functools.cache
@st.composite
def setups(draw: st.DrawFn, *may: str, must: tuple[str, ...] = ()) -> Setup:
    """Draw a decoder that has what it must, and now and then what it may."""

    def has(what: str) -> bool:
        return what in must or (what in may and draw(one_of(False, False, True)))

    setup = Setup(draw(one_of(*WIDTHS)), draw(one_of(*BASES)), draw(one_of(*SEEDS)))
    if has("heads"):
        heads, kv_heads = draw(one_of(*HEADS[1:] if "heads" in must else HEADS))
        head_dim = draw(one_of(*HEAD_DIMS))
        setup = setup._replace(heads=heads, kv_heads=kv_heads, head_dim=head_dim)
    if has("rotary_dim"):
        head_dim = draw(one_of(4, 6, 8))
        turned = draw(one_of(*range(2, head_dim, 2)))
        setup = setup._replace(head_dim=head_dim, rotary_dim=turned)
    if has("window") or "sinks" in must:
        setup = setup._replace(window=draw(one_of(1, 2, 3, 4)))
    if setup.window and has("sinks"):
        setup = setup._replace(sinks=draw(one_of(1, 2, 3)))
    if has("scaling"):
        if (setup.rotary_dim or setup.head_dim or setup.width) < 4:
            setup = setup._replace(head_dim=max(4, setup.head_dim), rotary_dim=0)
        turned = setup.rotary_dim or setup.head_dim or setup.width
        setup = setup._replace(scaling=draw(scalings(turned, setup.base)))
    return setup


def few(smallest: int = 1, largest: int = 6) -> st.SearchStrategy[int]:
    """Draw how many rows."""
    return one_of(*range(smallest, largest + 1))


@functools.cache
@st.composite
def rows(draw: st.DrawFn, count: int, width: int, table: tuple[float, ...] = EIGHTHS) -> Matrix:
    """Draw so many rows."""
    return matrix(draw(some(count * width)), width, table) if count else ()


@st.composite
def decodes(
    draw: st.DrawFn, *may: str, must: tuple[str, ...] = (), largest: int = 8
) -> SetupDecodeCase:
    """Draw a decoder and a few rows to decode with it."""
    setup = draw(setups(*may, must=must))
    count = draw(few(1, largest))
    return SetupDecodeCase(draw(rows(count, setup.width, _gentle_or_any(draw))), setup)


@st.composite
def loud_decodes(draw: st.DrawFn) -> SetupDecodeCase:
    """Draw a decoder of several heads, and rows that are large for some of them alone."""
    setup = draw(setups(must=("heads",)))
    return SetupDecodeCase(draw(rows(draw(few(1, 4)), setup.width, LOUD)), setup)


@st.composite
def narrow_decodes(draw: st.DrawFn) -> NarrowWindowCase:
    """Draw a decoder with a narrow window, and rows enough to fill it."""
    setup = draw(setups("heads", must=("window",)))
    return NarrowWindowCase(draw(rows(draw(few(2, 6)), setup.width, GENTLE)), setup)


@st.composite
def long_decodes(draw: st.DrawFn, *may: str, must: tuple[str, ...] = ()) -> SetupDecodeCase:
    """Draw a decoder and rows enough to fill a ring many times; few of them differ."""
    setup = draw(setups(*may, must=must))
    setup = setup._replace(width=draw(one_of(2, 4)), window=draw(one_of(1, 2, 3, 4, 7, 8, 16)))
    count = draw(st.one_of(one_of(9, 17, 33, 65), from_7_to(70 if reach() == 1 else 500)))
    pattern = draw(rows(7, setup.width))
    return SetupDecodeCase((pattern * (count // 7 + 1))[:count], setup)


@st.composite
def window_edits(draw: st.DrawFn) -> WindowEditCase:
    """Draw a gentle sequence under a window, and another row for one of its places."""
    setup = draw(setups("heads", "sinks", must=("window",)))
    x = draw(rows(draw(few(2, 7)), setup.width, GENTLE))
    at = draw(st.integers(0, len(x) - 1))
    (row,) = draw(rows(1, setup.width, GENTLE))
    if row == x[at]:
        row = (row[0] + 1.0, *row[1:])
    return WindowEditCase(x, setup, at, row)


@st.composite
def chunkings(
    draw: st.DrawFn, *may: str, must: tuple[str, ...] = (), largest: int = 4
) -> ProgramCase:
    """Draw a sequence, cut into chunks; now and then an empty one among them."""
    setup = draw(setups(*may, must=must))
    table = _gentle_or_any(draw)
    sizes = [draw(few(0, largest)) for _ in range(draw(few(1, 5)))]
    steps = [Step("feed", rows=draw(rows(size, setup.width, table))) for size in sizes]
    return ProgramCase(setup, tuple(steps))


@st.composite
def formed_chunks(draw: st.DrawFn) -> FormedProgramCase:
    """Draw a sequence, cut into chunks that are stored in another way than usual."""
    return FormedProgramCase(draw(chunkings()), draw(one_of(*STORED)))


@st.composite
def pairs_of_programs(draw: st.DrawFn) -> TwoProgramsCase:
    """Draw two programs with decoders of their own."""
    first, second = draw(chunkings("heads")), draw(chunkings("heads"))
    return TwoProgramsCase(first, second)


@st.composite
def warm_chunks(draw: st.DrawFn) -> ProgramCase:
    """Draw a few chunks, long ones among them: around the usual sizes of blocks."""
    setup = draw(setups("window", "heads"))._replace(width=draw(one_of(2, 4)))
    sizes = (1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65)
    pattern = draw(rows(7, setup.width))
    steps = []
    for _ in range(draw(few(2, 3))):
        count = draw(one_of(*sizes))
        steps.append(Step("feed", rows=(pattern * (count // 7 + 1))[:count]))
    return ProgramCase(setup, tuple(steps))


@st.composite
def programs(
    draw: st.DrawFn, *operations: str, may: tuple[str, ...] = (), must: tuple[str, ...] = ()
) -> ProgramCase:
    """Draw a program of some operations; it feeds before it does anything else, and at the end."""
    setup = draw(setups(*may, must=must))
    table = _gentle_or_any(draw)
    histories, steps = [0], []

    def feed(session: int) -> None:
        fed = draw(rows(draw(one_of(1, 2, 3, 1)), setup.width, table))
        steps.append(Step("feed", session, rows=fed))
        histories[session] += len(fed)

    feed(0)
    for _ in range(draw(few(1, 6))):
        op = draw(one_of("feed", *operations))
        session = draw(st.integers(0, len(histories) - 1))
        length = histories[session]
        if op == "feed":
            feed(session)
            continue
        number = 0
        if op == "crop":
            number = draw(st.integers(0, length))
            histories[session] = number
        elif op == "reset":
            histories[session] = 0
        elif op == "fork":
            histories.append(length)
        elif op == "start":
            histories.append(0)
        elif op == "fill_unused":
            number = draw(st.integers(0, len(FILLS) - 1))
        steps.append(Step(op, session, number))
    for session in range(len(histories)):
        feed(session)
    return ProgramCase(setup, tuple(steps))


@st.composite
def roomy_programs(
    draw: st.DrawFn,
    *operations: str,
    full: bool = False,
    may: tuple[str, ...] = ("heads", "window", "scaling"),
) -> ProgramCase:
    """Draw a program of sessions with a capacity: just enough for each, or some more."""
    case = draw(programs(*operations, may=may))
    more = 0 if full else draw(one_of(0, 1, 2, 5))
    return case._replace(capacity=longest(case.steps) + more)


@st.composite
def batches(
    draw: st.DrawFn, *operations: str, padded: bool = False, may: tuple[str, ...] = ()
) -> BatchCase:
    """Draw a batch that is fed ragged rows, and in between reordered or cut down."""
    setup = draw(setups("heads", *may))
    if setup.scaling.rule in BY_LENGTH:
        # The rows have lengths of their own, and one call of apply_rope scales by one.
        setup = setup._replace(scaling=Scaling())
    table = _gentle_or_any(draw)
    size = draw(one_of(2, 1, 3))
    case, steps, left = BatchCase(setup, size, ()), [], size

    def feed() -> None:
        counts = [draw(one_of(1, 2, 1, 0, 3)) for _ in range(left)]
        fed = tuple(draw(rows(count, setup.width, table)) for count in counts)
        steps.append(BatchStep("feed", fed))

    feed()
    for _ in range(draw(few(1, 3))):
        op = draw(one_of("feed", *operations, *operations))
        if op == "reorder":
            chosen = tuple(draw(st.integers(0, left - 1)) for _ in range(left))
            steps.append(BatchStep(op, indices=chosen))
        elif op == "select":
            chosen = tuple(draw(st.permutations(range(left)))[: draw(few(1, left))])
            steps.append(BatchStep(op, indices=chosen))
            left = len(chosen)
        feed()
    if padded:
        case = case._replace(
            side=draw(one_of("left", "right")),
            extra=draw(one_of(0, 1, 2)),
            fill=draw(st.integers(0, len(FILLS) - 1)),
        )
    return case._replace(steps=tuple(steps))


@st.composite
def windowed_batches(draw: st.DrawFn) -> BatchCase:
    """Draw a batch under a window: its rows begin at lengths of their own, then go on together."""
    setup = draw(setups("heads", "sinks", must=("window",)))
    size = draw(one_of(2, 3))
    counts = [[draw(few(1, 5)) for _ in range(size)]]
    counts += [[draw(one_of(1, 2, 3))] * size for _ in range(draw(few(1, 3)))]
    steps = [
        BatchStep("feed", tuple(draw(rows(count, setup.width, GENTLE)) for count in each))
        for each in counts
    ]
    return BatchCase(setup, size, tuple(steps))


def _gentle_or_any(draw: st.DrawFn) -> tuple[float, ...]:
    """Draw which table rows are of: one whose every token shows in a softmax, or any."""
    return GENTLE if draw(st.booleans()) else EIGHTHS


@st.composite
def misfits(draw: st.DrawFn) -> WidthCase:
    """Draw rows, and a rotary_dim that is odd or too large."""
    width = draw(one_of(4, 2, 6, 8))
    turned = draw(one_of(width + 2, *range(1, width, 2), width + 1, 2 * width))
    return WidthCase(draw(rows(1, width, WHOLE)), (draw(one_of(1, 2, 3)),), turned)


@st.composite
def crops_outside(draw: st.DrawFn) -> ProgramCase:
    """Draw a program that feeds, crops to what is no length of it, and feeds again."""
    setup = draw(setups("heads"))
    counts = [draw(few(1, 3)) for _ in range(draw(few(1, 2)))]
    steps = [Step("feed", rows=draw(rows(count, setup.width))) for count in counts]
    length = sum(counts)
    number = draw(one_of(length + 1, -1, length + 2, 2 * length + 5, -length, -length - 1))
    last = draw(rows(draw(few(1, 2)), setup.width))
    return ProgramCase(setup, (*steps, Step("crop", number=number), Step("feed", rows=last)))


@st.composite
def overfull(draw: st.DrawFn) -> ProgramCase:
    """Draw a program that feeds, in the end, more tokens than its capacity."""
    setup = draw(setups("heads"))
    counts = [draw(few(1, 3)) for _ in range(draw(few(1, 3)))]
    steps = [Step("feed", rows=draw(rows(count, setup.width))) for count in counts]
    steps.append(Step("feed", rows=draw(rows(draw(few(1, 3)), setup.width))))
    return ProgramCase(setup, tuple(steps), capacity=sum(counts))


@st.composite
def overfull_in_between(draw: st.DrawFn) -> ProgramCase:
    """Draw a program that feeds more tokens than it has room for, and then as many as it has."""
    setup = draw(setups("heads"))
    counts = [draw(few(1, 3)) for _ in range(draw(few(1, 3)))]
    room = draw(one_of(0, 1, 2))
    counts += [room + draw(few(1, 3)), room]
    steps = [Step("feed", rows=draw(rows(count, setup.width))) for count in counts]
    return ProgramCase(setup, tuple(steps), capacity=sum(counts[:-2]) + room)
