"""rope_freqs: how far each pair of coordinates turns per token."""

from __future__ import annotations

import numpy as np

from rope_kv.testing import calls, right
from rope_kv.testing.cases import FrequencyCase
from rope_kv.testing.comparison import Broken, described, expect, matrix
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of

from .rotations import (
    frequencies,
    growing_frequencies,
)

PUBLISHED = FrequencyCase(8, 10000)  # [1, 0.1, 0.01, 0.001], the exercise's own example


@property_of("rope_freqs", frequencies())
def test_frequencies_are_a_float64_vector_with_one_entry_a_pair(
    impl: Implementation, case: FrequencyCase
) -> None:
    """θ ∈ ℝ^(d/2)

    Catches an entry for each coordinate instead of each pair, lists, and single precision.
    """
    theta = impl.rope_freqs(case.d, case.base)
    allowed = ("float64",) if impl.capabilities.dtype == "float64" else ("float64", "float32")
    is_array = type(theta) is np.ndarray and theta.dtype.name in allowed
    if not is_array or theta.shape != (case.d // 2,):
        raise Broken(
            f"rope_freqs returned {described(theta)}, "
            f"expected a {allowed[-1]} array of shape {(case.d // 2,)}",
            "type",
        )


@property_of("rope_freqs", frequencies(), examples=(PUBLISHED,))
def test_pair_i_turns_by_base_to_the_minus_2i_over_d(
    impl: Implementation, case: FrequencyCase
) -> None:
    """θᵢ = base^(−2i/d)

    The defining statement. Catches wrong exponents, an index from 1, a base that is ignored, and
    frequencies rounded to fewer digits than float64 has.
    """
    due = right.frequencies(impl, case.d, case.base)
    expect(calls.frequencies(impl, case), due.expected, due.within)


@property_of("rope_freqs", frequencies(), share=0.5)
def test_the_first_pair_turns_by_one_radian_per_token(
    impl: Implementation, case: FrequencyCase
) -> None:
    """θ₀ = 1

    Catches an index from 1, cycles or degrees instead of radians, and a reversed order.
    """
    theta = calls.frequencies(impl, case)
    expect(theta[:1], np.ones(1), within=right.frequencies(impl, case.d, case.base).within[:1])


@property_of("rope_freqs", growing_frequencies(), share=0.5)
def test_frequencies_fall_strictly_for_a_base_above_one(
    impl: Implementation, case: FrequencyCase
) -> None:
    """base > 1 ⇒ θᵢ > θᵢ₊₁

    Catches one frequency for all pairs, integer division in the exponent, and growing powers.
    """
    theta = calls.frequencies(impl, case)
    standing = np.flatnonzero(~(theta[1:] < theta[:-1]))
    if standing.size:
        i = int(standing[0])
        raise Broken(
            f"pair {i} turns by {theta[i]:.6g} and pair {i + 1} by {theta[i + 1]:.6g} radians",
            yours=theta,
            at=(i + 1,),
        )


@property_of("rope_freqs", frequencies(), share=0.5)
def test_frequencies_have_the_default_base_10000(
    impl: Implementation, case: FrequencyCase
) -> None:
    """rope_freqs(d) = rope_freqs(d, 10000)

    Catches another default, and a default that is the base of the call before.
    """
    shape = (case.d // 2,)
    calls.frequencies(impl, case)
    expect(
        matrix(impl.rope_freqs(case.d), shape, "rope_freqs"),
        matrix(impl.rope_freqs(case.d, 10000), shape, "rope_freqs"),
        within=right.frequencies(impl, case.d, 10000).within,
        sides=("base=10000", "no base"),
    )


@property_of("rope_freqs", frequencies(), share=0.25)
def test_the_base_of_frequencies_may_be_given_by_name(
    impl: Implementation, case: FrequencyCase
) -> None:
    """rope_freqs(d, base=b) = rope_freqs(d, b)

    Catches a parameter of another name.
    """
    returned = impl.rope_freqs(case.d, base=case.base)
    expect(
        matrix(returned, (case.d // 2,), "rope_freqs"),
        calls.frequencies(impl, case),
        within=right.frequencies(impl, case.d, case.base).within,
        sides=("in order", "by name"),
    )


@property_of("rope_freqs", frequencies(), share=0.5)
def test_squaring_the_base_squares_each_frequency(
    impl: Implementation, case: FrequencyCase
) -> None:
    """θᵢ(base²) = θᵢ(base)²

    Catches a base that is ignored, or that enters as a factor instead of as a power.
    """
    theta = calls.frequencies(impl, case)
    squared = calls.frequencies(impl, FrequencyCase(case.d, case.base**2))
    once, twice = (right.frequencies(impl, case.d, base) for base in (case.base, case.base**2))
    # Larger frequencies than the right ones round by more: they are another law's business.
    larger = np.maximum(1, np.abs(theta) / once.expected)
    within = twice.within * larger**2 + 3 * once.within * np.abs(theta) * larger
    expect(squared, theta**2, within=within, sides=("θ(base)²", "θ(base²)"))
