"""Purity: an answer depends on the arguments alone, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rope_kv import oracle
from rope_kv.testing import bounds, calls, forms
from rope_kv.testing.cases import (
    DecodeCallsCase,
    DecodeCase,
    FrequencyCallsCase,
    RotationCallsCase,
    RotationCase,
    array,
)
from rope_kv.testing.comparison import Broken, expect, expect_float64_array
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of
from rope_kv.testing.trace import TracedDecoder

from .histories import (
    decode_calls,
    histories,
)
from .rotations import (
    frequency_calls,
    rotation_calls,
    rotations,
    signed_rotations,
)


def expect_unchanged(now: Any, before: Any, what: str) -> None:
    """Raise Broken where an array is not bit for bit what it was."""
    if now.tobytes() != before.tobytes():
        raise Broken(f"{what} was changed", "purity", expected=before, yours=now)


def expect_same_again(again: Any, before: Any, within: Any) -> None:
    """Raise Broken where an answer differs from the same one before its array was written to."""
    if before.size == again.size:  # A wrong shape is the business of another property.
        right = before.reshape(again.shape)
        expect(again, right, within, "writing into a result changes later ones")


def arguments_of(case: RotationCallsCase) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return the rows and positions of both calls, in the forms that the case asks for."""
    x, other_x = array(case.first.x), array(case.second.x)
    if case.form in forms.ROWS:
        rows = forms.ROWS[case.form](x)
        return (rows, list(case.first.positions)), (other_x, list(case.second.positions))
    other_dtype = np.int32 if case.form == forms.SAME_BYTES else np.int64
    places = np.array(case.first.positions, dtype=np.int64)
    return (x, places), (other_x, np.array(case.second.positions, dtype=other_dtype))


def overwrite(result: Any) -> None:
    """Write into a result, as its owner may; one that is read-only is left as it is."""
    if isinstance(result, np.ndarray) and result.flags.writeable:
        result[...] = 0


@property_of("apply_rope", rotations(), share=0.5)
def test_rotation_returns_a_float64_array_like_x(impl: Implementation, case: RotationCase) -> None:
    """apply_rope(x, p) ∈ ℝ^(T×d)

    Catches lists, single precision, and an extra axis.
    """
    x = array(case.x)
    returned = impl.apply_rope(x.copy(), list(case.positions), case.base)
    expect_float64_array(returned, x.shape, "apply_rope")


@property_of("decode_incremental", histories(), share=0.5)
def test_decoding_returns_a_float64_array_like_x(impl: Implementation, case: DecodeCase) -> None:
    """decode(x) ∈ ℝ^(T×D)

    Catches lists, single precision, and an extra axis.
    """
    x = array(case.x)
    returned = impl.decode_incremental(TracedDecoder(case.decoder()), x.copy())
    expect_float64_array(returned, x.shape, "decode_incremental")


@property_of("apply_rope", signed_rotations(), share=0.5)
def test_rotation_leaves_its_arguments_unchanged(impl: Implementation, case: RotationCase) -> None:
    """x, p before = x, p after

    Catches rotation in place, and positions that are shifted or sorted in place.
    """
    x, places, listed = array(case.x), np.array(case.positions), list(case.positions)
    impl.apply_rope(x, places, case.base)
    expect_unchanged(x, array(case.x), "x")
    expect_unchanged(places, np.array(case.positions), "the array of positions")
    if not x.flags.writeable:
        raise Broken("x was made read-only", "purity")
    impl.apply_rope(x, listed, case.base)
    if listed != list(case.positions):
        raise Broken("the list of positions was changed", "purity")


@property_of("decode_incremental", histories(), share=0.5)
def test_decoding_leaves_its_rows_and_its_decoder_unchanged(
    impl: Implementation, case: DecodeCase
) -> None:
    """x, decoder before = x, decoder after

    Catches outputs written into x, and weights or a base that are altered.
    """
    x, decoder = array(case.x), TracedDecoder(case.decoder())
    impl.decode_incremental(decoder, x)
    expect_unchanged(x, array(case.x), "x_embedded")
    if changed := decoder.changed():
        raise Broken(f"decoder.{changed} was changed", "purity")


@property_of("apply_rope", rotations(), share=0.5)
def test_a_rotated_array_has_its_own_memory(impl: Implementation, case: RotationCase) -> None:
    """memory(apply_rope(x, p)) ∩ memory(x) = ∅, where R(p)·x ≠ x

    Catches rotation in place that returns its argument.
    """
    x = array(case.x)
    result = impl.apply_rope(x, list(case.positions), case.base)
    turned = oracle.rotate(case.x, case.positions, case.base)
    if (
        isinstance(result, np.ndarray)
        and np.shares_memory(result, x)
        and not np.array_equal(turned, array(case.x))
    ):
        raise Broken("the result shares memory with x", "purity")


@property_of("decode_incremental", histories(), share=0.5)
def test_a_decoded_array_has_its_own_memory(impl: Implementation, case: DecodeCase) -> None:
    """memory(decode(x)) ∩ memory(x) = ∅

    Catches outputs written into x.
    """
    x = array(case.x)
    result = impl.decode_incremental(TracedDecoder(case.decoder()), x)
    if isinstance(result, np.ndarray) and np.shares_memory(result, x):
        raise Broken("the result shares memory with x_embedded", "purity")


