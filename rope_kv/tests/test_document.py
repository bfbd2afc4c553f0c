"""The JSON report: it is what its schema says, and the schema says all of it."""

import json
from importlib.resources import files
from typing import get_args

import jsonschema
import pytest
import verdicts
from hypothesis import given, settings

import rope_kv
from rope_kv import traps
from rope_kv.reports.document import SCHEMA, document
from rope_kv.sandbox.levels import LEVELS
from rope_kv.testing import verdict as verdict_types
from rope_kv.testing.comparison import Kind
from rope_kv.testing.implementation import FUNCTIONS, PARTS
from rope_kv.testing.plain import plain
from rope_kv.testing.profiles import PROFILES

STATED = json.loads(files("rope_kv.reports").joinpath("verdict.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(STATED)


def written(verdict):
    """The document as it is read back, after a look at its form."""
    data = json.loads(json.dumps(document(verdict), allow_nan=False))
    VALIDATOR.validate(data)
    return data


def test_the_schema_is_one_and_describes_every_field():
    jsonschema.Draft202012Validator.check_schema(STATED)
    undescribed = []

    def walk(schema, name):
        for field, inner in schema.get("properties", {}).items():
            if not inner.get("description", "").endswith("."):
                undescribed.append(f"{name}.{field}")
            walk(inner, f"{name}.{field}")
        if "properties" in schema:
            assert schema["additionalProperties"] is False, name
            # Functions beyond the exercise are there where something of them was checked.
            due = FUNCTIONS if name == "verdict.functions" else schema["properties"]
            assert schema["required"] == list(due), name
        for field, inner in schema.get("$defs", {}).items():
            assert inner["description"], field
            walk(inner, field)

    walk(STATED, "verdict")
    assert undescribed == []


def test_the_schema_knows_every_word_that_can_be_said():
    fields, kinds = STATED["properties"], STATED["$defs"]["property"]["properties"]
    assert fields["schema"]["const"] == SCHEMA
    assert fields["verdict"]["enum"] == list(get_args(verdict_types.Word))
    assert fields["profile"]["enum"] == list(PROFILES)
    assert fields["isolation"]["enum"] == ["none", *LEVELS]
    assert fields["functions"]["required"] == list(FUNCTIONS)
    assert list(fields["functions"]["properties"]) == list(PARTS)
    assert STATED["$defs"]["function"]["enum"] == list(PARTS)
    assert kinds["outcome"]["enum"] == list(get_args(verdict_types.Outcome))
    assert kinds["kind"]["enum"] == [*get_args(Kind), None]


@pytest.mark.parametrize("verdict", verdicts.ALL)
def test_every_verdict_is_as_the_schema_says(verdict):
    data = written(verdict())
    assert data["verdict"] == verdict().verdict
    assert len(data["properties"]) == len(verdict().results)


def test_what_a_search_finds_is_as_the_schema_says():
    data = written(rope_kv.check(traps.find_trap("cache-at-module-level").path))
    broken = [entry for entry in data["properties"] if entry["outcome"] == "broken"]
    assert broken
    assert all(entry["counterexample"] for entry in broken)


def test_what_a_failure_depends_on_is_told():
    wrong = verdicts.broken(verdicts.TURNS, replays=False, history=(verdicts.CASE,) * 2)
    data = written(verdicts.verdict_of(wrong))
    (entry,) = (entry for entry in data["properties"] if entry["outcome"] == "broken")
    assert entry["alone"] is False
    assert entry["after"] == [entry["counterexample"]] * 2


def test_a_diagnosis_is_told_whole_and_named_where_a_property_is_broken():
    data = written(verdicts.diagnosed())
    assert [found["function"] for found in data["diagnoses"]] == ["apply_rope", "rope_freqs"]
    assert data["diagnoses"][0]["looks_like"][0] == {
        "name": verdicts.HALVES.name,
        "slip": verdicts.HALVES.slip,
        "misconception": verdicts.HALVES.misconception,
        "hint": verdicts.HALVES.hint,
    }
    assert data["diagnoses"][1]["measured"] == ["each angle is 1.1 times the right one"]
    named = {entry["name"]: entry["looks_like"] for entry in data["properties"]}
    assert {name: trap for name, trap in named.items() if trap} == {
        verdicts.TURNS: verdicts.HALVES.name,
        verdicts.KEEPS_LENGTH: verdicts.HALVES.name,
    }


@pytest.mark.parametrize("field", ["verdict", "functions", "properties"])
def test_a_field_that_is_missing_or_not_known_is_no_verdict(field):
    data = document(verdicts.passed())
    for wrong in ({**data, "score": 1}, {k: v for k, v in data.items() if k != field}):
        assert not VALIDATOR.is_valid(wrong)


@settings(deadline=None)
@given(verdicts.hostile_texts())
def test_whatever_a_student_writes_is_text_that_every_reader_of_json_takes(text):
    for verdict in verdicts.hostile(text):
        data = written(verdict)
        json.dumps(data, ensure_ascii=False).encode("utf-8")
        assert data["implementation"] == plain(text)
