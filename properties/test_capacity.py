"""Capacity: a store of fixed size changes no answer, and what it does not hold is never read."""

from __future__ import annotations

import functools

from rope_kv.testing import programs
from rope_kv.testing.cases import Matrix
from rope_kv.testing.comparison import expect_refusal
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import ProgramCase
from rope_kv.testing.property import property_of

from .setups import overfull, overfull_in_between, roomy_programs


@property_of("start", roomy_programs("crop", "reset"), needs=("capacity",))
def test_the_capacity_changes_no_answer(impl: Implementation, case: ProgramCase) -> None:
    """C ≥ T: start(decoder, capacity=C) gives what the tokens give

    Catches unused slots that are attended to, and a mask or a position taken from the capacity.
    """
    programs.expect_the_oracle(impl, case)


@property_of("start", roomy_programs("crop", full=True), share=0.5, needs=("capacity",))
def test_a_store_may_be_filled_to_its_last_slot(impl: Implementation, case: ProgramCase) -> None:
    """C = T: start(decoder, capacity=C) gives what the tokens give

    Catches one slot too few, and a crop of a full store that makes a smaller one.
    """
    programs.expect_the_oracle(impl, case)


@property_of(
    "start", roomy_programs("fill_unused", "crop", "fill_unused", "reset"), needs=("fill_unused",)
)
def test_slots_that_hold_no_token_are_never_read(impl: Implementation, case: ProgramCase) -> None:
    """unused slots ← not a number, 10⁹, 0: the same answers

    Catches unused or cropped slots that are attended to, with whatever weight.
    """
    programs.expect_the_oracle(impl, case)


@property_of("start", overfull(), share=0.5, needs=("capacity",))
def test_tokens_beyond_the_capacity_are_refused(impl: Implementation, case: ProgramCase) -> None:
    """T > C ⇒ feed raises

    Catches a last slot that is overwritten, tokens that are dropped, and a ring where none is due.
    """
    session = programs.start(impl, programs.decoder_of(impl, case.setup), case.capacity)
    total = 0
    for step in case.steps:
        total += len(step.rows)
        feed = functools.partial(session.feed, programs.given(impl, step.rows, case.setup))
        if total > case.capacity:
            expect_refusal(feed, f"{total} tokens in a store of {case.capacity}")
            return
        feed()


@property_of("start", overfull_in_between(), share=0.5, needs=("capacity",))
def test_after_tokens_are_refused_there_is_room_as_before(
    impl: Implementation, case: ProgramCase
) -> None:
    """T > C ⇒ feed raises, and the session goes on as if it had not been called

    Catches a refusal that comes when half is done: a counter that was moved, and a chunk that is
    kept as far as it fits.
    """
    known = programs.Answers(impl, case.setup.decoder())
    session = programs.start(impl, programs.decoder_of(impl, case.setup), case.capacity)
    history: Matrix = ()
    for step in case.steps:
        rows, total = programs.given(impl, step.rows, case.setup), len(history + step.rows)
        if total > case.capacity:
            expect_refusal(
                functools.partial(session.feed, rows),
                f"{total} tokens in a store of {case.capacity}",
            )
            continue
        returned = session.feed(rows)
        history += step.rows
        known.expect(returned, history, len(step.rows), "what came of them")


@property_of(
    "start",
    roomy_programs("fork", "crop", may=("heads",)),
    share=0.5,
    needs=("capacity", "fork"),
)
def test_a_fork_has_the_room_of_its_origin(impl: Implementation, case: ProgramCase) -> None:
    """b = start(decoder, capacity=C).fork(): b has room for C tokens, and refuses more

    Catches a copy of the used slots alone, and a capacity that is not copied.
    """
    room = min(case.capacity, impl.capabilities.max_position or case.capacity)
    last = {id(step.session): step for step in programs.compared(impl, case)}
    for session, history in (step[1:3] for step in last.values() if step.history):
        for count in range(len(history) + 1, room + 2):
            feed = functools.partial(session.feed, programs.given(impl, history[:1], case.setup))
            if count <= room:
                feed()
            else:
                expect_refusal(feed, f"{count} tokens in a store of {room}")
