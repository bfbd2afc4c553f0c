"""Purity: a function returns an array of its own and changes nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from rope_kv.testing import calls, right
from rope_kv.testing.cases import (
    DecodeCase,
    RotationCase,
    array,
)
from rope_kv.testing.comparison import Broken, described, expect_array
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of

from .histories import histories
from .rotations import rotations, signed_rotations


def expect_unchanged(now: Any, before: Any, what: str) -> None:
    """Raise Broken where an array is not what it was, or can no longer be written.

    The sign of a zero alone is no change: no reader would see one.
    """
    if now.shape != before.shape or now.dtype != before.dtype:
        raise Broken(f"{what} became {described(now)}, it was {described(before)}", "purity")
    if not now.flags.writeable:
        raise Broken(f"{what} was made read-only", "purity")
    if not np.array_equal(now, before):
        raise Broken(
            f"{what} was changed", "purity", expected=before, yours=now, sides=("before", "after")
        )


@property_of("apply_rope", rotations(), share=0.5)
def test_rotation_returns_a_float64_array_like_x(impl: Implementation, case: RotationCase) -> None:
    """apply_rope(x, p) ∈ ℝ^(T×d)

    Catches lists, single precision, and an extra axis.
    """
    x = calls.given(impl, array(case.x))
    returned = impl.apply_rope(x.copy(), list(case.positions), case.base)
    expect_array(returned, x.shape, "apply_rope", impl.capabilities.dtype)


@property_of("decode_incremental", histories(), share=0.5)
def test_decoding_returns_a_float64_array_like_x(impl: Implementation, case: DecodeCase) -> None:
    """decode(x) ∈ ℝ^(T×D)

    Catches lists, single precision, and an extra axis.
    """
    x = calls.given(impl, array(case.x))
    returned = impl.decode_incremental(calls.traced(impl, case), x.copy())
    expect_array(returned, x.shape, "decode_incremental", impl.capabilities.dtype)


@property_of("apply_rope", signed_rotations(), share=0.5)
def test_rotation_leaves_its_arguments_unchanged(impl: Implementation, case: RotationCase) -> None:
    """x, p before = x, p after

    Catches rotation in place, and positions that are shifted or sorted in place.
    """
    x, places, listed = array(case.x), np.array(case.positions), list(case.positions)
    x = calls.given(impl, x)
    impl.apply_rope(x, places, case.base)
    expect_unchanged(x, calls.given(impl, array(case.x)), "x")
    expect_unchanged(places, np.array(case.positions), "the array of positions")
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
    x, decoder = calls.given(impl, array(case.x)), calls.traced(impl, case)
    impl.decode_incremental(decoder, x)
    expect_unchanged(x, calls.given(impl, array(case.x)), "x_embedded")
    if changed := decoder.changed():
        raise Broken(f"decoder.{changed} was changed", "purity")


@property_of("apply_rope", rotations(), share=0.5)
def test_a_rotated_array_has_its_own_memory(impl: Implementation, case: RotationCase) -> None:
    """memory(apply_rope(x, p)) ∩ memory(x) = ∅, where R(p)·x ≠ x

    Catches rotation in place that returns its argument.
    """
    x = calls.given(impl, array(case.x))
    result = impl.apply_rope(x, list(case.positions), case.base)
    turned = right.rotation(impl, case.x, case.positions, case.base).expected
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
    x = calls.given(impl, array(case.x))
    result = impl.decode_incremental(calls.traced(impl, case), x)
    if isinstance(result, np.ndarray) and np.shares_memory(result, x):
        raise Broken("the result shares memory with x_embedded", "purity")
