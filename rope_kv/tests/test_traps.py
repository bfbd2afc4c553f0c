"""The properties have teeth: every trap breaks, and for its own reason."""

import ast
from pathlib import Path

import pytest

from rope_kv import regressions, traps
from rope_kv.testing import counterexample
from rope_kv.testing.cases import size
from rope_kv.testing.implementation import FUNCTIONS
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import replay, search

FIXTURES = Path(regressions.__file__).parent
TRAPS = traps.all_traps()
PROPERTIES = {prop.name: prop for prop in all_properties()}
MODEL = (traps.FOLDER / "_model.py").read_text(encoding="utf-8")

# Twenty properties for each of many traps: a third of the examples keeps this under a minute.
FEWER = PROFILES["grade"]._replace(examples=20)

every_trap = pytest.mark.parametrize("trap", TRAPS, ids=[trap.name for trap in TRAPS])


def functions_of(text):
    """The source of each function of the contract, by name."""
    return {
        node.name: ast.unparse(node)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS
    }


@every_trap
def test_a_trap_says_what_it_is(trap):
    assert trap.slip.endswith(".")
    assert trap.misconception
    assert trap.hint
    assert trap.seen_in
    assert trap.function in FUNCTIONS


@every_trap
def test_a_trap_differs_from_the_right_solution_in_one_function(trap):
    wrong, right = functions_of(trap.path.read_text(encoding="utf-8")), functions_of(MODEL)
    assert {name for name in right if wrong[name] != right[name]} == {trap.function}


@every_trap
def test_a_trap_is_broken_by_its_own_counterexample(trap):
    stored = counterexample.load(FIXTURES / trap.shown_by)
    assert stored.property.function == trap.function
    assert replay(stored.property, load(trap.path), stored.case).outcome == "broken"
    assert replay(stored.property, load("rope_kv"), stored.case).outcome == "held"


@every_trap
def test_a_trap_is_found_by_the_property_it_names(trap):
    stored = counterexample.load(FIXTURES / trap.shown_by)
    result = search(stored.property, load(trap.path), PROFILES["grade"])
    assert result.outcome == "broken"
    assert result.replays
    # What is found again by id depends on what else is in memory, and so does how far it shrinks.
    if not trap.name.endswith(("identity", "id")):
        assert size(result.counterexample)[0] <= max(40, 2 * size(stored.case)[0])


@pytest.mark.parametrize(
    "trap",
    [trap for trap in TRAPS if trap.function != "decode_incremental"],
    ids=lambda trap: trap.name,
)
def test_a_wrong_rotation_is_not_blamed_on_decoding(trap):
    impl = load(trap.path)
    blamed = [
        prop.name
        for prop in PROPERTIES.values()
        if prop.function == "decode_incremental" and search(prop, impl, FEWER).outcome == "broken"
    ]
    assert blamed == []


def test_every_property_is_named_by_a_trap_or_breaks_one():
    named = {counterexample.load(FIXTURES / trap.shown_by).property.name for trap in TRAPS}
    advice = {prop.name for prop in PROPERTIES.values() if prop.advice}
    assert set(PROPERTIES) - named - advice == set()


def test_the_three_traps_of_the_exercise_are_there():
    names = {trap.name for trap in TRAPS}
    assert {"pairs-adjacent-vs-halves", "recompute-all", "cache-off-by-one"} <= names
    assert len(names) >= 70
