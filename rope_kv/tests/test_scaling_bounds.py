"""The rounding bounds of scaled frequencies, against forty digits and many formulations."""

import math

import mpmath
import numpy as np
import pytest
import scalings
from hypothesis import find, given, settings
from hypothesis import strategies as st

from rope_kv import oracle_scaling
from rope_kv.scaling import scaled_frequencies
from rope_kv.testing import bounds, scaling_bounds

UNITS = {np.float64: 2.0**-53, np.float32: 2.0**-24}
YARN = {"rule": "yarn", "factor": 8.0, "original_max_position": 4096}
LLAMA3 = {
    "rule": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position": 8192,
}


def powers(style, base, steps):
    """Return base^(-steps), for steps that are multiples of the second, in one of four styles."""
    if style == "power":
        return base**-steps
    if style == "reciprocal":
        return 1 / base**steps
    if style == "logarithm":
        return np.exp(-steps * np.log(base))
    ratios = np.full_like(steps, base ** -steps[1])
    ratios[0] = 1
    return np.cumprod(ratios, dtype=steps.dtype)


def mean(way, kept, factor):
    """Return kept + (1 - kept) / factor, which scales θ, in one of three ways."""
    one = type(factor)(1)
    if way == 0:
        return kept + (one - kept) / factor
    if way == 1:
        return one - (one - kept) * (one - one / factor)
    return one / factor + kept * (one - one / factor)


