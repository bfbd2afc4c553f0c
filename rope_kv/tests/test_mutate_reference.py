"""The program that tries mutants of the reference: what it makes, tries, finds and tells."""

import ast
import inspect
import json
import subprocess
import sys
import types
from pathlib import Path

import mutant_trial
import mutants
import mutate_reference
import pytest
from mutants import Mutant
from mutate_reference import PACKAGE, Survey

TOY = '''"""A module."""

from __future__ import annotations


def turn(x: int | None, more: float = 2) -> int | None:
    """Return it turned."""
    return x + more


class Ring:
    @property
    def room(self):
        def half(n):
            return n // 2

        return half(7)
'''
# Source texts of rope.py, and what becomes of them. In a process of its own, since it is forked.
CHANGES = {
    "wrong": ("base ** (-np.arange(0, d, 2) / d)", "base * np.arange(0, d, 2)"),
    "as right": ("np.arange(0, d, 2) / d", "np.arange(0, 1 * d, 2) / d"),
    "no import": ("MANY, BLOCK = 256, 64", "MANY, BLOCK = 256 / 0, 64"),
    "another constant": ("MANY, BLOCK = 256, 64", "MANY, BLOCK = 256, 0"),
    "another default": ("d: int, base: float = 10000", "d: int, base: float = 1000"),
    "endless": ("    d, base = even_width(d,", "    while True: pass\n    ("),
}
PROGRAM = """
import json, sys
import mutate_reference
from mutants import Mutant

mutate_reference.LEAST_SECONDS = 1
source = mutate_reference.module_and_source("rope.py")[1]
case = "pair-i-turns-by-base-to-the-minus-2i-over-d-a4b9c4f3.json"
concerned = (("rope_kv", "frequencies_have_the_default_base_10000"), case)
called = {tried: {("rope_kv.rope", "rope_freqs")} for tried in concerned}
stages = [stage.__name__ for stage in mutate_reference.mutant_trial.STAGES]
import rope_kv.rope
for name, (before, after) in json.loads(sys.argv[1]).items():
    assert source.count(before) == 1, before
    function = "" if "MANY" in before else "rope_freqs"
    mutant = Mutant("rope.py", function, before, after, "Toy", source.replace(before, after))
    survey = mutate_reference.Survey(dict.fromkeys(stages, 0.1), called, frozenset())
    process, answer = mutate_reference.begin(lambda: mutant, survey)
    print(json.dumps([name, mutate_reference.ended({process: answer})[1].broken]))
"""


