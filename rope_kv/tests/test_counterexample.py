"""Stored counterexamples: written once, read strictly, replayed against anything."""

import json
from pathlib import Path

import pytest
from hypothesis import given

from rope_kv import regressions, traps
from rope_kv.testing import cases, counterexample
from rope_kv.testing.case_json import from_json, to_json
from rope_kv.testing.counterexample import CounterexampleError
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import replay

STORED = sorted(Path(regressions.__file__).parent.glob("*.json"))
PROP = next(p for p in all_properties() if p.name == "each_pair_keeps_its_length")
CASE = cases.RotationCase(((1.0, 0.0, 0.5, -0.125),), (3,), 2.5)


def test_what_is_saved_is_loaded_again_and_replays_elsewhere(tmp_path):
    path = counterexample.save(tmp_path / "new folder", PROP, CASE, "because é", "student.py")
    assert path.name.startswith("each-pair-keeps-its-length-")
    stored = counterexample.load(path)
    assert stored.case == CASE
    assert stored.property.name == PROP.name
    assert stored.why == "because é"
    assert stored.found["against"] == "student.py"
    wrong = load(traps.find_trap("pairs-adjacent-vs-halves").path)
    assert replay(stored.property, wrong, stored.case).outcome == "broken"
    assert replay(stored.property, load("rope_kv"), stored.case).outcome == "held"


def test_the_name_of_a_file_may_be_no_text(tmp_path):
    path = counterexample.save(tmp_path, PROP, CASE, "", "l\udcf6sung.py")
    assert counterexample.load(path).found["against"] == r"l\xdcf6sung.py"


def test_a_folder_that_is_not_named_and_cannot_be_written_is_not_recorded_in(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    here, named = Path("regressions"), Path("kept")
    here.mkdir()
    assert counterexample.where_to_record(None, nowhere=False) == here
    monkeypatch.setattr("os.access", lambda path, mode: False)  # Root may write anywhere.
    assert counterexample.where_to_record(None, nowhere=False) is None
    assert counterexample.where_to_record(named, nowhere=False) == named


def test_the_same_case_is_stored_once_and_never_overwritten(tmp_path):
    path = counterexample.save(tmp_path, PROP, CASE, "first", "a.py")
    before = path.read_bytes()
    assert counterexample.save(tmp_path, PROP, CASE, "second", "b.py") == path
    assert path.read_bytes() == before
    other = CASE._replace(base=3)
    assert counterexample.save(tmp_path, PROP, other, "", "a.py") != path
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_stored_file_is_in_the_form_that_save_gives(path, tmp_path):
    stored = counterexample.load(path)
    again = counterexample.save(tmp_path, stored.property, stored.case, stored.why, "x")
    assert again.name == path.name
    kept, new = (json.loads(file.read_text(encoding="utf-8")) for file in (path, again))
    assert kept | {"found": None} == new | {"found": None}
    assert set(kept["found"]) == {"rope_kv", "hypothesis", "against", "on"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("not json", "is not JSON"),
        ("[]", 'it has no "format"'),
        ('{"format": 2}', "has format 2; this version reads format 1: install a newer rope_kv"),
        ('{"format": 1, "property": "no_such"}', "is about 'no_such', which is no property"),
        ('{"format": 1, "property": "each_pair_keeps_its_length"}', "must have the fields x, "),
        (
            '{"format": 1, "property": "each_pair_keeps_its_length",'
            ' "case": {"x": [["a"]], "positions": [1], "base": 10}}',
            "its field 'x' has a value of the wrong kind",
        ),
        (
            '{"format": 1, "property": "each_pair_keeps_its_length",'
            ' "case": {"x": [[1, 2]], "positions": [1.5], "base": 10}}',
            "its field 'positions' has a value of the wrong kind",
        ),
    ],
)
def test_a_file_that_cannot_be_replayed_says_why(tmp_path, content, sentence):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(CounterexampleError) as refusal:
        counterexample.load(path)
    assert sentence in str(refusal.value)
    assert str(path) in str(refusal.value)


def test_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(CounterexampleError, match="cannot be read: No such file"):
        counterexample.load(tmp_path / "a.json")


@pytest.mark.parametrize("prop", all_properties(), ids=lambda prop: prop.name)
def test_every_case_survives_json_bit_for_bit(prop):
    @PROFILES["grade"]._replace(examples=20).settings(share=1)
    @given(prop.strategy)
    def survives(case):
        assert from_json(prop.case_type, json.loads(json.dumps(to_json(case)))) == case
        assert str(case)

    survives()
