"""What a scaling may not be, and the one sentence that says so."""

import numpy as np
import pytest

from rope_kv.scaling import attention_factor, scaled_frequencies

DYNAMIC = {"rule": "dynamic", "factor": 2, "original_max_position": 10}
YARN = {"rule": "yarn", "factor": 4, "original_max_position": 2048}
LLAMA3 = {
    "rule": "llama3",
    "factor": 8,
    "low_freq_factor": 1,
    "high_freq_factor": 4,
    "original_max_position": 8192,
}
LONGROPE = {
    "rule": "longrope",
    "factor": 16,
    "original_max_position": 4096,
    "short_factor": [1, 2],
    "long_factor": [2, 5],
    "length": 1,
}


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((3, 10, None), ValueError, "d must be an even integer of at least 2, found 3"),
        ((4, -1, None), ValueError, "base must be finite and above 0, found -1"),
        ((4, 10, 2.0), TypeError, "scaling must be None or a dict, found 2.0 of type float"),
        ((4, 10, {}), ValueError, "scaling must have the key 'rule', found none"),
        ((4, 10, {"rope_type": "yarn"}), ValueError, "have the key 'rule', found 'rope_type'"),
        ((4, 10, {"rule": 3}), TypeError, "rule must be a string, found 3 of type int"),
        ((4, 10, {"rule": "YaRN"}), ValueError, "found 'YaRN'; did you mean 'yarn'?"),
        (
            *((4, 10, {"rule": "?"}), ValueError),
            "rule must be one of 'linear', 'ntk', 'dynamic', 'yarn', 'llama3', 'longrope', "
            "found '?'",
        ),
        ((4, 10, {"rule": "ntk"}), ValueError, "the rule 'ntk' needs the key 'factor', found"),
        (
            *((4, 10, {"rule": "ntk", "facter": 2}), ValueError),
            "the rule 'ntk' has the keys 'factor', found 'facter'; did you mean 'factor'?",
        ),
        (
            (4, 10, {"rule": "ntk", "factor": 0.5}),
            ValueError,
            "finite number of at least 1, found",
        ),
        ((4, 10, {"rule": "ntk", "factor": np.nan}), ValueError, "at least 1, found nan"),
        ((4, 10, {"rule": "ntk", "factor": np.inf}), ValueError, "at least 1, found inf"),
        ((4, 10, {"rule": "ntk", "factor": 10**400}), ValueError, "factor must be a finite"),
        ((4, 10, {"rule": "ntk", "factor": "2"}), TypeError, "factor must be a number, found '2'"),
        (
            (4, 10, {"rule": "ntk", "factor": True}),
            TypeError,
            "factor must be a number, found True",
        ),
        ((4, 10, {"rule": "ntk", "factor": [2]}), TypeError, "factor must be a number, found [2]"),
        ((2, 10, {"rule": "ntk", "factor": 2}), ValueError, "d must be at least 4 for the rule"),
        ((2, 10, {**DYNAMIC, "length": 1}), ValueError, "d must be at least 4 for the rule 'dyn"),
        ((4, 10, DYNAMIC), ValueError, "the rule 'dynamic' needs the key 'length', found 'rule'"),
        ((4, 10, {**DYNAMIC, "length": 0}), ValueError, "length must be an integer from 1 to"),
        ((4, 10, {**DYNAMIC, "length": 2.0}), TypeError, "length must be an integer, found 2.0"),
        ((4, 10, {**DYNAMIC, "length": True}), ValueError, "length must be an integer from 1 to"),
        ((4, 10, {**DYNAMIC, "length": 2**53 + 1}), ValueError, "from 1 to 2^53, found 90071"),
        ((4, 1, YARN), ValueError, "base must be above 1 for the rule 'yarn', found 1.0"),
        (
            *((4, 10, {**YARN, "original_max_position": 0}), ValueError),
            "original_max_position must be an integer from 1 to 2^53, found 0",
        ),
        (
            *((4, 10, {**YARN, "beta_slow": 40}), ValueError),
            "beta_fast must be above beta_slow, found 32 and 40.0",
        ),
        (
            *((4, 10, {**YARN, "attention_factor": 0}), ValueError),
            "attention_factor must be a finite number above 0, found 0",
        ),
        (
            *((4, 10, {**LLAMA3, "high_freq_factor": 1}), ValueError),
            "high_freq_factor must be above low_freq_factor, found 1.0 and 1.0",
        ),
        (
            *((4, 10, {**LONGROPE, "short_factor": [1]}), ValueError),
            "short_factor must have one number for each of the 2 pairs, found 1",
        ),
        (
            *((4, 10, {**LONGROPE, "long_factor": 2}), TypeError),
            "long_factor must be a list of numbers, found 2 of type int",
        ),
        (
            *((4, 10, {**LONGROPE, "long_factor": [1, 0]}), ValueError),
            "long_factor[1] must be a finite number above 0, found 0",
        ),
        (
            *((4, 10, {**LONGROPE, "original_max_position": 1}), ValueError),
            "the rule 'longrope' needs an original_max_position above 1, found 1",
        ),
    ],
)
def test_a_bad_scaling_is_refused_in_one_sentence(arguments, error, sentence):
    with pytest.raises(error) as refusal:
        scaled_frequencies(*arguments)
    assert type(refusal.value) is error
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_magnitude_refuses_what_the_frequencies_refuse():
    with pytest.raises(ValueError, match="did you mean 'yarn'"):
        attention_factor({**YARN, "rule": "yarm"})
