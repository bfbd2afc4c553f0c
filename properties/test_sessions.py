"""Sessions: whatever is fed, cropped, forked or reset, the tokens seen decide what comes out."""

from __future__ import annotations

import contextlib
import operator
from itertools import zip_longest
from typing import Any

import numpy as np

from rope_kv.testing import calls, programs, right
from rope_kv.testing.cases import Matrix, array
from rope_kv.testing.comparison import (
    Broken,
    counted,
    described,
    expect,
    expect_array,
    expect_refusal,
    matrix,
)
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import (
    FormedProgramCase,
    ProgramCase,
    Setup,
    SetupDecodeCase,
    Step,
    TwoProgramsCase,
)
from rope_kv.testing.property import property_of
from rope_kv.testing.trace import TracedDecoder

from .setups import (
    ALL,
    STORED,
    chunkings,
    crops_outside,
    decodes,
    formed_chunks,
    pairs_of_programs,
    warm_chunks,
)
from .setups import programs as some_programs

SMALL = ("heads", "rotary_dim")


@property_of("start", chunkings(*SMALL), share=1.5, needs=("chunks",))
def test_any_chunks_give_what_the_whole_gives(impl: Implementation, case: ProgramCase) -> None:
    """feed(x[:a]), feed(x[a:b]), …, feed(x[z:]) = rows of the full forward

    The defining statement. Catches positions that begin anew with each chunk or are counted twice,
    a mask that starts at the wrong corner, and rows of a chunk that see later ones.
    """
    programs.expect_the_oracle(impl, case)


@property_of(
    "start",
    warm_chunks(),
    share=0.25,
    widens="any_chunks_give_what_the_whole_gives",
    needs=("chunks",),
)
def test_long_chunks_on_a_warm_cache_see_all_that_came_before(
    impl: Implementation, case: ProgramCase
) -> None:
    """n to 65: feed(x[a:a+n]) = rows a to a+n of the full forward

    Catches blocks that forget the last rows, and stores that lose what they hold when they grow.
    """
    programs.expect_the_oracle(impl, case)


@property_of("start", some_programs("start", may=SMALL), share=0.5, needs=("sessions",))
def test_sessions_of_one_decoder_do_not_see_each_other(
    impl: Implementation, case: ProgramCase
) -> None:
    """a.feed(x), b.feed(y), a.feed(x′): each sees its own tokens alone

    Catches a store or a counter that is shared: by the module, the class or the decoder.
    """
    programs.expect_the_oracle(impl, case)


@property_of("start", pairs_of_programs(), share=0.25, needs=("sessions",))
def test_sessions_of_two_decoders_do_not_see_each_other(
    impl: Implementation, case: TwoProgramsCase
) -> None:
    """a of one decoder and b of another, fed in turn: each as if it were alone

    Catches a decoder, a table or a store that the last one started leaves to all.
    """
    for _ in zip_longest(*(programs.compared(impl, program) for program in case)):
        pass


@property_of("start", some_programs("crop", may=SMALL), needs=("crop",))
def test_after_a_crop_only_the_first_tokens_were_seen(
    impl: Implementation, case: ProgramCase
) -> None:
    """feed(x), crop(n), feed(y) = feed(x[:n]), feed(y)

    Catches a crop to 0 or to the length that does something else, a row too few, and a position
    that is not lowered.
    """
    programs.expect_the_oracle(impl, case)


@property_of("start", crops_outside(), share=0.5, needs=("crop",))
def test_a_crop_below_0_or_beyond_the_tokens_is_refused(
    impl: Implementation, case: ProgramCase
) -> None:
    """n ∉ [0, length] ⇒ crop(n) raises, and the session goes on as before

    Catches negative numbers counted from the end, lengths that are believed, and a refusal that
    comes when half is done.
    """
    operations = [step.op for step in case.steps]
    if "crop" not in operations:
        return  # There are not so many positions.
    at = operations.index("crop")
    number, known = case.steps[at].number, programs.Answers(impl, case.setup.decoder())
    session, history = _after(impl, case._replace(steps=case.steps[:at]))
    expect_refusal(lambda: session.crop(number), f"crop({number}) of {len(history)} tokens")
    for step in case.steps[at + 1 :]:
        returned = session.feed(programs.given(impl, step.rows, case.setup))
        history += step.rows
        known.expect(returned, history, len(step.rows), "what came after it")