def in_arithmetic(real, style, way, d, base, scaling):
    """Return the scaled frequencies as `real` has them: one style of powers, one way of a rule."""
    pairs, base = np.arange(d // 2).astype(real), real(base)
    theta = powers(style, base, pairs * real(2) / real(d))
    rule = scaling["rule"]
    numbers = {k: np.array(v).astype(real)[()] for k, v in scaling.items() if k != "rule"}
    factor = numbers["factor"]
    if rule in ("ntk", "dynamic"):
        growth = factor if rule == "ntk" else dynamic_growth(way, numbers)
        if way == 1:
            return theta * powers(style, growth, pairs * real(2) / real(d - 2))
        return powers(style, base * growth ** (real(d) / real(d - 2)), pairs * real(2) / real(d))
    if rule in ("yarn", "llama3"):
        turns = numbers["original_max_position"] / (real(2) * real(np.pi))
        if rule == "yarn":
            low, high = yarn_ramp(turns, d, base, scaling)
            kept = real(1) - np.clip((pairs - low) / (high - low), 0, 1)
        else:
            low, high = numbers["low_freq_factor"], numbers["high_freq_factor"]
            waves = turns * theta if way == 1 else turns / (real(1) / theta)
            kept = np.clip((waves - low) / (high - low), 0, 1)
        return theta * mean(way, kept, factor)
    divisors = factor
    if rule == "longrope":
        long = scaling["length"] > scaling["original_max_position"]
        divisors = numbers["long_factor" if long else "short_factor"]
    if way == 2:
        return real(1) / (divisors * (real(1) / theta))
    return theta / divisors if way == 0 else theta * (real(1) / divisors)


def dynamic_growth(way, numbers):
    """Return by how much the slowest pair is stretched, as it is written or without cancelling."""
    factor, n, trained = (numbers[k] for k in ("factor", "length", "original_max_position"))
    one = type(factor)(1)
    if way == 2:
        return one + factor * max(n - trained, 0) / trained
    return factor * max(n, trained) / trained - (factor - one)


def yarn_ramp(turns, d, base, scaling):
    """Return the ends of the ramp, in the arithmetic of the number of turns at one radian."""
    real = type(turns)
    fast, slow = real(scaling.get("beta_fast", 32)), real(scaling.get("beta_slow", 1))
    low, high = (real(d) * np.log(turns / beta) / (2 * np.log(base)) for beta in (fast, slow))
    low, high = max(np.floor(low), real(0)), min(np.ceil(high), real(d - 1))
    return low, high if high > low else high + real(0.001)


def exact(d, base, scaling):
    """Return the scaled frequencies to forty digits; only the ends of a ramp are the oracle's."""
    real, pairs = mpmath.mpf, range(d // 2)
    theta = [real(base) ** (real(-2 * i) / d) for i in pairs]
    rule, factor = scaling["rule"], real(scaling["factor"])
    trained, n = scaling.get("original_max_position"), scaling.get("length")
    if rule == "linear":
        return [t / factor for t in theta]
    if rule in ("ntk", "dynamic"):
        growth = factor if rule == "ntk" else 1 + factor * max(n - trained, 0) / trained
        return [t * growth ** (real(-2 * i) / (d - 2)) for i, t in zip(pairs, theta, strict=True)]
    if rule == "yarn":
        low, high = oracle_scaling.correction_range(d, base, scaling)
        kept = [1 - (i - real(low)) / (real(high) - real(low)) for i in pairs]
    elif rule == "llama3":
        low, high = real(scaling["low_freq_factor"]), real(scaling["high_freq_factor"])
        kept = [(trained * t / (2 * mpmath.pi) - low) / (high - low) for t in theta]
    else:
        divisors = scaling["long_factor" if n > trained else "short_factor"]
        return [t / real(divisor) for t, divisor in zip(theta, divisors, strict=True)]
    kept = [min(max(share, 0), 1) for share in kept]
    return [t * (share + (1 - share) / factor) for t, share in zip(theta, kept, strict=True)]


def distance(found, truth):
    """Return the error of each number, of which the exact value is known to forty digits."""
    pairs = zip(found, truth, strict=True)
    return np.array([float(abs(mpmath.mpf(float(a)) - b)) for a, b in pairs])


@pytest.mark.parametrize("rule", scalings.RULES)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_every_way_to_compute_a_rule_stays_within_its_bound(rule, data):
    case = data.draw(scalings.cases((rule,)))
    with mpmath.workdps(40):
        truth = exact(*case)
        for real, unit in UNITS.items():
            bound = scaling_bounds.frequency_error(*case, unit)
            for style in ("power", "reciprocal", "logarithm", "product"):
                for way in (0, 1, 2):
                    found = in_arithmetic(real, style, way, *case)
                    assert found.dtype == real
                    assert np.all(distance(found, truth) <= bound)
        bound = scaling_bounds.frequency_error(*case, 2**-53)
        for function in (oracle_scaling.frequencies, scaled_frequencies):
            assert np.all(distance(function(*case), truth) <= bound / 2)


@pytest.mark.parametrize("rule", scalings.RULES)
@pytest.mark.parametrize(("unit", "share"), [(2**-53, 1000), (2**-24, 0.1)])
def test_float32_is_far_outside_of_the_bound_of_float64_and_comes_near_its_own(rule, unit, share):
    def is_beyond(case):
        found = in_arithmetic(np.float32, "logarithm", 0, *case)
        error = np.abs(found - scaled_frequencies(*case))
        return np.any(error > share * scaling_bounds.frequency_error(*case, unit))

    assert find(scalings.cases((rule,)), is_beyond)


@pytest.mark.parametrize(("d", "base"), [(2, 10000), (8, 0.5), (128, 5e5)])
def test_without_a_scaling_the_bound_is_that_of_the_unscaled_frequencies(d, base):
    bound = scaling_bounds.frequency_error(d, base, None, 2**-53)
    np.testing.assert_allclose(2 * bound, bounds.frequencies(d, base), rtol=1e-14)


@settings(deadline=None)
@given(case=scalings.cases(("yarn", "longrope")))
def test_magnitudes_in_either_arithmetic_stay_within_their_bound(case):
    scaling, truth = case[2], oracle_scaling.magnitude(case[2])
    for real, unit in UNITS.items():
        factor, trained = real(scaling["factor"]), real(scaling["original_max_position"])
        if "attention_factor" in scaling:
            found = real(scaling["attention_factor"])
        elif scaling["rule"] == "yarn":
            found = real(0.1) * np.log(factor) + real(1)
        else:
            found = np.sqrt(real(1) + np.log(factor) / np.log(trained))
        error = scaling_bounds.magnitude_error(scaling, unit)
        assert abs(float(found) - truth) <= error * truth


@pytest.mark.parametrize("scaling", [None, {"rule": "ntk", "factor": 2}, LLAMA3])
def test_a_magnitude_that_is_always_1_has_no_error(scaling):
    assert scaling_bounds.magnitude_error(scaling, 2**-24) == 0


@pytest.mark.parametrize("name", ["beta_fast", "beta_slow"])
@pytest.mark.parametrize(
    ("off", "well"), [(0, False), (9e-4, False), (-9e-4, False), (0.01, True)]
)
def test_an_end_of_the_ramp_at_a_whole_number_is_ill_conditioned(name, off, well):
    d, base, pair = 64, 10000, {"beta_fast": 9, "beta_slow": 22}[name] + off
    turns = 4096 * base ** (-2 * pair / d) / (2 * math.pi)
    assert scaling_bounds.is_well_conditioned(d, base, {**YARN, name: turns}) is well


def test_an_end_of_the_ramp_that_is_clamped_anyway_is_well_conditioned():
    turns = 4096 / (2 * math.pi)
    assert scaling_bounds.is_well_conditioned(64, 10000, {**YARN, "beta_fast": turns})


@pytest.mark.parametrize(
    ("base", "scaling", "well"),
    [
        (1e4, None, True),
        (1e39, None, False),
        (1e39, {"rule": "linear", "factor": 2.0}, False),
        (1e4, LLAMA3, True),
        (1e4, {**LLAMA3, "high_freq_factor": 1.0001}, False),
        (1e4, {"rule": "ntk", "factor": 1e12}, True),
        (1e4, {"rule": "ntk", "factor": 1e20}, False),
    ],
)
def test_what_float32_cannot_hold_is_ill_conditioned(base, scaling, well):
    assert scaling_bounds.is_well_conditioned(4, base, scaling) is well