@property_of("rope_freqs", frequency_calls(), share=0.5)
def test_an_array_of_frequencies_is_not_touched_by_later_calls(
    impl: Implementation, case: FrequencyCallsCase
) -> None:
    """θ = rope_freqs(d); rope_freqs(d′) leaves θ as it was, and θ ← 0 the next answer

    Catches a buffer that is used again, and a stored array that is handed out without a lock.
    """
    result = impl.rope_freqs(*case.first)
    if isinstance(result, np.ndarray):
        before = result.copy()
        calls.frequencies(impl, case.second)
        expect_unchanged(result, before, "an earlier result")
        overwrite(result)
        again = calls.frequencies(impl, case.first)
        expect_same_again(again, before, within=bounds.frequencies(*case.first))


@property_of("apply_rope", rotation_calls(), share=0.5)
def test_a_rotated_array_is_not_touched_by_later_calls(
    impl: Implementation, case: RotationCallsCase
) -> None:
    """y = apply_rope(x, p); apply_rope(x′, p′) leaves y as it was, and y ← 0 the next answer

    Catches a buffer that is used again, and a stored result that is handed out.
    """
    first, second = case.rotations()
    result = impl.apply_rope(array(first.x), list(first.positions), first.base)
    if isinstance(result, np.ndarray):
        before = result.copy()
        calls.rotate(impl, second)
        expect_unchanged(result, before, "an earlier result")
        overwrite(result)
        within = bounds.rotation(first.x, first.positions, first.base)
        expect_same_again(calls.rotate(impl, first), before, within)


@property_of("decode_incremental", decode_calls(), share=0.5)
def test_a_decoded_array_is_not_touched_by_later_calls(
    impl: Implementation, case: DecodeCallsCase
) -> None:
    """y = decode(x); decode(x′) leaves y as it was, and y ← 0 the next answer

    Catches an output buffer that is used again, and a stored answer that is handed out.
    """
    first, second = case.decodes()
    decoder, x = TracedDecoder(first.decoder()), array(first.x)
    result = impl.decode_incremental(decoder, x.copy())
    if isinstance(result, np.ndarray):
        before = result.copy()
        calls.decode(impl, second)
        expect_unchanged(result, before, "an earlier result")
        overwrite(result)
        again = calls.decode_with(impl, decoder, x.copy())
        expect_same_again(again, before, within=bounds.decoding(x, first.decoder()))


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
    expect(second, alone, bounds.frequencies(*case.second), "call B differs after call A")
    expect(again, first, bounds.frequencies(*case.first), "call A differs the second time")


@property_of("apply_rope", rotation_calls(), share=2)
def test_rotation_does_not_depend_on_earlier_calls(
    impl: Implementation, case: RotationCallsCase
) -> None:
    """A, A, B, A: each answer is what it is alone

    Catches stored angles that are found again by too little: by length, width or base alone.
    """
    alone = calls.rotate(impl.fresh(), case.second)
    impl = impl.fresh()
    within = bounds.rotation(case.first.x, case.first.positions, case.first.base)
    arguments, other_arguments = arguments_of(case)
    first = calls.turn(impl, *arguments, case.first.base)
    again = calls.turn(impl, *arguments, case.first.base)
    expect(again, first, within, "call A differs the second time")
    if case.form == forms.SAME_ARRAYS:
        for own, other in zip(arguments, other_arguments, strict=True):
            own[...] = other
        other_arguments = arguments
    expect(
        calls.turn(impl, *other_arguments, case.second.base),
        alone,
        bounds.rotation(case.second.x, case.second.positions, case.second.base),
        "call B differs after call A",
    )
    again = calls.turn(impl, *arguments_of(case)[0], case.first.base)
    expect(again, first, within, "call A differs after call B")


@property_of("decode_incremental", histories(), share=0.25)
def test_decoding_leaves_later_rotations_unchanged(impl: Implementation, case: DecodeCase) -> None:
    """apply_rope(x, p), decode(x), apply_rope(x, p): the same rotation twice

    Catches a base or a table that decoding sets for everyone.
    """
    x, places = array(case.x), list(range(1, len(case.x) + 1))
    before = calls.turn(impl, x.copy(), places)
    calls.decode(impl, case)
    expect(calls.turn(impl, x.copy(), places), before, within=bounds.rotation(x, places, 10000))


@property_of("decode_incremental", decode_calls(), share=1.25)
def test_decoding_does_not_depend_on_earlier_calls(
    impl: Implementation, case: DecodeCallsCase
) -> None:
    """A, B, A: each answer is what it is alone

    Catches a cache that lives on after its call, whatever it is found again by: the module, the
    decoder, the array of rows, or their shape.
    """
    alone = calls.decode(impl.fresh(), case.second)
    impl = impl.fresh()
    decoder, rows = TracedDecoder(case.first.decoder()), array(case.first.x)
    first = calls.decode_with(impl, decoder, rows)
    if case.shared != "decoder":
        decoder = TracedDecoder(case.second.decoder())
    if case.shared == "x_embedded":
        rows[...] = array(case.second.x)
    else:
        rows = array(case.second.x)
    second = calls.decode_with(impl, decoder, rows)
    within = bounds.decoding(case.second.x, case.second.decoder())
    expect(second, alone, within, "call B differs after call A")
    again = calls.decode(impl, case.first)
    within = bounds.decoding(case.first.x, case.first.decoder())
    expect(again, first, within, "call A differs after call B")