@property_of("start", some_programs("fork", may=SMALL), needs=("fork",))
def test_a_fork_and_its_origin_go_their_own_ways(impl: Implementation, case: ProgramCase) -> None:
    """b = a.fork(); a.feed(x), b.feed(y): each goes on from the tokens before the fork

    Catches a copy that shares its store or its counter, and one that is empty.
    """
    programs.expect_the_oracle(impl, case)


@property_of(
    "start",
    some_programs("reset", may=(*SMALL, "window", "sinks")),
    share=0.75,
    needs=("reset",),
)
def test_after_a_reset_nothing_was_seen(impl: Implementation, case: ProgramCase) -> None:
    """feed(x), reset(), feed(y) = feed(y)

    Catches a store that is emptied and a position that is not, or the other way round.
    """
    programs.expect_the_oracle(impl, case)


@property_of(
    "start",
    some_programs("start", "crop", "fork", "reset", may=ALL),
    share=1.5,
    needs=("sessions",),
)
def test_any_program_gives_what_its_tokens_give(impl: Implementation, case: ProgramCase) -> None:
    """start, feed, crop, fork, reset in any order: outputs = oracle(list of tokens seen)

    Catches what only two operations together show: a crop after a fork, a fork after a reset.
    """
    programs.expect_the_oracle(impl, case)


@property_of(
    "start",
    some_programs("start", "crop", "fork", "reset", may=("window", "sinks")),
    share=0.5,
    needs=("length",),
)
def test_the_length_is_the_number_of_tokens_seen(impl: Implementation, case: ProgramCase) -> None:
    """session.length = tokens fed − tokens forgotten

    Catches a length of the store that is taken for it, and a crop that does not lower it.
    """
    for step in programs.done(impl, case):
        said = _as_int(step.session.length)
        if said != len(step.history):
            raise Broken(
                f"after {step.step.op} length is {said}, of {counted(len(step.history), 'token')}",
                expected=np.array([[float(len(step.history))]]),
                yours=np.array([[float(said)]]),
            )


@property_of(
    "start",
    chunkings(*SMALL)
    | chunkings(must=("window",))
    | some_programs("crop", "fork", "reset", may=(*SMALL, "window", "sinks")),
    share=0.75,
    needs=("sessions",),
)
def test_each_row_that_is_fed_is_projected_once(impl: Implementation, case: ProgramCase) -> None:
    """feed(x): calls of project_q, project_k, project_v = the rows of x, in order; else none

    Catches a prefix that is projected again, when it is fed, cut, copied or outgrows a window, and
    the whole forward in place of a cache.
    """
    decoder = programs.decoder_of(impl, case.setup)
    for step in programs.done(impl, case, decoder):
        fed = step.step.rows
        for name in ("project_q", "project_k", "project_v"):
            _expect_rows_once(decoder, name, fed)
        if given := decoder.rows_given("forward_full"):
            raise Broken(f"{counted(len(given), 'call')} of forward_full", "calls")
        out = sum(len(np.atleast_2d(rows)) for rows in decoder.rows_given("project_out"))
        if out != len(fed):
            due = counted(len(fed), "row")
            raise Broken(f"project_out was given {counted(out, 'row')} for {due}", "calls")
        decoder.calls.clear()


TWO_ROWS = Step("feed", rows=((1.0, 2.0), (3.0, 4.0)))


@property_of(
    "start",
    formed_chunks(),
    examples=tuple(
        FormedProgramCase(ProgramCase(Setup(2), (TWO_ROWS,) * 2), form) for form in STORED
    ),
    share=0.25,
    needs=("sessions", "dtype=float64"),
)
def test_rows_that_are_fed_may_lie_in_memory_in_any_way(
    impl: Implementation, case: FormedProgramCase
) -> None:
    """feed(x) is the same however x is stored

    Catches rows that are read by their place in memory.
    """
    programs.expect_the_oracle(impl, case.program, case.form)


@property_of("start", chunkings(), share=0.5, needs=("sessions",))
def test_rows_that_were_fed_are_their_owners_again(
    impl: Implementation, case: ProgramCase
) -> None:
    """feed(x) leaves x as it was; then x ← 0, and what feed returned ← 0, change nothing and stay

    Catches views of the rows, or of the outputs, that are kept in the store, and outputs that are
    returned in the same memory again.
    """
    history: Matrix = ()
    kept: list[tuple[str, Any]] = []
    whole = sum((step.rows for step in case.steps), ())
    known = programs.Answers(impl, case.setup.decoder(), [whole])
    session = programs.start(impl, programs.decoder_of(impl, case.setup), 0)
    for step in case.steps:
        x = programs.given(impl, step.rows, case.setup)
        before = x.copy()
        returned = session.feed(x)
        if x.tobytes() != before.tobytes():
            raise Broken("the rows that were fed were changed", "purity")
        history += step.rows
        known.expect(returned, history, len(step.rows))
        for what, owned in kept:
            if np.any(owned):
                raise Broken(f"{what} before were changed", "purity")
        for what, owned in (("rows that were fed", x), ("outputs that were returned", returned)):
            if isinstance(owned, np.ndarray) and owned.flags.writeable:
                owned[...] = 0
                kept.append((what, owned))


