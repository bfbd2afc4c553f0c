"""Precision: where rows hold few digits, angles do not."""

from __future__ import annotations

from rope_kv import oracle
from rope_kv.testing import bounds, calls, right
from rope_kv.testing.cases import RotationCase, array
from rope_kv.testing.comparison import expect
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of

from .rotations import rotations_at_turning_points


@property_of("apply_rope", rotations_at_turning_points(), needs=("dtype!=float64",))
def test_angles_keep_their_digits_where_16_bits_run_out(
    impl: Implementation, case: RotationCase
) -> None:
    """p = 1, 257, 2049, 4095, 2¹⁶, 2¹⁷: the error of an angle is that of float32

    Catches positions, frequencies or angles in the dtype of the rows: in bfloat16 positions 256
    and 257 are one, in float16 2048 and 2049.
    """
    due = right.rotation(impl, array(case.x), case.positions, case.base)
    expect(calls.rotate(impl, case), due.expected, due.within)


@property_of("apply_rope", rotations_at_turning_points(), share=0.5, needs=("dtype!=float64",))
def test_pairs_keep_their_length_in_few_digits_as_well(
    impl: Implementation, case: RotationCase
) -> None:
    """|(y₂ᵢ, y₂ᵢ₊₁)| = |(x₂ᵢ, x₂ᵢ₊₁)|, at any position

    Catches cos and sin of angles that were rounded apart, and a cos that loses its digits.
    """
    x, layout = array(case.x), impl.capabilities.layout
    expect(
        bounds.pair_lengths(calls.rotate(impl, case), oracle.laid_out(layout)),
        bounds.pair_lengths(x, layout),
        within=bounds.lengths(x, case.positions, layout, right.precision(impl)),
        sides=("|x pairs|", "|y pairs|"),
    )