@pytest.fixture(scope="module")
def broken():
    """What breaks for each of the changes, or ""."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(CHANGES)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(map(json.loads, done.stdout.splitlines()))


def test_each_operator_and_number_has_mutants_and_no_annotation_has_any():
    pytest.importorskip("cosmic_ray", reason="pip install 'rope_kv[mutation]'")
    made = (mutants.mutant_at(place, TOY) for place in mutants.places_in("toy.py", TOY))
    found = {mutant.key[1:] for mutant in made if mutant}
    assert ("turn", "return x + more", "return x - more") in found
    assert ("", "@property", "") in found
    assert ("Ring.room.half", "return n // 2", "return n // 3") in found
    assert {before for _, before, _ in found} == {
        "def turn(x: int | None, more: float = 2) -> int | None:",
        "return x + more", "@property", "return n // 2", "return half(7)",
    }  # fmt: skip
    assert all("int | None" in after for _, before, after in found if "int | None" in before)


def test_a_mutant_is_known_wherever_its_lines_move_to():
    moved = TOY.replace('"""A module."""', '"""A module."""\n\nimport math')
    for source in (TOY, moved):
        line, *changed = mutants.difference(source, source.replace("x + more", "x - more"))
        assert changed == ["return x + more", "return x - more"]
        assert mutants.function_at(source, line) == "turn"


def test_a_line_belongs_to_the_innermost_function_and_a_decorator_to_none():
    lines = TOY.splitlines()
    for text, function in (
        ("@prop", ""),
        ("def room", "Ring.room"),
        ("return n", "Ring.room.half"),
    ):
        (number,) = (at for at, line in enumerate(lines, 1) if line.strip().startswith(text))
        assert mutants.function_at(TOY, number) == function


def test_a_changed_module_notes_which_functions_are_called():
    source = mutant_trial.noting_calls("toy", TOY)
    names = vars(inspect).copy()
    exec(compile(source, "toy", "exec"), names)
    mutant_trial.CALLED.clear()
    assert names["Ring"]().room == 3
    called = set(mutant_trial.CALLED)
    assert called == {("toy", "Ring.room"), ("toy", "Ring.room.half")}
    assert names["turn"].__doc__ == "Return it turned."


def test_functions_keep_their_names_and_get_other_code_and_defaults():
    toy = types.ModuleType("toy")
    exec(TOY, vars(toy))
    turn, ring = toy.turn, toy.Ring()
    changed = TOY.replace("x + more", "x - more").replace("= 2", "= 5").replace("// 2", "// 3")
    mutant_trial.exchange_code(toy, changed)
    assert turn(9) == 4
    assert ring.room == 2


def test_what_is_remembered_by_a_cache_is_called_again_and_noted():
    source = "import functools\n\n\n@functools.lru_cache(maxsize=2)\ndef two():\n    return 2\n"
    assert "lru_cache(" not in mutant_trial.noting_calls("toy", source)


def test_only_properties_that_call_a_function_can_notice_its_change():
    called = {("rope_kv", "one"): {("m", "f")}, ("rope_kv", "other"): {("m", "g"), ("n", "f")}}
    survey = Survey({}, called, frozenset({("m", "h")}))
    assert survey.concerned("m", "f") == {("rope_kv", "one")}
    assert survey.concerned("m", "f.inner") == {("rope_kv", "one")}
    assert survey.concerned("m", "never") == set()
    assert survey.concerned("m", "h") is None
    assert survey.concerned("m", "") is None


def test_a_wrong_mutant_is_killed_by_what_it_breaks(broken):
    assert broken["wrong"].startswith("regressions/pair-i-turns-by-base-to-the-minus-2i-over-d")
    assert broken["another default"].startswith("frequencies have the default base 10000")


def test_a_mutant_that_is_as_right_survives(broken):
    assert broken["as right"] == ""


def test_a_change_outside_of_functions_is_imported_anew(broken):
    assert "ZeroDivisionError" in broken["no import"]
    assert broken["another constant"].startswith("regressions/")


def test_a_mutant_that_never_ends_is_killed(broken):
    assert "it takes too long" in broken["endless"]


def test_a_survivor_that_is_not_written_down_is_told(capsys):
    mutant = Mutant("rope.py", "turn", "x + 1", "x - 1", "Add_Sub", "")
    alive, killed = mutate_reference.Trial("", 1.0), mutate_reference.Trial("a law", 1.0)
    assert not mutate_reference.report([(mutant, alive)], {}, ["rope.py"])
    assert "survives, and is not written down: rope.py turn" in capsys.readouterr().out
    assert mutate_reference.report([(mutant, alive)], {mutant.key: "why"}, ["rope.py"])
    assert mutate_reference.report([(mutant, killed)], {}, ["rope.py"])
    assert not mutate_reference.report([(mutant, alive), (mutant, killed)], {}, ["rope.py"])


def test_an_entry_that_is_killed_or_is_no_mutant_is_told(capsys):
    mutant = Mutant("rope.py", "turn", "x + 1", "x - 1", "Add_Sub", "")
    killed = [(mutant, mutate_reference.Trial("a law", 1.0))]
    assert not mutate_reference.report(killed, {mutant.key: "why"}, ["rope.py"])
    assert "is killed (a law)" in capsys.readouterr().out
    gone = ("rope.py", "turn", "x + 2", "x - 2")
    assert not mutate_reference.report(killed, {gone: "why"}, ["rope.py"])
    assert "is no mutant" in capsys.readouterr().out
    assert mutate_reference.report(killed, {("oracle.py", *gone[1:]): "why"}, ["rope.py"])


def test_every_equivalent_is_about_a_line_that_is_there_and_has_a_reason():
    reasons = mutate_reference.equivalents(mutate_reference.EQUIVALENTS)
    assert reasons
    for (file, function, before, after), reason in reasons.items():
        source = (PACKAGE / file).read_text(encoding="utf-8")
        functions = dict(mutants.functions_of(ast.parse(source)))
        inside = ast.get_source_segment(source, functions[function]) if function else source
        assert before in "\n".join(line.strip() for line in inside.splitlines())
        assert before != after
        assert reason.endswith(".")
