"""Repeated calls: an answer depends on its arguments alone, and stays what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rope_kv.testing import calls, forms, right
from rope_kv.testing.cases import (
    DecodeCallsCase,
    DecodeCase,
    FrequencyCallsCase,
    RotationCallsCase,
    RotationCase,
    array,
)
from rope_kv.testing.comparison import Broken, expect, is_real
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of

from .histories import decode_calls, histories
from .rotations import frequency_calls, rotation_calls

ALONE = ("alone", "later")
AGAIN = ("first", "again")


def expect_kept(
    result: Any, later: Callable[[], Any], again: Callable[[], Any], within: Any
) -> None:
    """Raise Broken where a later call changes a result, or writing into it the next answer."""
    if not isinstance(result, np.ndarray) or not is_real(result.dtype):
        return  # Another property says what is wrong with it.
    before, was_writeable = result.copy(), result.flags.writeable
    later()
    if result.tobytes() != before.tobytes():
        raise Broken(
            "an earlier result was changed",
            "purity",
            expected=before,
            yours=result,
            sides=("before", "after"),
        )
    if was_writeable:
        result[...] = 0
    repeated = again()
    if before.size == repeated.size:  # A wrong shape is the business of another property.
        expect(
            repeated,
            before.reshape(repeated.shape),
            within,
            "writing into a result changes later ones",
            sides=("before", "after"),
        )


def arguments_of(call: RotationCase, form: str, dtype: type = np.int64) -> tuple[Any, Any]:
    """Return the rows and positions of a call, in the form that the case asks for."""
    x = array(call.x)
    if form in forms.ROWS:
        return forms.ROWS[form](x), list(call.positions)
    return x, np.array(call.positions, dtype=dtype)


def refill(own: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    """Write the contents of some arrays into others, as their owner may."""
    for mine, theirs in zip(own, other, strict=True):
        if mine.shape != theirs.shape or not mine.flags.writeable:
            raise Broken("an argument was made read-only, or got another shape", "purity")
        mine[...] = theirs


@property_of("rope_freqs", frequency_calls(), share=0.5)
def test_an_array_of_frequencies_is_not_touched_by_later_calls(
    impl: Implementation, case: FrequencyCallsCase
) -> None:
    """θ = rope_freqs(d); rope_freqs(d′) leaves θ as it was, and θ ← 0 the next answer

    Catches a buffer that is used again, and a stored array that is handed out without a lock.
    """
    expect_kept(
        impl.rope_freqs(*case.first),
        later=lambda: calls.frequencies(impl, case.second),
        again=lambda: calls.frequencies(impl, case.first),
        within=right.frequencies(impl, *case.first).within,
    )


@property_of("apply_rope", rotation_calls(), share=0.5)
def test_a_rotated_array_is_not_touched_by_later_calls(
    impl: Implementation, case: RotationCallsCase
) -> None:
    """y = apply_rope(x, p); apply_rope(x′, p′) leaves y as it was, and y ← 0 the next answer

    Catches a buffer that is used again, and a stored result that is handed out.
    """
    first, second = case.first, case.others[0]
    expect_kept(
        impl.apply_rope(calls.given(impl, array(first.x)), list(first.positions), first.base),
        later=lambda: calls.rotate(impl, second),
        again=lambda: calls.rotate(impl, first),
        within=right.rotation(impl, first.x, first.positions, first.base).within,
    )


@property_of("decode_incremental", decode_calls(), share=0.5)
def test_a_decoded_array_is_not_touched_by_later_calls(
    impl: Implementation, case: DecodeCallsCase
) -> None:
    """y = decode(x); decode(x′) leaves y as it was, and y ← 0 the next answer

    Catches an output buffer that is used again, and a stored answer that is handed out.
    """
    first, second = case.first, case.others[0]
    decoder, x = calls.traced(impl, first), array(first.x)
    expect_kept(
        impl.decode_incremental(decoder, calls.given(impl, x.copy())),
        later=lambda: calls.decode(impl, second),
        again=lambda: calls.decode_with(impl, decoder, x.copy()),
        within=right.decoding(impl, x, first.decoder()).within,
    )


@property_of("rope_freqs", frequency_calls())
def test_frequencies_do_not_depend_on_earlier_calls(
    impl: Implementation, case: FrequencyCallsCase
) -> None:
    """A, B, A: each answer is what it is alone

    Catches stored frequencies that are found again by width alone or by base alone.
    """
    alone = calls.frequencies(impl.fresh(), case.second)
    impl = impl.fresh()
    first, second, again = (
        calls.frequencies(impl, call) for call in (case.first, case.second, case.first)
    )
    within = right.frequencies(impl, *case.second).within
    expect(second, alone, within, "a later call is not answered as it is alone", ALONE)
    within = right.frequencies(impl, *case.first).within
    expect(again, first, within, "the first call, made again, is answered otherwise", AGAIN)


@property_of("apply_rope", rotation_calls(), share=2)
def test_rotation_does_not_depend_on_earlier_calls(
    impl: Implementation, case: RotationCallsCase
) -> None:
    """A, B, A, C, A, …: each answer is what it is alone

    Catches stored angles that are found again by too little: by length, width or base alone.
    """
    alone = [calls.rotate(impl.fresh(), other) for other in case.others]
    impl = impl.fresh()
    given = arguments_of(case.first, case.form)
    first = calls.turn(impl, *given, case.first.base)
    others_form = forms.PLAIN if case.form in forms.ROWS else case.form
    others_dtype = np.int32 if case.form == forms.SAME_BYTES else np.int64
    for other, expected in zip(case.others, alone, strict=True):
        arguments = arguments_of(other, others_form, others_dtype)
        if case.form == forms.SAME_ARRAYS:
            refill(given, arguments)
            arguments = given
        later = calls.turn(impl, *arguments, other.base)
        within = right.rotation(impl, other.x, other.positions, other.base).within
        expect(later, expected, within, "a later call is not answered as it is alone", ALONE)
        again = calls.turn(impl, *arguments_of(case.first, case.form), case.first.base)
        within = right.rotation(impl, case.first.x, case.first.positions, case.first.base).within
        expect(again, first, within, "the first call, made again, is answered otherwise", AGAIN)
        if case.form == forms.SAME_ARRAYS:
            refill(given, arguments_of(case.first, case.form))


@property_of(
    "decode_incremental",
    histories(),
    share=0.5,
    inherits=False,
    needs=("positions=consecutive", "apply_rope"),
)
def test_decoding_leaves_later_rotations_unchanged(impl: Implementation, case: DecodeCase) -> None:
    """apply_rope(x, p), decode(x), apply_rope(x, p): the same rotation twice

    Catches a base or a table that decoding sets for everyone.
    """
    x, end = array(case.x), impl.capabilities.max_position
    first = 0 if end is not None and len(x) >= end else 1
    places = list(range(first, first + len(x)))
    impl = impl.fresh()
    before = calls.turn(impl, x.copy(), places)
    calls.decode(impl, case)
    after = calls.turn(impl, x.copy(), places)
    if np.all(np.isfinite(before)):
        within = right.rotation(impl, x, places, 10000).within
        expect(after, before, within=within, sides=("before", "after"))


@property_of("decode_incremental", decode_calls())
def test_decoding_does_not_depend_on_earlier_calls(
    impl: Implementation, case: DecodeCallsCase
) -> None:
    """A, B, A, C, A, …: each answer is what it is alone

    Catches a cache that lives on after its call, whatever it is found again by: the module, the
    decoder, the array of rows, or their shape.
    """
    alone = [calls.decode(impl.fresh(), other) for other in case.others]
    impl = impl.fresh()
    decoder, rows = calls.traced(impl, case.first), array(case.first.x)
    # Kept, so that none has the id of one before it: a cache found by id must fail each time.
    kept: list[Any] = [(decoder, rows)]
    first = calls.decode_with(impl, decoder, rows)
    for other, expected in zip(case.others, alone, strict=True):
        if case.shared != "decoder":
            decoder = calls.traced(impl, other)
        if case.shared == "x_embedded":
            refill((rows,), (array(other.x),))
        else:
            rows = array(other.x)
        kept.append((decoder, rows))
        later = calls.decode_with(impl, decoder, rows)
        within = right.decoding(impl, other.x, other.decoder()).within
        expect(later, expected, within, "a later call is not answered as it is alone", ALONE)
        kept.append((calls.traced(impl, case.first), array(case.first.x)))
        again = calls.decode_with(impl, *kept[-1])
        within = right.decoding(impl, case.first.x, case.first.decoder()).within
        expect(again, first, within, "the first call, made again, is answered otherwise", AGAIN)
