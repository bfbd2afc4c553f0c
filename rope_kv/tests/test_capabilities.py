"""Capabilities: what may be declared, what a property needs, and what is said of the rest."""

import dataclasses
import json
import types

import pytest

import rope_kv
from rope_kv import Capabilities, check
from rope_kv.cli import main
from rope_kv.testing.capabilities import NOTHING_DECLARED, CapabilityError
from rope_kv.testing.loading import LoadError, load
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties, properties_for
from rope_kv.testing.search import replay, search


def declaring(**declared):
    """Return the reference, declaring something else than it does."""
    named = {name: getattr(rope_kv, name) for name in rope_kv.__all__}
    return types.SimpleNamespace(**named, capabilities=declared)


def named(name):
    """The property of that name."""
    return next(prop for prop in all_properties() if prop.name == name)


def test_a_misspelt_capability_suggests_the_nearest():
    with pytest.raises(CapabilityError) as caught:
        Capabilities.of({"crp": True})
    assert str(caught.value) == "there is no capability 'crp': did you mean 'crop'?"


def test_a_misspelt_value_suggests_the_nearest():
    with pytest.raises(CapabilityError, match="did you mean 'interleaved'"):
        Capabilities(layout="interleave")
    with pytest.raises(CapabilityError, match="did you mean 'yarn'"):
        Capabilities(scaling=["yarm"])


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"crop": "yes"}, "capability crop is True or False, found 'yes'"),
        ({"crop": 1}, "capability crop is True or False, found 1"),
        ({"max_position": "many"}, "capability max_position is an int from 1 up, or None"),
        ({"max_position": 0}, "capability max_position is an int from 1 up, or None, found 0"),
        ({"max_position": True}, "capability max_position is an int from 1 up"),
        ({"width_multiple": 3}, "capability width_multiple is even, found 3"),
        ({"scaling": "yarn"}, "capability scaling is a list of names, found 'yarn'"),
        ({"paths": ["not a name"]}, "capability paths is a list of names"),
        ({"paths": [1]}, "capability paths is a list of names"),
        ({"dtype": 32}, "capability dtype knows 'float64', 'float32', 'float16', 'bfloat16'"),
        (["crop"], "capabilities must be a dict or Capabilities, found list"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_one_sentence(declared, said):
    with pytest.raises(CapabilityError) as caught:
        Capabilities.of(declared)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_capabilities_may_be_given_as_a_dict_or_as_what_they_are():
    assert Capabilities.of({"crop": True}) == Capabilities(crop=True)
    declared = Capabilities(scaling=["linear"])
    assert Capabilities.of(declared) is declared
    assert declared.scaling == ("linear",)


def test_they_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Capabilities().crop = True


@pytest.mark.parametrize(
    ("part", "below"),
    [("crop", "sessions"), ("sinks", "window"), ("fill_unused", "capacity"), ("select", "batch")],
)
def test_a_part_brings_what_it_rests_on(part, below):
    assert getattr(Capabilities(**{part: True}), below)


def test_sinks_bring_sessions_by_way_of_the_window():
    assert Capabilities(sinks=True).sessions
    assert Capabilities(fill_unused=True).sessions


def test_every_capability_is_described():
    for field in dataclasses.fields(Capabilities):
        assert field.name in Capabilities.__doc__


def test_what_a_file_declares_wrongly_is_a_load_error_of_one_sentence(tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text("capabilities = {'chunk': True}\n")
    with pytest.raises(LoadError):
        load(str(file))
    verdict = check(str(file), isolation="none")
    assert verdict.verdict == "LOAD_ERROR"
    assert verdict.message == (
        "wrong.py cannot be loaded: there is no capability 'chunk': did you mean 'chunks'?"
    )


def test_who_declares_nothing_is_shown_the_exercise_alone():
    shown = properties_for(NOTHING_DECLARED)
    assert {prop.function for prop in shown} == {"rope_freqs", "apply_rope", "decode_incremental"}
    assert shown == tuple(prop for prop in all_properties() if prop.of_the_exercise)
    assert len(shown) == 54


def test_who_declares_anything_is_told_what_else_there_is():
    declared = Capabilities(crop=True)
    lacking = {prop.lacking(declared) for prop in properties_for(declared)}
    assert {"", "declare fork", "declare window", "declare batch"} <= lacking


def test_a_limit_that_is_not_there_concerns_nobody():
    names = {prop.name for prop in properties_for(Capabilities(crop=True))}
    assert "positions_from_the_maximum_on_are_refused" not in names
    names = {prop.name for prop in properties_for(Capabilities(max_position=64))}
    assert "positions_from_the_maximum_on_are_refused" in names


def test_a_part_that_is_not_declared_is_not_checked_and_never_passes():
    crop = next(
        p for p in all_properties() if p.name == "after_a_crop_only_the_first_tokens_were_seen"
    )
    result = search(crop, load(declaring(fork=True)), PROFILES["grade"])
    assert (result.outcome, result.message, result.examples) == ("not_checked", "declare crop", 0)


def test_a_verdict_says_what_to_declare():
    verdict = check(declaring(convert_layout=True, decode_incremental=False))
    assert verdict.verdict == "PASS"
    assert verdict.functions["convert_layout"] == "held"
    assert verdict.functions["decode_incremental"] == "not_checked"
    assert "start" not in verdict.functions
    said = " ".join(str(verdict).split())
    assert "decode_incremental not checked not declared" in said
    assert "not checked: declare decode_incremental, rotary_dim, sessions," in said


def test_a_stored_case_of_what_is_not_declared_is_not_checked():
    fork = named("a_fork_and_its_origin_go_their_own_ways")
    assert replay(fork, load(declaring(crop=True)), None).outcome == "not_checked"


@pytest.mark.parametrize("isolation", ["none", "isolated"])
def test_who_is_marked_cannot_declare_away_what_is_asked(tmp_path, isolation):
    file = tmp_path / "sly.py"
    file.write_text(
        "capabilities = {'apply_rope': False, 'decode_incremental': False}\n"
        "def rope_freqs(d, base=10000):\n"
        "    import numpy as np\n    return float(base) ** (-np.arange(0, d, 2) / d)\n"
    )
    assert check(file, isolation=isolation).verdict == "PASS"
    verdict = check(file, isolation=isolation, exercise=True)
    assert verdict.verdict == "FAIL"
    assert verdict.functions == {
        "rope_freqs": "held",
        "apply_rope": "missing",
        "decode_incremental": "missing",
    }


def test_marks_are_given_for_the_exercise_whatever_is_declared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sly.py").write_text(
        "capabilities = {'rope_freqs': False, 'apply_rope': False, 'decode_incremental': False}\n"
    )
    assert (
        main(["check", "sly.py", "--no-isolate", "--quiet", "--gradescope", "results.json"]) == 1
    )
    assert json.loads((tmp_path / "results.json").read_text())["score"] == 0
