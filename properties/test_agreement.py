"""A new version of some code does what the old one does: values, projections and refusals.

Checked where an old version is named with --against. What is right does not matter here: the old
version is what the new one is compared with.
"""

from __future__ import annotations

from rope_kv.testing import versions
from rope_kv.testing.cases import (
    DecodeCallsCase,
    DecodeCase,
    FrequencyCallsCase,
    FrequencyCase,
    RotationCallsCase,
    RotationCase,
)
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import (
    LimitCase,
    PartialRotationCase,
    ScaledCallsCase,
    ScaledFrequencyCallsCase,
    WidthCase,
)
from rope_kv.testing.property import property_of

from .histories import decode_calls, fine_histories, histories, long_histories, loud_histories
from .rotations import (
    far_rotations,
    frequencies,
    frequency_calls,
    long_rotations,
    rotation_calls,
    rotations,
    rotations_beyond,
    signed_rotations,
)
from .scalings import partial_rotations, scaled_calls, scaled_frequency_calls
from .setups import (
    misfits,
)

OPERATIONS = ("start", "crop", "fork", "reset")


@property_of("rope_freqs", frequencies(), compares=True)
def test_frequencies_agree_with_the_old_version(impl: Implementation, case: FrequencyCase) -> None:
    """new.rope_freqs(d, base) = old.rope_freqs(d, base)

    Catches a power that is taken in fewer digits, and another base.
    """
    versions.expect_frequencies(impl, case)


@property_of(
    "rope_freqs",
    frequency_calls(),
    share=0.25,
    widens="frequencies_agree_with_the_old_version",
    compares=True,
)
def test_later_frequencies_agree_with_the_old_version(
    impl: Implementation, case: FrequencyCallsCase
) -> None:
    """A, B, A: new.rope_freqs = old.rope_freqs each time

    Catches frequencies that are found again without their width or their base.
    """
    calls = (case.first, case.second, case.first)
    versions.expect_in_turn(versions.expect_frequencies, impl, calls)


@property_of("rope_freqs", scaled_frequency_calls(), needs=("scaling",), compares=True)
def test_scaled_frequencies_agree_with_the_old_version(
    impl: Implementation, case: ScaledFrequencyCallsCase
) -> None:
    """A, B, A: new.rope_freqs(d, base, scaling=s) = old.rope_freqs(d, base, scaling=s)

    Catches a rule whose numbers were moved, and frequencies found again without their scaling.
    """
    calls = (case.first, *case.others, case.first)
    versions.expect_in_turn(versions.expect_frequencies, impl, calls)


@property_of("apply_rope", rotations() | signed_rotations() | far_rotations(), compares=True)
def test_rotations_agree_with_the_old_version(impl: Implementation, case: RotationCase) -> None:
    """new.apply_rope(x, p) = old.apply_rope(x, p), p from −2²⁰ to 2²⁰

    Catches another layout, another sign, and a table in fewer digits.
    """
    versions.expect_rotation(impl, case)


@property_of(
    "apply_rope",
    long_rotations(),
    share=0.25,
    widens="rotations_agree_with_the_old_version",
    compares=True,
)
def test_long_rotations_agree_with_the_old_version(
    impl: Implementation, case: RotationCase
) -> None:
    """T to 260: new.apply_rope(x, p) = old.apply_rope(x, p)

    Catches blocks of rows that are cut wrongly.
    """
    versions.expect_rotation(impl, case)


@property_of(
    "apply_rope",
    rotation_calls(),
    share=0.75,
    widens="rotations_agree_with_the_old_version",
    compares=True,
)
def test_later_rotations_agree_with_the_old_version(
    impl: Implementation, case: RotationCallsCase
) -> None:
    """A, B, C, A: new.apply_rope = old.apply_rope each time

    Catches a table that grows by another base, or is found again for another width.
    """
    calls = (case.first, *case.others, case.first)
    versions.expect_in_turn(versions.expect_rotation, impl, calls)


@property_of("apply_rope", partial_rotations(), needs=("rotary_dim",), compares=True)
def test_partial_rotations_agree_with_the_old_version(
    impl: Implementation, case: PartialRotationCase
) -> None:
    """new.apply_rope(x, p, rotary_dim=r) = old.apply_rope(x, p, rotary_dim=r)

    Catches another part that is turned, and frequencies of the whole width.
    """
    versions.expect_rotation(impl, case)


@property_of("apply_rope", scaled_calls(), needs=("scaling",), compares=True)
def test_scaled_rotations_agree_with_the_old_version(
    impl: Implementation, case: ScaledCallsCase
) -> None:
    """A, B, C, A: new.apply_rope(x, p, scaling=s) = old.apply_rope(x, p, scaling=s)

    Catches a table found again for another rule or length, and a magnitude that is dropped.
    """
    calls = (case.first, *case.others, case.first)
    versions.expect_in_turn(versions.expect_rotation, impl, calls)


@property_of(
    "apply_rope",
    rotations_beyond("max_position"),
    share=0.5,
    needs=("max_position",),
    compares=True,
)
def test_positions_from_the_maximum_on_are_refused_as_before(
    impl: Implementation, case: LimitCase
) -> None:
    """p ≥ max_position: new.apply_rope raises where old.apply_rope does, and nowhere else

    Catches a check that got lost.
    """
    versions.expect_refusal(impl, case)


@property_of(
    "apply_rope", rotations_beyond("negative"), share=0.5, needs=("positions!=any",), compares=True
)
def test_negative_positions_are_refused_as_before(impl: Implementation, case: LimitCase) -> None:
    """p < 0: new.apply_rope raises where old.apply_rope does, and nowhere else

    Catches a check that got lost.
    """
    versions.expect_refusal(impl, case)


@property_of("apply_rope", misfits(), share=0.5, needs=("rotary_dim",), compares=True)
def test_a_rotary_dim_that_does_not_fit_is_refused_as_before(
    impl: Implementation, case: WidthCase
) -> None:
    """r odd or r > d: new.apply_rope(x, p, rotary_dim=r) raises where old.apply_rope does

    Catches a check that got lost.
    """
    versions.expect_refusal(impl, case)


@property_of(
    "decode_incremental", histories() | loud_histories() | fine_histories(), compares=True
)
def test_decoding_agrees_with_the_old_version(impl: Implementation, case: DecodeCase) -> None:
    """new.decode_incremental(decoder, x) = old.decode_incremental(decoder, x), by the same calls

    Catches another scale, mask or position, and rows that are projected again.
    """
    versions.expect_decoding(impl, case)


@property_of(
    "decode_incremental",
    long_histories(),
    share=0.25,
    widens="decoding_agrees_with_the_old_version",
    compares=True,
)
def test_long_decoding_agrees_with_the_old_version(impl: Implementation, case: DecodeCase) -> None:
    """T to 257: new.decode_incremental(decoder, x) = old.decode_incremental(decoder, x)

    Catches a buffer that loses rows when it grows, and one that does not.
    """
    versions.expect_decoding(impl, case)


@property_of(
    "decode_incremental",
    decode_calls(),
    share=0.5,
    widens="decoding_agrees_with_the_old_version",
    compares=True,
)
def test_later_decoding_agrees_with_the_old_version(
    impl: Implementation, case: DecodeCallsCase
) -> None:
    """A, B, C, A: new.decode_incremental = old.decode_incremental each time, by the same calls

    Catches a cache or a table that outlives its call.
    """
    versions.expect_decodes(impl, case)
