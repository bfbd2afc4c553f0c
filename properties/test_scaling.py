"""Scaling: frequencies for contexts longer than the original, rule by rule, and with a cache."""

from __future__ import annotations

import numpy as np

from rope_kv import oracle, oracle_scaling
from rope_kv.testing import bounds, programs, right
from rope_kv.testing.cases import array
from rope_kv.testing.comparison import expect, matrix
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import (
    PartialRotationCase,
    ProgramCase,
    ScaledCallsCase,
    ScaledFrequencyCallsCase,
    ScaledFrequencyCase,
    Scaling,
    SetupDecodeCase,
)
from rope_kv.testing.property import property_of

from .scalings import (
    scaled_calls,
    scaled_frequencies,
    scaled_frequency_calls,
    scaled_rotations,
)
from .setups import chunkings, decodes
from .test_heads import expect_the_full_forward, expect_the_rotation, rotated


def scaled(impl: Implementation, case: ScaledFrequencyCase) -> np.ndarray:
    """Return rope_freqs of a case, with its scaling."""
    named = {} if not case.scaling.rule else {"scaling": case.scaling.mapping()}
    return matrix(impl.rope_freqs(case.d, case.base, **named), (case.d // 2,), "rope_freqs")


def expect_the_rule(impl: Implementation, case: ScaledFrequencyCase, saying: str = "") -> None:
    """Compare scaled frequencies with the rule as it is written."""
    due = right.frequencies(impl, case.d, case.base, case.scaling.mapping())
    expect(scaled(impl, case), due.expected, due.within, saying)


@property_of("rope_freqs", scaled_frequencies("linear"), share=0.5, needs=("scaling=linear",))
def test_linear_scaling_divides_every_frequency(
    impl: Implementation, case: ScaledFrequencyCase
) -> None:
    """θᵢ′ = θᵢ / f

    Catches positions that are multiplied, and a factor that is ignored.
    """
    expect_the_rule(impl, case)


@property_of("rope_freqs", scaled_frequencies("ntk"), share=0.5, needs=("scaling=ntk",))
def test_ntk_scaling_enlarges_the_base(impl: Implementation, case: ScaledFrequencyCase) -> None:
    """base′ = base·f^(d/(d−2))

    Catches another exponent, and a base that is multiplied by the factor itself.
    """
    expect_the_rule(impl, case)


@property_of("rope_freqs", scaled_frequencies("dynamic"), share=0.5, needs=("scaling=dynamic",))
def test_dynamic_scaling_enlarges_the_base_by_the_length(
    impl: Implementation, case: ScaledFrequencyCase
) -> None:
    """n > L: base′ = base·(f·n/L − f + 1)^(d/(d−2)); n ≤ L: base′ = base

    Catches a base computed once for the longest length, and short sequences that are scaled.
    """
    expect_the_rule(impl, case)


# So few tokens that no pair turns once: the ramp starts and ends at the first one.
NO_RAMP = ScaledFrequencyCase(8, 10000, Scaling("yarn", 4.0, 4))
# A small base, by which the slow end lies beyond the last pair: the ramp ends at d - 1, and a turn
# more or less moves its start.
CUT_RAMP = ScaledFrequencyCase(128, 10, Scaling("yarn", 4.0, 1024))
# The ramp starts and ends at d - 1: equal numbers, and too large to be one object.
LAST_ALONE = ScaledFrequencyCase(300, 4.53, Scaling("yarn", 4.0, 4096))


@property_of(
    "rope_freqs",
    scaled_frequencies("yarn"),
    examples=(NO_RAMP, CUT_RAMP, LAST_ALONE),
    needs=("scaling=yarn",),
)
def test_yarn_scaling_divides_slow_pairs_and_keeps_fast_ones(
    impl: Implementation, case: ScaledFrequencyCase
) -> None:
    """θᵢ′ = (1 − γᵢ)·θᵢ/f + γᵢ·θᵢ, γ falling from 1 to 0 between β_fast and β_slow turns in L

    Catches the ramp the other way round, and bounds that are not whole numbers of pairs.
    """
    expect_the_rule(impl, case)


# Wavelengths just inside of the band at its slow end, 100 / 3, and just outside of it at the fast
# one, 100 / 12: nearer than the whole numbers below them.
AT_THE_ENDS = tuple(
    ScaledFrequencyCase(4, base, Scaling("llama3", 4.0, 100, (3.0, 12.0))) for base in (28, 1.75)
)


@property_of(
    "rope_freqs",
    scaled_frequencies("llama3"),
    examples=AT_THE_ENDS,
    needs=("scaling=llama3",),
)
def test_llama3_scaling_divides_long_waves_and_keeps_short_ones(
    impl: Implementation, case: ScaledFrequencyCase
) -> None:
    """wavelength λᵢ = 2π/θᵢ: λᵢ > L/low ⇒ θᵢ/f; λᵢ < L/high ⇒ θᵢ; between them, a mean

    Catches low and high exchanged, and a mean that leans the other way.
    """
    expect_the_rule(impl, case)


@property_of("rope_freqs", scaled_frequencies("longrope"), share=0.5, needs=("scaling=longrope",))
def test_longrope_divides_by_the_table_of_its_length(
    impl: Implementation, case: ScaledFrequencyCase
) -> None:
    """θᵢ′ = θᵢ / short[i] for n ≤ L, θᵢ / long[i] for n > L

    Catches one table at every length, and a switch one token early or late.
    """
    expect_the_rule(impl, case)


@property_of("rope_freqs", scaled_frequency_calls(), share=0.5, needs=("scaling",))
def test_scaled_frequencies_do_not_depend_on_earlier_calls(
    impl: Implementation, case: ScaledFrequencyCallsCase
) -> None:
    """A by one scaling, B by another or none, A again: each answer is what it is alone

    Catches a base that stays enlarged, and frequencies found again without their scaling.
    """
    impl = impl.fresh()
    for count, call in enumerate((case.first, *case.others, case.first), start=1):
        expect_the_rule(impl, call, f"call {count} is answered wrongly")


@property_of("apply_rope", scaled_rotations(), needs=("scaling",))
def test_scaled_rotation_turns_by_scaled_angles(
    impl: Implementation, case: PartialRotationCase
) -> None:
    """(x₂ᵢ + j·x₂ᵢ₊₁) ↦ m·(x₂ᵢ + j·x₂ᵢ₊₁)·exp(j·p·θᵢ′)

    The defining statement. Catches a scaling that reaches rope_freqs and not apply_rope.
    """
    expect_the_rotation(impl, case)


@property_of("apply_rope", scaled_rotations(), share=0.5, needs=("scaling",))
def test_scaled_rotation_stretches_by_its_magnitude_alone(
    impl: Implementation, case: PartialRotationCase
) -> None:
    """|pair i of y| = m·|pair i of x|: m = 0.1·ln f + 1 for yarn, √(1 + ln f / ln L) for longrope

    Catches a magnitude that is dropped, taken twice, or given to a rule that has none.
    """
    x, layout = array(case.x), impl.capabilities.layout
    scaling, turned = case.scaling.mapping(), case.rotary_dim or len(case.x[0])
    part = x[:, :turned]
    magnitude = oracle_scaling.magnitude(scaling)
    precision = right.precision(impl)
    within = bounds.lengths(part, case.positions, layout, precision)
    within = magnitude * (within + 4 * precision.angles * bounds.pair_lengths(part, layout))
    expect(
        bounds.pair_lengths(rotated(impl, case)[:, :turned], oracle.laid_out(layout)),
        magnitude * bounds.pair_lengths(part, layout),
        within=within,
        sides=("m·|x pairs|", "|y pairs|"),
    )


@property_of("apply_rope", scaled_calls(), needs=("scaling",))
def test_scaled_rotation_does_not_depend_on_earlier_calls(
    impl: Implementation, case: ScaledCallsCase
) -> None:
    """A at one length, B at another, A again: each answer is what it is alone

    Catches a base that stays enlarged, and tables found again without their rule or length.
    """
    impl = impl.fresh()
    for count, call in enumerate((case.first, *case.others, case.first), start=1):
        expect_the_rotation(impl, call, f"call {count} is answered wrongly")


@property_of("start", decodes("heads", must=("scaling",)), needs=("scaling",))
def test_scaled_decoding_equals_the_full_forward_at_every_length(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """T < L, T = L, T > L: output[t] = attention of keys turned as q[t] is, by length t + 1

    Catches keys that were stored turned by the frequencies of an earlier length.
    """
    expect_the_full_forward(impl, case)


@property_of(
    "start", chunkings("heads", must=("scaling",)), share=0.5, needs=("chunks", "scaling")
)
def test_scaled_chunks_give_what_the_whole_gives(impl: Implementation, case: ProgramCase) -> None:
    """feed(x[:a]), feed(x[a:]) = rows of the full forward, L anywhere

    Catches a rule that goes by the length of the chunk, and rows of a chunk turned by its end.
    """
    programs.expect_the_oracle(impl, case)
