"""The count of mutants that `check` misses is to be believed: the hunt sees, and so do we."""

import subprocess
import sys
from pathlib import Path

import contract_calls
import differential
import mutants
import mutate_students
import pytest
from mutate_students import Judged, Mutant, Wrong

from rope_kv import traps

SOURCE = mutate_students.RIGHT["reference_solution"].read_text(encoding="utf-8")
# What the hunt must see is unlike in kind: values, calls, memory, types, arguments, overflow.
SEEN = (
    "pairs_adjacent_vs_halves",
    "cache_off_by_one",
    "recompute_all",
    "cache_at_module_level",
    "freqs_memo_shared",
    "result_buffer_reused",
    "input_written_in_place",
    "positions_sorted_in_place",
    "rope_result_float32",
    "positions_in_int16",
    "angles_in_float32",
    "positions_negative_clamped",
    "table_of_2048_clipped",
    "integer_input_truncated",
    "rope_base_renamed",
    "softmax_overflows",
)

FEWER = mutate_students.FIRST_BREACH._replace(examples=5)


def changed(before, after):
    assert SOURCE.count(before) == 1
    return SOURCE.replace(before, after)


def judged(source, rounds=5):
    mutant = Mutant("a style", "f", "a", "b", "an operator", source)
    return mutate_students.concluded(mutant, [*mutate_students.opinions(mutant, rounds)])


def missed(kind):
    wrong = Wrong(kind, "rope_freqs(2)", "[0] is 2, not 1")
    return Judged(Mutant("a style", "f", "a", "b", "an operator", SOURCE), "", wrong)


def test_a_wrong_mutant_is_flagged():
    one = judged(changed("weights / weights.sum()", "weights * weights.sum()"))
    assert one.kind == "flagged"
    assert one.broken == "incremental decoding equals the full forward"
    assert one.wrong.kind == "ordinary"


def test_a_mutant_that_does_the_same_is_equivalent(monkeypatch):
    monkeypatch.setattr(mutate_students, "FIRST_BREACH", FEWER)
    one = judged(changed("decoder.project_v(row)[0]", "decoder.project_v(row)[-1]"))
    assert one.kind == "equivalent"
    assert (one.broken, one.wrong) == ("", None)


def test_a_mutant_that_does_not_load_is_flagged():
    assert judged(SOURCE + "\n1 / 0\n").broken == "it does not load"


def test_a_mutant_that_does_not_return_is_flagged(monkeypatch):
    monkeypatch.setattr(contract_calls, "CALL_SECONDS", 0.2)
    one = judged(changed("    cos, sin =", "    while True:\n        pass\n    cos, sin ="))
    assert one.kind == "flagged"
    assert "TooLongError" in one.wrong.sentence


def test_a_mutant_whose_process_ends_is_flagged():
    mutant = Mutant("a style", "f", "a", "b", "an operator", SOURCE)
    assert mutate_students.concluded(mutant, []).kind == "flagged"
    assert mutate_students.concluded(mutant, [""]).kind == "missed"


@pytest.mark.parametrize("name", SEEN)
def test_the_hunt_sees_a_trap(name):
    source = traps.find_trap(name).path.read_text(encoding="utf-8")
    assert differential.hunt(source, rounds=150).kind in ("ordinary", "legal")


def test_the_model_of_the_traps_is_right_but_takes_no_empty_array():
    found = differential.hunt(traps.find_trap(SEEN[0]).model.read_text("utf-8"), rounds=150)
    assert found.kind == "empty"
    assert "raised ValueError" in found.sentence


@pytest.mark.parametrize("style", ["cache_class", "immutable_freqs", "output_at_end"])
def test_the_hunt_finds_nothing_wrong_in_a_right_file(style):
    source = mutate_students.RIGHT[style].read_text(encoding="utf-8")
    assert differential.hunt(source, rounds=40) is None


def test_a_style_has_every_mutant_once_and_each_is_another_program():
    pytest.importorskip("cosmic_ray", reason="cosmic-ray makes the mutants: install the extra")
    source = mutate_students.RIGHT["reference_solution"].read_text(encoding="utf-8")
    found = mutate_students.mutants_of_style("reference_solution", each=4, first=0)
    programs = {mutants.program(mutant.source) for mutant in found}
    assert len(programs) == len(found) >= 20
    assert not programs & {None, mutants.program(source)}


def test_the_status_is_1_where_an_ordinary_mistake_is_missed():
    assert mutate_students.status([missed("ordinary")]) == 1
    assert mutate_students.status([missed("legal")]) == 0


def test_the_table_counts_by_style_and_in_all():
    lines = mutate_students.table([missed("ordinary"), missed("legal")])
    assert [line.split() for line in lines[1:]] == [
        ["a", "style", "2", "2", "0", "2", "0", "0"],
        ["all", "2", "2", "0", "2", "0", "0"],
    ]


def test_a_miss_is_shown_with_its_line_and_what_shows_it():
    assert mutate_students.described(missed("legal")) == [
        "missed a style, f: a  →  b",
        "    legal: [0] is 2, not 1, by rope_freqs(2)",
    ]


def test_the_command_judges_a_part_of_the_mutants():
    pytest.importorskip("cosmic_ray", reason="cosmic-ray makes the mutants: install the extra")
    options = ["--styles", "reference_solution", "--each", "60", "--rounds", "5"]
    program = (
        "import mutate_students as m; m.FIRST_BREACH = m.FIRST_BREACH._replace(examples=5);"
        f"raise SystemExit(m.main({options}))"
    )
    folder = Path(mutate_students.__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reference_solution" in done.stdout
    assert "0 missed, 0 accused" in done.stdout.splitlines()[-1]
