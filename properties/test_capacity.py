"""Capacity: a store of fixed size changes no answer, and what it does not hold is never read."""

from __future__ import annotations

import functools

from rope_kv.testing import programs
from rope_kv.testing.comparison import expect_refusal
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import ProgramCase
from rope_kv.testing.property import property_of

from .setups import overfull, roomy_programs


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
