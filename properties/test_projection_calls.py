"""The work trace: which rows decode_incremental projects, how often, in which order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rope_kv.testing import calls, forms
from rope_kv.testing.cases import DecodeCallsCase, DecodeCase, DecodeFormCase, array
from rope_kv.testing.comparison import Broken, counted, described
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of
from rope_kv.testing.trace import TracedDecoder, expect_each_row_once

from .histories import (
    decode_calls,
    fine_histories,
    histories,
    histories_of_all_kinds,
    long_histories,
)


def traced(impl: Implementation, case: DecodeCase) -> TracedDecoder:
    """Return the decoder of a decode, with its record of the calls."""
    decoder = calls.traced(impl, case)
    calls.decode_with(impl, decoder, array(case.x))
    return decoder


def expect_one_pass(decoder: TracedDecoder, x: NDArray[np.float64]) -> None:
    """Raise Broken unless q, k and v were projected row by row, and nothing at once."""
    for name in ("project_q", "project_k", "project_v"):
        expect_each_row_once(decoder, name, x)
    if given := decoder.rows_given("forward_full"):
        raise Broken(f"{counted(len(given), 'call')} of forward_full", "calls")


@property_of("decode_incremental", fine_histories(), share=0.5)
def test_project_q_sees_each_row_once_in_order(impl: Implementation, case: DecodeCase) -> None:
    """calls of project_q = x[0:1], x[1:2], …, x[T−1:T]

    Catches whole sequences projected at once, and rows projected twice.
    """
    expect_each_row_once(traced(impl, case), "project_q", array(case.x))


@property_of("decode_incremental", fine_histories(), share=0.5)
def test_project_k_sees_each_row_once_in_order(impl: Implementation, case: DecodeCase) -> None:
    """calls of project_k = x[0:1], x[1:2], …, x[T−1:T]

    Catches a prefix that is projected again at each step: right numbers, and no cache at all.
    """
    expect_each_row_once(traced(impl, case), "project_k", array(case.x))


@property_of("decode_incremental", fine_histories(), share=0.5)
def test_project_v_sees_each_row_once_in_order(impl: Implementation, case: DecodeCase) -> None:
    """calls of project_v = x[0:1], x[1:2], …, x[T−1:T]

    Catches a prefix that is projected again at each step: right numbers, and no cache at all.
    """
    expect_each_row_once(traced(impl, case), "project_v", array(case.x))


@property_of("decode_incremental", fine_histories(), share=0.5)
def test_project_out_turns_each_attended_row_once(impl: Implementation, case: DecodeCase) -> None:
    """rows given to project_out = T in all

    Catches outputs that are projected again as they grow, and a last projection that is left out.
    """
    given = traced(impl, case).rows_given("project_out")
    width = len(case.x[0])
    odd = [rows for rows in given if rows.ndim != 2 or rows.shape[1] != width]
    if odd:
        raise Broken(
            f"project_out was given {described(odd[0])}; rows have shape (n, {width})", "calls"
        )
    total = sum(len(rows) for rows in given)
    if total != len(case.x):
        count, tokens = counted(total, "row"), counted(len(case.x), "token")
        raise Broken(f"project_out was given {count} for {tokens}", "calls")


@property_of("decode_incremental", fine_histories(), share=0.5)
def test_the_full_forward_is_never_called(impl: Implementation, case: DecodeCase) -> None:
    """forward_full ∉ calls

    Catches a decode that asks for the answer.
    """
    given = traced(impl, case).rows_given("forward_full")
    if given:
        raise Broken(
            f"{counted(len(given), 'call')} of forward_full: it is there to compare with", "calls"
        )


@property_of("decode_incremental", long_histories(), share=0.25)
def test_long_histories_are_projected_row_by_row_as_well(
    impl: Implementation, case: DecodeCase
) -> None:
    """T to 257: calls of project_q, project_k, project_v = x[0:1], …, x[T−1:T] each

    Catches work that is done again when a buffer grows, a first block that is projected at once,
    and a full forward for long inputs.
    """
    expect_one_pass(traced(impl, case), array(case.x))


@property_of("decode_incremental", histories_of_all_kinds(), share=0.5, needs=("dtype=float64",))
def test_rows_of_any_kind_are_projected_row_by_row_as_well(
    impl: Implementation, case: DecodeFormCase
) -> None:
    """x integer, strided, loud, equal: calls of project_q, project_k, project_v = x[0:1], … each

    Catches another way for some inputs: all rows at once, or a full forward.
    """
    (plain,) = case.decodes()
    decoder = calls.traced(impl, plain)
    calls.decode_with(impl, decoder, forms.ROWS[case.form](array(case.x)))
    expect_one_pass(decoder, array(case.x))


@property_of("decode_incremental", decode_calls(), share=0.5)
def test_later_decodes_are_projected_row_by_row_as_well(
    impl: Implementation, case: DecodeCallsCase
) -> None:
    """A, B, C, …: calls of project_q, project_k, project_v = the rows of each, one by one

    Catches keys, values or whole answers that are taken from an earlier call.
    """
    decoder, seen = calls.traced(impl, case.first), {case.first}
    calls.decode_with(impl, decoder, array(case.first.x))
    for other in case.others:
        if case.shared == "decoder":
            decoder.calls.clear()
        else:
            decoder = calls.traced(impl, other)
        calls.decode_with(impl, decoder, array(other.x))
        if other not in seen:  # What is asked again may be remembered.
            expect_one_pass(decoder, array(other.x))
        seen.add(other)


@property_of("decode_incremental", histories(smallest=2), share=0.25, advice=True)
def test_each_step_is_finished_before_the_next_row_is_touched(
    impl: Implementation, case: DecodeCase
) -> None:
    """project_out of step t comes before any projection of step t + 1

    Advice. Catches a loop that could not choose token t + 1 by the output of token t.
    """
    decoder = traced(impl, case)
    names = ("project_q", "project_k", "project_v")
    given = {name: decoder.rows_given(name) for name in (*names, "project_out")}
    if any(sum(map(len, map(np.atleast_2d, rows))) != len(case.x) for rows in given.values()):
        return  # Steps cannot be told apart; the properties above say what is wrong.
    finished, touched = 0, dict.fromkeys(names, 0)
    for call in decoder.calls:
        if call.name == "project_out":
            finished += len(np.atleast_2d(call.rows))
        elif call.name in touched:
            if finished < touched[call.name]:
                raise Broken(
                    f"{call.name} was given row {touched[call.name]} "
                    f"when {counted(finished, 'row')} had been projected out",
                    "calls",
                )
            touched[call.name] += 1
