"""The rules of frequency scaling: known values, both formulations, and what others compute."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scalings
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_kv import oracle_scaling
from rope_kv.scaling import attention_factor, scaled_frequencies
from rope_kv.testing import scaling_bounds

UNSCALED = [1, 0.1, 0.01, 0.001]
DYNAMIC = {"rule": "dynamic", "factor": 2, "original_max_position": 10}
YARN = {"rule": "yarn", "factor": 4, "original_max_position": 2048}
LLAMA3 = {"rule": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}
LONGROPE = {
    "rule": "longrope",
    "factor": 16,
    "original_max_position": 4096,
    "short_factor": [1, 2],
    "long_factor": [2, 5],
}
# A pair of width 8 and base 10000 that turns 1.3038 times in 8192 tokens keeps 0.10127.
KEPT = (8.192 / (2 * math.pi) - 1) / 3
KNOWN = {
    "none": (8, 10000, None, UNSCALED),
    "linear": (8, 10000, {"rule": "linear", "factor": 4}, [0.25, 0.025, 0.0025, 0.00025]),
    "ntk": (4, 100, {"rule": "ntk", "factor": 3}, [1, 1 / 30]),
    "dynamic-short": (4, 100, {**DYNAMIC, "length": 10}, [1, 1 / 10]),
    "dynamic-long": (4, 100, {**DYNAMIC, "length": 20}, [1, 1 / 30]),
    # 2048 / (2π·32) = 10^1.008 and 2048 / 2π = 10^2.513: the ramp goes from pair 1 to pair 3.
    "yarn": (8, 10000, YARN, [1, 0.1, 0.00625, 0.00025]),
    # Both ends are clamped to pair 0: a step.
    "yarn-step": (8, 10000, {**YARN, "original_max_position": 4}, [1, 0.025, 0.0025, 0.00025]),
    "yarn-betas": (8, 10000, {**YARN, "beta_fast": 3, "beta_slow": 0.3}, [1, 0.1, 0.01, 0.000625]),
    "llama3": (
        *(8, 10000, {**LLAMA3, "original_max_position": 8192}),
        [1, 0.1, 0.01, 0.001 * (KEPT + (1 - KEPT) / 8)],
    ),
    "llama3-slow": (
        *(8, 10000, {**LLAMA3, "original_max_position": 512}),
        [1, 0.1, 0.00125, 0.000125],
    ),
    "longrope-short": (4, 100, {**LONGROPE, "length": 4096}, [1, 0.05]),
    "longrope-long": (4, 100, {**LONGROPE, "length": 4097}, [0.5, 0.02]),
}


@pytest.mark.parametrize("function", [oracle_scaling.frequencies, scaled_frequencies])
@pytest.mark.parametrize(("d", "base", "scaling", "expected"), KNOWN.values(), ids=KNOWN)
def test_the_frequencies_are_those_computed_by_hand(function, d, base, scaling, expected):
    theta = function(d, base, scaling)
    assert theta.dtype == np.float64
    np.testing.assert_allclose(theta, expected, rtol=2e-15, atol=0)


@pytest.mark.parametrize("function", [oracle_scaling.magnitude, attention_factor])
@pytest.mark.parametrize(
    ("scaling", "expected"),
    [
        (None, 1),
        ({"rule": "linear", "factor": 4}, 1),
        ({"rule": "ntk", "factor": 4}, 1),
        ({**DYNAMIC, "length": 99}, 1),
        ({**LLAMA3, "original_max_position": 8192}, 1),
        (YARN, 1.1386294361119891),
        ({**YARN, "factor": 1}, 1),
        ({**YARN, "attention_factor": 0.75}, 0.75),
        ({**LONGROPE, "length": 1}, math.sqrt(4 / 3)),
        ({**LONGROPE, "length": 5000}, math.sqrt(4 / 3)),
        ({**LONGROPE, "length": 5000, "factor": 1}, 1),
        ({**LONGROPE, "length": 5000, "attention_factor": 1.5}, 1.5),
    ],
)
def test_cos_and_sin_are_multiplied_by_the_published_magnitude(function, scaling, expected):
    assert function(scaling) == pytest.approx(expected, rel=4e-16, abs=0)


@settings(deadline=None, max_examples=500)
@given(scalings.cases())
def test_the_reference_and_the_oracle_differ_by_rounding_alone(case):
    exact, found = oracle_scaling.frequencies(*case), scaled_frequencies(*case)
    bound = 2 * scaling_bounds.frequency_error(*case, 2**-53)
    assert np.all(np.abs(found - exact) <= bound)
    scaling = case[2]
    magnitude = oracle_scaling.magnitude(scaling)
    error = 2 * scaling_bounds.magnitude_error(scaling, 2**-53)
    assert abs(attention_factor(scaling) - magnitude) <= error * magnitude


@settings(deadline=None, max_examples=300)
@given(scalings.cases(("linear", "ntk", "yarn", "longrope")))
def test_where_nothing_cancels_they_differ_by_a_few_units_in_the_last_place(case):
    exact, found = oracle_scaling.frequencies(*case), scaled_frequencies(*case)
    np.testing.assert_array_max_ulp(found, exact, maxulp=24)


@pytest.mark.parametrize("function", [oracle_scaling.frequencies, scaled_frequencies])
@settings(deadline=None)
@given(case=scalings.cases(("linear", "ntk", "yarn", "llama3")))
def test_a_factor_of_1_is_no_scaling(function, case):
    d, base, scaling = case
    unscaled = function(d, base, None)
    np.testing.assert_array_equal(function(d, base, {**scaling, "factor": 1}), unscaled)


@pytest.mark.parametrize("function", [oracle_scaling.frequencies, scaled_frequencies])
def test_a_factor_of_1_leaves_dynamic_to_stretch_by_the_length(function):
    long = function(4, 100, {**DYNAMIC, "factor": 1, "length": 30})
    np.testing.assert_allclose(long, [1, 1 / 30], rtol=1e-15)


@pytest.mark.parametrize("function", [oracle_scaling.frequencies, scaled_frequencies])
@settings(deadline=None)
@given(pairs=st.integers(2, 32), base=scalings.BASES, factor=scalings.FACTORS, trained=st.data())
def test_dynamic_begins_one_token_above_the_trained_length(function, pairs, base, factor, trained):
    length = trained.draw(st.integers(1, 10_000))
    scaling = {"rule": "dynamic", "factor": factor, "original_max_position": length}
    unscaled = function(2 * pairs, base, None)
    for n in (1, length):
        np.testing.assert_array_equal(
            function(2 * pairs, base, {**scaling, "length": n}), unscaled
        )
    stretched = function(2 * pairs, base, {**scaling, "length": length + 1})
    assert stretched[-1] == pytest.approx(unscaled[-1] / (1 + factor / length))
    assert stretched[-1] < unscaled[-1]


@pytest.mark.parametrize("function", [oracle_scaling.frequencies, scaled_frequencies])
@settings(deadline=None)
@given(case=scalings.cases(("ntk",)))
def test_ntk_keeps_the_fastest_pair_and_divides_the_slowest_by_the_factor(function, case):
    d, base, scaling = case
    ratio = function(d, base, scaling) * scaling["factor"] / function(d, base, None)
    assert ratio[0] == scaling["factor"]
    assert ratio[-1] == pytest.approx(1)


@pytest.mark.parametrize("function", [oracle_scaling.frequencies, scaled_frequencies])
@pytest.mark.parametrize(("trained", "divided"), [(2, False), (10**15, True)])
def test_a_ramp_outside_of_all_pairs_is_reversed_as_in_the_published_code(
    function, trained, divided
):
    scaling = {**YARN, "original_max_position": trained}
    theta = function(8, 10, scaling)
    unscaled = oracle_scaling.frequencies(8, 10, None)
    np.testing.assert_allclose(theta, unscaled / 4 if divided else unscaled, rtol=1e-15)
    assert not scaling_bounds.is_well_conditioned(8, 10, scaling)


@pytest.fixture(scope="module")
def elsewhere():
    """Give what transformers computes of a width, a base and a scaling: θ, and the magnitude."""
    pytest.importorskip("torch", reason="transformers computes with torch, which is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    def compute(d, base, scaling):
        trained = scaling.get("original_max_position")
        config = SimpleNamespace(
            **{"head_dim": d, "hidden_size": d, "num_attention_heads": 1},
            max_position_embeddings=trained,
            rope_parameters={
                "rope_theta": base,
                "original_max_position_embeddings": trained,
                **scaling,
            },
            standardize_rope_params=lambda: None,
        )
        rule = ROPE_INIT_FUNCTIONS[scaling["rule"]]
        theta, magnitude = rule(config, device="cpu", seq_len=scaling.get("length"))
        return theta.numpy(), magnitude

    return compute


@pytest.mark.parametrize("rule", [rule for rule in scalings.RULES if rule != "ntk"])
@settings(deadline=None, max_examples=400)
@given(data=st.data())
def test_transformers_computes_the_same_in_float32(rule, elsewhere, data):
    case = data.draw(scalings.cases((rule,)))
    theta, magnitude = elsewhere(*case)
    assert theta.dtype == np.float32
    bound = scaling_bounds.frequency_error(*case, 2**-24)
    for function in (oracle_scaling.frequencies, scaled_frequencies):
        assert np.all(np.abs(function(*case) - theta) <= bound)
    for function in (oracle_scaling.magnitude, attention_factor):
        assert function(case[2]) == pytest.approx(magnitude, rel=4e-16, abs=0)


@pytest.mark.parametrize(
    "case", [KNOWN[name][:3] for name in KNOWN if name not in ("none", "ntk")]
)
def test_transformers_computes_what_was_computed_by_hand(case, elsewhere):
    theta, _ = elsewhere(*case)
    np.testing.assert_allclose(theta, oracle_scaling.frequencies(*case), rtol=1e-6)


@pytest.mark.parametrize("trained", [2, 10**15])
def test_transformers_reverses_a_ramp_outside_of_all_pairs(trained, elsewhere):
    case = 8, 10, {**YARN, "original_max_position": trained}
    theta, _ = elsewhere(*case)
    np.testing.assert_allclose(theta, oracle_scaling.frequencies(*case), rtol=1e-6)
