"""apply_rope: each adjacent pair of a row turns by its position times its frequency."""

from __future__ import annotations

import numpy as np

from rope_kv import oracle
from rope_kv.testing import bounds, calls, forms, right
from rope_kv.testing.cases import (
    ArgumentCase,
    BasesCase,
    LinearCase,
    RotationCase,
    TurnsCase,
    array,
)
from rope_kv.testing.comparison import expect, expect_change, matrix
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of

from .rotations import (
    WHOLE_BLOCKS,
    far_rotations,
    long_rotations,
    position_forms,
    rotations,
    row_forms,
    signed_rotations,
    sums,
    turns,
    turns_and_back,
    two_bases,
)


def expect_the_definition(impl: Implementation, case: RotationCase) -> None:
    """Compare a rotation with the oracle."""
    due = right.rotation(impl, array(case.x), case.positions, case.base)
    expect(calls.rotate(impl, case), due.expected, due.within)


@property_of("apply_rope", rotations(), share=1.5, needs=("layout=interleaved",))
def test_each_adjacent_pair_turns_by_its_own_angle(
    impl: Implementation, case: RotationCase
) -> None:
    """(x₂ᵢ + j·x₂ᵢ₊₁) ↦ (x₂ᵢ + j·x₂ᵢ₊₁)·exp(j·p·θᵢ)

    The defining statement. Catches pairs taken half a vector apart, the opposite direction, wrong
    angles, positions that are not read, and cos or sin in single precision.
    """
    expect_the_definition(impl, case)


@property_of("apply_rope", far_rotations(), widens="each_adjacent_pair_turns_by_its_own_angle")
def test_far_positions_turn_as_exactly_as_near_ones(
    impl: Implementation, case: RotationCase
) -> None:
    """p to 2²⁰: (x₂ᵢ + j·x₂ᵢ₊₁) ↦ (x₂ᵢ + j·x₂ᵢ₊₁)·exp(j·p·θᵢ)

    Catches angles or positions in few digits, tables that end or wrap, and a rough 2π.
    """
    expect_the_definition(impl, case)


@property_of(
    "apply_rope",
    long_rotations(),
    examples=WHOLE_BLOCKS,
    share=0.5,
    widens="each_adjacent_pair_turns_by_its_own_angle",
)
def test_long_inputs_turn_row_by_row_like_short_ones(
    impl: Implementation, case: RotationCase
) -> None:
    """T to 257: (x₂ᵢ + j·x₂ᵢ₊₁) ↦ (x₂ᵢ + j·x₂ᵢ₊₁)·exp(j·p·θᵢ)

    Catches work in blocks that forgets the last one, and buffers of a fixed number of rows.
    """
    expect_the_definition(impl, case)


@property_of(
    "apply_rope",
    signed_rotations(),
    widens="each_adjacent_pair_turns_by_its_own_angle",
    needs=("positions=any",),
)
def test_negative_positions_turn_the_other_way(impl: Implementation, case: RotationCase) -> None:
    """p from −2²⁰: (x₂ᵢ + j·x₂ᵢ₊₁) ↦ (x₂ᵢ + j·x₂ᵢ₊₁)·exp(j·p·θᵢ)

    Catches a sign that is lost or shared, tables and memos that know only one sign, and types
    that are chosen by the largest position.
    """
    expect_the_definition(impl, case)


@property_of("apply_rope", rotations())
def test_each_pair_keeps_its_length(impl: Implementation, case: RotationCase) -> None:
    """|(y₂ᵢ, y₂ᵢ₊₁)| = |(x₂ᵢ, x₂ᵢ₊₁)|

    Catches scaling, reflections of one entry, pairs that are mixed, and cos and sin of two angles.
    """
    x, layout = array(case.x), impl.capabilities.layout
    expect(
        bounds.pair_lengths(calls.rotate(impl, case), oracle.laid_out(layout)),
        bounds.pair_lengths(x, layout),
        within=bounds.lengths(x, case.positions, layout, right.precision(impl)),
        sides=("|x pairs|", "|y pairs|"),
    )


@property_of("apply_rope", rotations(), share=0.5, needs=("positions=not negative",))
def test_position_0_leaves_a_row_as_it_is(impl: Implementation, case: RotationCase) -> None:
    """R(0)·x = x

    Catches positions counted from 1, cos and sin exchanged, and results put in another order.
    """
    x, still = array(case.x), [0] * len(case.x)
    due = right.rotation(impl, x, still, case.base)
    expect(calls.turn(impl, x.copy(), still, case.base), due.expected, due.within)


@property_of(
    "apply_rope",
    turns(),
    needs=("positions=not negative", "layout!=interleaved to half"),
)
def test_turning_by_a_then_by_b_is_turning_by_their_sum(
    impl: Implementation, case: TurnsCase
) -> None:
    """R(b)·R(a)·x = R(a + b)·x

    Catches positions that are shifted, clipped or rounded, and angles that wrap.
    """
    x = array(case.x)
    first, second, both = case.rotations()
    within = sum(
        right.rotation(impl, x, turn.positions, case.base).within for turn in (first, second, both)
    )
    # That of the fastest pair for all: other pairs than the contract's obey this law as well.
    within = np.max(within, axis=1, keepdims=True)
    once = calls.rotate(impl, first)
    expect(
        calls.turn(impl, once, list(second.positions), case.base),
        calls.rotate(impl, both),
        within=within,
        sides=("a + b", "a, then b"),
    )


