"""The properties have teeth: every trap breaks, and for its own reason."""

import ast
from pathlib import Path

import pytest

from rope_kv import regressions, traps
from rope_kv.testing import counterexample
from rope_kv.testing.cases import size
from rope_kv.testing.implementation import PARTS
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import replay, search

FIXTURES = Path(regressions.__file__).parent
TRAPS = traps.all_traps()
PROPERTIES = {prop.name: prop for prop in all_properties()}
MODELS = sorted(traps.FOLDER.glob("_*model.py"))

# Twenty properties for each of many traps: a third of the examples keeps this under a minute.
FEWER = PROFILES["grade"]._replace(examples=20)

every_trap = pytest.mark.parametrize("trap", TRAPS, ids=[trap.name for trap in TRAPS])


def parts_of(path):
    """The source of each function, method and statement of a file, by name or by itself.

    Its docstring, what it imports and what it declares are none of them.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {}
    for owner in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))):
        inside = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
        for node in owner.body:
            source = ast.unparse(node)
            is_docstring = node is owner.body[0] and ast.get_docstring(owner)
            is_aside = isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom)
            if isinstance(node, ast.FunctionDef):
                parts[inside + node.name] = source
            elif not (is_docstring or is_aside or source.startswith("capabilities = ")):
                parts[inside + source] = source
    return parts


@every_trap
def test_a_trap_says_what_it_is(trap):
    assert trap.slip.endswith(".")
    assert trap.misconception
    assert trap.hint
    assert trap.seen_in
    assert trap.function in PARTS


@every_trap
def test_a_trap_differs_from_its_model_in_one_part(trap):
    wrong, right = parts_of(trap.path), parts_of(trap.model)
    (changed,) = {name for name in right if wrong.get(name) != right[name]}
    if trap.model.name == "_model.py":
        assert changed == trap.function


@pytest.mark.parametrize("path", MODELS, ids=[path.stem for path in MODELS])
def test_a_model_is_right(path):
    impl = load(path)
    found = [search(prop, impl, FEWER) for prop in PROPERTIES.values()]
    assert {result.outcome for result in found} == {"held", "not_checked"}


@every_trap
def test_a_trap_is_broken_by_its_own_counterexample(trap):
    stored = counterexample.load(FIXTURES / trap.shown_by)
    assert stored.property.function == trap.function
    assert replay(stored.property, load(trap.path), stored.case).outcome == "broken"
    assert replay(stored.property, load(trap.model), stored.case).outcome == "held"
    # What the reference does not declare is not checked.
    assert replay(stored.property, load("rope_kv"), stored.case).outcome != "broken"


@every_trap
def test_a_trap_is_found_by_the_property_it_names(trap):
    stored = counterexample.load(FIXTURES / trap.shown_by)
    result = search(stored.property, load(trap.path), PROFILES["grade"])
    assert result.outcome == "broken"
    # What is found again by id depends on what else is in memory, and so does how far it shrinks.
    if not trap.name.endswith(("identity", "id")):
        assert result.replays
        assert size(result.counterexample)[0] <= max(40, 2 * size(stored.case)[0])


@pytest.mark.parametrize(
    "trap",
    [
        trap
        for trap in TRAPS
        if trap.function in ("rope_freqs", "apply_rope")
        # Two of the other models stand for all: who is blamed does not depend on them.
        and trap.model.name in ("_model.py", "_table_model.py", "_float16_model.py")
    ],
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


@pytest.mark.parametrize(
    "name", ["base-to-plus-power", "exponent-i-over-d", "freqs-reversed", "log-base-ten"]
)
def test_a_law_that_a_wrong_file_obeys_is_not_said_to_be_broken(name):
    # Its frequencies are larger than the right ones, and rounded by more.
    law = PROPERTIES["squaring_the_base_squares_each_frequency"]
    found = search(law, load(traps.find_trap(name).path), PROFILES["grade"])
    assert found.outcome == "held", found
