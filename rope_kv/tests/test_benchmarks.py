"""What the benchmarks measure is what they say; nothing here is timed."""

import benchmark_properties
import numpy as np
import pytest
import timing

from rope_kv import Decoder
from rope_kv.testing import rehearsal
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties

PROPERTIES = {prop.name: prop for prop in all_properties()}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Nothing was rehearsed before, nor is after."""
    monkeypatch.setattr(rehearsal, "_kept", {})


@pytest.fixture
def recording():
    """The reference, whose calls are recorded."""
    return benchmark_properties.Recording(load("rope_kv")._code, "rope_kv")


def test_the_exponent_of_a_power_is_found():
    points = [(n, 3e-6 * n**1.5) for n in (64, 128, 512, 4096)]
    assert timing.exponent(points) == pytest.approx(1.5)


def test_minima_are_of_each_column_and_ratios_of_the_first_row():
    took = {"one": [timing.Took(2.0, 0.5), timing.Took(1.0, 0.75)], "two": [timing.Took(4.0, 1.0)]}
    assert timing.least(took["one"]) == (1.0, 0.5)
    assert timing.median(took["one"]) == (1.5, 0.625)
    lines = timing.comparison(took).splitlines()
    assert lines[1].split() == ["one", "1", "s", "1.5", "s", "500", "ms", "625", "ms", "1.00"]
    assert lines[2].endswith(" 2.00")
    assert timing.comparison(took, "clock").splitlines()[2].endswith(" 4.00")


@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("positions_and_base_may_be_given_by_name", {"apply_rope"}),
        ("after_a_reset_nothing_was_seen", {"start", "feed", "reset"}),
        ("a_fork_and_its_origin_go_their_own_ways", {"start", "feed", "fork"}),
    ],
)
def test_the_parts_of_a_search_are_of_the_same_cases(name, functions, recording):
    prop = PROPERTIES[name]
    row = benchmark_properties.measured(prop, recording, PROFILES["grade"], rounds=1)
    kept = rehearsal.cases(rehearsal.key(prop, PROFILES["grade"], prop.declared_by(recording)))
    assert row.cases == len(kept) > 10
    assert {called.function for called in recording.called} == functions


def test_a_property_that_does_not_hold_is_not_measured(recording):
    recording._code = type("Wrong", (), {"rope_freqs": staticmethod(lambda d, base=1: [0.0])})
    prop = PROPERTIES["the_first_pair_turns_by_one_radian_per_token"]
    assert benchmark_properties.measured(prop, recording, PROFILES["grade"], rounds=1) is None


def test_calls_that_were_recorded_are_made_again_on_what_they_were_made_on(recording):
    decoder, x = Decoder(4, seed=1), np.eye(4)
    first, second = recording.start(decoder), recording.start(decoder)
    rows = [x[:2].copy(), x[2:].copy()]
    first.feed(rows[0])
    rows[0][:] = 0  # What was given is the caller's own: the record is a copy.
    second.feed(rows[1])
    branch = first.fork()
    due = np.array(branch.feed(x[:1]))
    with pytest.raises(AssertionError):
        first.crop(9)
    answers = benchmark_properties.Bare(recording._code, recording.called)()
    np.testing.assert_array_equal(answers[-2], due)
    assert answers[-1] is None