@property_of(
    "apply_rope",
    turns_and_back(),
    needs=("positions=any", "layout!=interleaved to half"),
)
def test_turning_back_by_the_opposite_position_restores_the_row(
    impl: Implementation, case: TurnsCase
) -> None:
    """R(−a)·R(a)·x = x

    Catches negative positions that are clipped, lose their sign, or read a table from its end.
    """
    x = array(case.x)
    there = calls.turn(impl, x.copy(), list(case.first), case.base)
    expect(
        calls.turn(impl, there, list(case.second), case.base),
        x,
        within=2 * right.rotation(impl, x, case.first, case.base).within,
    )


@property_of("apply_rope", sums())
def test_rotation_is_linear(impl: Implementation, case: LinearCase) -> None:
    """R(p)·(a·x + b·y) = a·R(p)·x + b·R(p)·y

    Catches rows that are normalised, clipped or treated apart when they are zero.
    """
    x, y, places = array(case.x), array(case.y), list(case.positions)
    separately = case.a * calls.turn(impl, x, places, case.base) + case.b * calls.turn(
        impl, y, places, case.base
    )
    together = calls.turn(impl, case.a * array(case.x) + case.b * array(case.y), places, case.base)
    size = np.abs(case.a * array(case.x)) + np.abs(case.b * array(case.y))
    within = 2 * right.rotation(impl, size, case.positions, case.base).within
    expect(together, separately, within=within, sides=("separately", "together"))


@property_of("apply_rope", rotations(), needs=("positions=consecutive",))
def test_each_row_depends_on_its_own_position_alone(
    impl: Implementation, case: RotationCase
) -> None:
    """R(p)·x, row t = R(p[t])·x[t]

    Catches 0..T−1 in place of the positions given, positions counted from the first one, sorted
    or unique positions, and rows that share one angle.
    """
    x = array(case.x)
    alone = [
        calls.turn(impl, x[t : t + 1].copy(), [p], case.base) for t, p in enumerate(case.positions)
    ]
    expect(
        calls.rotate(impl, case),
        np.vstack(alone),
        within=right.rotation(impl, x, case.positions, case.base).within,
        sides=("row by row", "together"),
    )


@property_of("apply_rope", two_bases(), share=0.5)
def test_another_base_turns_by_other_angles(impl: Implementation, case: BasesCase) -> None:
    """base ≠ base′, i > 0, p ≠ 0 ⇒ p·θᵢ ≠ p·θ′ᵢ

    Catches a base that is ignored.
    """
    one, other = case.rotations()
    due, other_due = (right.rotation(impl, *call) for call in (one, other))
    expect_change(
        (calls.rotate(impl, one), calls.rotate(impl, other)),
        (due.expected, other_due.expected),
        within=due.within + other_due.within,
    )


@property_of("apply_rope", rotations(), share=0.5)
def test_rotation_has_the_default_base_10000(impl: Implementation, case: RotationCase) -> None:
    """apply_rope(x, p) = apply_rope(x, p, 10000)

    Catches another default, and a default that is the base of the call before.
    """
    x, places = array(case.x), list(case.positions)
    calls.rotate(impl, case)
    expect(
        calls.turn(impl, x.copy(), places),
        calls.turn(impl, x.copy(), places, 10000),
        within=right.rotation(impl, x, places, 10000).within,
        sides=("base=10000", "no base"),
    )


@property_of("apply_rope", rotations(), share=0.25)
def test_positions_and_base_may_be_given_by_name(impl: Implementation, case: RotationCase) -> None:
    """apply_rope(x, positions=p, base=b) = apply_rope(x, p, b)

    Catches parameters of other names.
    """
    x, places = array(case.x), list(case.positions)
    returned = impl.apply_rope(calls.given(impl, x.copy()), positions=list(places), base=case.base)
    expect(
        matrix(returned, x.shape, "apply_rope"),
        calls.rotate(impl, case),
        within=right.rotation(impl, x, places, case.base).within,
        sides=("in order", "by name"),
    )


@property_of("apply_rope", position_forms())
def test_positions_may_be_a_list_or_an_integer_array(
    impl: Implementation, case: ArgumentCase
) -> None:
    """positions: list, int32 array, int64 array ⇒ the same result

    Catches arithmetic on a list, and small integer types that overflow.
    """
    x = array(case.x)
    places = forms.POSITIONS[case.form](list(case.positions))
    other = forms.POSITIONS[forms.LIST if case.form != forms.LIST else forms.INT64]
    expect(
        calls.turn(impl, x.copy(), places, case.base),
        calls.turn(impl, x.copy(), other(list(case.positions)), case.base),
        within=right.rotation(impl, x, case.positions, case.base).within,
        sides=("otherwise", "this form"),
    )


@property_of("apply_rope", row_forms(), share=1.5, needs=("dtype=float64",))
def test_rows_may_be_integers_and_lie_in_memory_in_any_way(
    impl: Implementation, case: ArgumentCase
) -> None:
    """x: integer, read-only, strided, reversed, Fortran-ordered ⇒ the same result

    Catches results that are truncated to the dtype of x, writing into x, and reading past strides.
    """
    x = array(case.x)
    (plain,) = case.rotations()
    expect(
        calls.turn(impl, forms.ROWS[case.form](x.copy()), list(case.positions), case.base),
        calls.rotate(impl, plain),
        within=right.rotation(impl, x, case.positions, case.base).within,
        sides=("otherwise", "this form"),
    )