@property_of("start", chunkings(), share=0.25, needs=("sessions",))
def test_feeding_returns_an_array_like_the_rows_that_are_fed(
    impl: Implementation, case: ProgramCase
) -> None:
    """feed(x) is an array of x's shape, in the dtype declared

    Catches a list of rows, an axis that is dropped, and outputs that are collected in another
    dtype.
    """
    session = programs.start(impl, programs.decoder_of(impl, case.setup), 0)
    for step in case.steps:
        x = programs.given(impl, step.rows, case.setup)
        returned = session.feed(x)
        if len(x):
            expect_array(returned, x.shape, "feed", impl.capabilities.dtype)


@property_of("start", chunkings(), share=0.25, needs=("sessions",))
def test_a_session_leaves_its_decoder_unchanged(impl: Implementation, case: ProgramCase) -> None:
    """decoder before = decoder after

    Catches a cache that is kept on the decoder, and a base or a weight that is altered.
    """
    decoder = programs.decoder_of(impl, case.setup)
    for _ in programs.done(impl, case, decoder):
        if changed := decoder.changed():
            raise Broken(f"decoder.{changed} was changed", "purity")


@property_of("paths", decodes(*ALL))
def test_every_path_gives_what_decoding_gives(impl: Implementation, case: SetupDecodeCase) -> None:
    """path(decoder, x) = the outputs of x decoded row by row, for each path declared

    Catches a fallback, a fused or an uncached path that masks, scales or turns in its own way.
    """
    x = array(case.x)
    within = 2 * right.decoding(impl, x, case.setup.decoder()).within
    if impl.capabilities.sessions:
        decoded = programs.decoded(impl, case)
    else:
        decoded = calls.decode_with(impl, programs.decoder_of(impl, case.setup), x.copy())
    for name in impl.capabilities.paths:
        decoder = programs.decoder_of(impl, case.setup)
        returned = impl.path(name, decoder, calls.given(impl, x.copy()))
        yours = matrix(returned, x.shape, name)
        expect(yours, decoded, within, sides=("decoded", name[:20]))


@property_of("paths", decodes(*ALL), share=0.25)
def test_every_path_returns_an_array_like_the_rows_it_is_given(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """path(decoder, x) is an array of x's shape, in the dtype declared

    Catches what is put together from two ways and is still in parts.
    """
    x = calls.given(impl, array(case.x))
    for name in impl.capabilities.paths:
        returned = impl.path(name, programs.decoder_of(impl, case.setup), x.copy())
        expect_array(returned, x.shape, name[:20], impl.capabilities.dtype)


def _as_int(said: Any) -> int:
    """Return a length as an int; one may be an integer of any kind, as in an array of none."""
    if not isinstance(said, bool | np.bool_):
        with contextlib.suppress(TypeError):
            length = operator.index(said)
            if abs(length) < 1 << 63:
                return length
            raise Broken("length has more than 64 bits", "type")
    raise Broken(f"length is {described(said)}, expected an int", "type")


def _after(impl: Implementation, case: ProgramCase) -> tuple[Any, Any]:
    """Return the session of a program of one session, when it is done, and what it has seen."""
    last = list(programs.done(impl, case))[-1]
    return last.session, last.history


def _expect_rows_once(decoder: TracedDecoder, name: str, rows: Any) -> None:
    """Raise Broken unless a projection was given these rows, in any portions, in order."""
    width = decoder.width
    given = [np.asarray(part, dtype=np.float64) for part in decoder.rows_given(name)]
    odd = [part for part in given if part.shape[-1:] != (width,)]
    if odd:
        raise Broken(f"{name} was given rows of shape {odd[0].shape}, of width {width}", "calls")
    joined = np.concatenate([np.empty((0, width)), *(part.reshape(-1, width) for part in given)])
    if len(joined) != len(rows):
        found, due = counted(len(joined), "row"), counted(len(rows), "row")
        raise Broken(f"{name} was given {found}, {due} being fed", "calls")
    if len(rows) and not np.array_equal(joined, array(rows)):
        raise Broken(f"{name} was not given the rows that were fed, in order", "calls")
