"""A whole class: each student is judged by the own file alone, once, and what is read says so."""

import csv
import json
import os
import shutil
from pathlib import Path

import pytest
import quick_checks
from quick_checks import CLASS, one_thread, snapshot, write_class

from rope_kv import traps
from rope_kv.grading import work
from rope_kv.grading.display import Seen
from rope_kv.grading.grade import GradingError, grade, stored_cases
from rope_kv.grading.store import StoreError
from rope_kv.grading.work import Settings, digest_of
from rope_kv.testing.counterexample import CounterexampleError, brought_along, load
from rope_kv.testing.profiles import PROFILES, Profile

pytest.importorskip("fcntl", reason="rope-kv grade needs a system with flock")

HERE = Path(__file__).parent
HALVES = traps.find_trap("pairs-adjacent-vs-halves").path.read_text(encoding="utf-8")
RIGHT = work.reference().decode()
QUICK = Profile("grade", 5, attempts=20, patience=4.0)


@pytest.fixture
def checked(monkeypatch):
    """Make checks take no time; the files that were checked, by their content."""
    sources = []

    def check(source, settings, expected=None):
        sources.append(source.decode())
        return quick_checks.check(source, settings)

    monkeypatch.setattr(work, "check", check)
    monkeypatch.setattr(work, "check_reference", quick_checks.check_reference)
    return sources


def graded(folder, out, **options):
    with one_thread() as executor:
        return grade([folder], out, executor=executor, jobs=1, **options)


def table(out):
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


class Noting(Seen):
    """What was said, and something that happens while the class is graded."""

    def __init__(self, happens=None):
        super().__init__()
        self.said = []
        self._happens = happens

    def note(self, said):
        self.said.append(said)

    def ended(self, outcome):
        super().ended(outcome)
        if self._happens is not None and self.done == 2:
            self._happens()


def test_each_student_has_a_row_and_reports_and_the_same_file_is_checked_once(tmp_path, checked):
    out = tmp_path / "out"
    result = graded(write_class(tmp_path / "class"), out)
    assert (result.left, result.stopped) == (0, "")
    assert sorted(checked) == sorted(set(CLASS.values()))
    rows = {row["name"]: row for row in table(out)}
    assert {f"{name}.py": row["verdict"] for name, row in rows.items()} == {
        name: content.split()[0] for name, content in CLASS.items()
    }
    assert {name: row["identical"] for name, row in rows.items() if row["identical"]} == {
        "bob": ["cleo"],
        "cleo": ["bob"],
    }
    stems = {row["report"] for row in rows.values()}
    reports = {f"{stem}.{form}" for stem in stems for form in ("html", "json", "txt")}
    assert set(snapshot(out)) == {"index.html", "results.csv", "results.jsonl", *reports}
    with open(out / "results.csv", encoding="utf-8-sig", newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == list(rows)


def test_what_is_done_is_not_done_again_and_late_submissions_are(tmp_path, checked):
    folder, out = write_class(tmp_path / "class"), tmp_path / "out"
    graded(folder, out)
    before = snapshot(out)
    checked.clear()
    graded(folder, out, resume=True)
    assert (checked, snapshot(out)) == ([], before)
    (folder / "late.py").write_text("PASS late")
    graded(folder, out, resume=True)
    assert checked == ["PASS late"]
    assert len(table(out)) == len(CLASS) + 1


def test_a_record_that_was_spoiled_is_made_again(tmp_path, checked):
    folder, out = write_class(tmp_path / "class"), tmp_path / "out"
    graded(folder, out)
    before = snapshot(out)
    checked.clear()
    for source in ("PASS by ada", "FAIL by bob"):
        os.truncate(out / f"state/done/{digest_of(source.encode())}.jsonl", 100)
    graded(folder, out, resume=True)
    assert sorted(checked) == ["FAIL by bob", "PASS by ada"]
    assert snapshot(out) == before


def test_an_interrupted_class_has_all_that_is_known_and_goes_on(tmp_path, checked):
    folder, out = write_class(tmp_path / "class"), tmp_path / "out"

    def interrupt():
        raise KeyboardInterrupt

    result = graded(folder, out, seen=Noting(interrupt))
    assert (result.stopped, result.left) == ("interrupted", 3)
    rows = table(out)
    assert [row["verdict"] for row in rows].count("NOT_RUN") == 3
    assert {row["message"] for row in rows if not row["report"]} == {
        "not checked yet: --resume goes on"
    }
    graded(folder, out, resume=True)
    graded(folder, tmp_path / "undisturbed")
    assert snapshot(out) == snapshot(tmp_path / "undisturbed")


def test_after_the_time_limit_no_file_is_begun(tmp_path, checked):
    folder, out = write_class(tmp_path / "class"), tmp_path / "out"
    result = graded(folder, out, time_limit=1e-9)
    assert (result.stopped, result.left) == ("the time limit was reached", 5)
    assert checked == []
    assert {row["verdict"] for row in table(out)} == {"NOT_RUN"}
    assert graded(folder, out, resume=True, time_limit=1e9).left == 0


def test_a_file_that_changes_or_goes_away_meanwhile_is_told_and_holds_up_nobody(tmp_path, checked):
    folder, out = write_class(tmp_path / "class"), tmp_path / "out"

    def change():
        (folder / "eve.py").write_text("PASS by eve now")
        (folder / "finn.py").unlink()

    result = graded(folder, out, seen=Noting(change))
    assert (result.stopped, result.left) == ("", 2)
    rows = {row["name"]: row for row in table(out)}
    for name in ("eve", "finn"):
        assert (rows[name]["verdict"], rows[name]["points"]) == ("NOT_RUN", None)
        assert rows[name]["message"].endswith("--resume looks for it again")
    assert rows["ada"]["verdict"] == "PASS"
    assert graded(folder, out, resume=True).left == 0
    rows = {row["name"]: row["verdict"] for row in table(out)}
    assert rows["eve"] == "PASS"
    assert "finn" not in rows


def test_results_among_the_submissions_are_no_students(tmp_path, checked, monkeypatch):
    folder = write_class(tmp_path / "class")
    monkeypatch.chdir(folder)
    for resume in (False, True):
        with one_thread() as executor:
            grade(".", "out", executor=executor, resume=resume, harvest="cases")
        assert [f"{row['name']}.py" for row in table(folder / "out")] == list(CLASS)
    with one_thread() as executor:
        grade([*os.listdir()], folder / "out", executor=executor, resume=True, harvest="cases")
        assert [f"{row['name']}.py" for row in table(folder / "out")] == list(CLASS)
        other = write_class(tmp_path / "other", {"gus.py": "PASS"})
        grade([other, "."], tmp_path / "both", executor=executor, harvest="cases")
    # That of another class is not known to be one.
    assert {"gus", "out"} <= {row["name"] for row in table(tmp_path / "both")}


def test_reports_of_a_file_that_was_taken_back_go_and_who_is_gone_is_told(tmp_path, checked):
    folder, out = write_class(tmp_path / "class"), tmp_path / "out"
    graded(folder, out)
    (folder / "ada.py").unlink()
    (folder / "ada.py").symlink_to(folder / "eve.py")
    (folder / "bob.py").unlink()
    seen = Noting()
    graded(folder, out, resume=True, seen=seen)
    assert seen.said == ["no longer in the tables, as not among what is graded now: bob"]
    assert not list((out / "reports").glob("ada.*"))
    assert {row["name"]: row["verdict"] for row in table(out)}["ada"] == "MISSING"


def test_a_broken_table_of_before_stops_nothing(tmp_path, checked):
    folder, out = write_class(tmp_path / "class"), tmp_path / "out"
    graded(folder, out)
    before = snapshot(out)
    for spoiled in (b"\xff", b"[]\n", b"{}\n", b"[" * 100_000):
        (out / "results.jsonl").write_bytes(spoiled)
        graded(folder, out, resume=True)
        assert snapshot(out) == before


def test_counterexamples_are_kept_once_and_nothing_takes_their_place(tmp_path, checked):
    folder, cases = write_class(tmp_path / "class"), tmp_path / "deep/cases"
    cases.mkdir(parents=True)
    (cases / "fail.json").write_text("mine")
    graded(folder, tmp_path / "out", harvest=cases)
    assert {path.name: path.read_text() for path in cases.iterdir()} == {
        "pass.json": '"PASS"\n',
        "fail.json": "mine",
        "crash.json": '"CRASH"\n',
        "timeout.json": '"TIMEOUT"\n',
    }


def test_where_counterexamples_cannot_be_kept_the_results_are_there_all_the_same(
    tmp_path, checked
):
    folder, out = write_class(tmp_path / "class"), tmp_path / "out"
    (tmp_path / "cases").write_text("a file")
    with pytest.raises(StoreError, match=r"cannot write .*cases/.*\.json: Not a directory; what"):
        graded(folder, out, harvest=tmp_path / "cases/below")
    assert len(table(out)) == len(CLASS)


def test_where_a_right_solution_does_not_pass_nobody_is_judged(tmp_path, checked, monkeypatch):
    monkeypatch.setattr(work, "check_reference", lambda settings, expected: fails)
    fails = quick_checks.check(b"TIMEOUT", Settings())
    fails.verdict["message"] = ""
    with pytest.raises(GradingError) as error:
        graded(write_class(tmp_path / "class"), tmp_path / "out")
    assert str(error.value) == (
        "a right solution does not pass here, so no file can be judged: TIMEOUT, "
        "are --memory, --call-timeout and --each-time-limit too small for this machine?"
    )
    assert checked == []


def test_stored_cases_that_cannot_be_read_give_a_sentence(tmp_path):
    with pytest.raises(CounterexampleError, match=r"^no counterexample in .*: name another"):
        stored_cases([tmp_path])
    for content, said in (
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", 'is not a counterexample: it has no "format"'),
        (b'{"format": 1, "property": "x"}', "is about 'x', which is no property of this version"),
    ):
        (tmp_path / "case.json").write_bytes(content)
        with pytest.raises(CounterexampleError) as error:
            stored_cases([tmp_path])
        assert f"case.json {said}" in str(error.value)
        assert "\n" not in str(error.value)


HOSTILE = {
    "hangs.py": "r01_loops_from_four_rows",
    "crashes.py": "r02_segfault_from_three_rows",
    "prints.py": "r14_prints_megabytes",
    "shouts.py": "r60_shouts_in_an_exception",
}


@pytest.fixture(scope="module")
def class_of_all_kinds(tmp_path_factory):
    """A small class that was really checked, hostile files and right ones, and its folder."""
    scratch = tmp_path_factory.mktemp("all-kinds")
    right = (HERE / "hostile/_right.py").read_text(encoding="utf-8")
    files = {"Zebedee Quux.py": HALVES, "copycat.py": HALVES, "right.py": RIGHT}
    for name, hostile in HOSTILE.items():
        source = (HERE / f"hostile/{hostile}.py").read_text(encoding="utf-8")
        files[name] = right + source
    folder = write_class(scratch / "submitted", files)
    settings = Settings(call_timeout=0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROFILES, "grade", QUICK)
        result = graded(folder, scratch / "out", settings=settings, harvest=scratch / "cases")
        (folder / "alone").mkdir()
        shutil.copy(folder / "copycat.py", folder / "alone/other name.py")
        graded(folder / "alone", scratch / "again", settings=settings)
    return scratch, result


def test_hostile_files_touch_nobody_else(class_of_all_kinds):
    _, result = class_of_all_kinds
    assert result.left == 0
    assert {row.name: row.verdict for row in result.rows} == {
        "Zebedee Quux": "FAIL",
        "copycat": "FAIL",
        "right": "PASS",
        "hangs": "TIMEOUT",
        "crashes": "CRASH",
        "prints": "PASS",
        "shouts": "FAIL",
    }


def test_a_report_names_no_student_and_no_path(class_of_all_kinds):
    scratch, result = class_of_all_kinds
    words = [row.name for row in result.rows if row.name not in ("right", "crashes")]
    words += ["submitted", str(scratch), "/tmp/", "Zebedee"]
    reports = sorted((scratch / "out/reports").iterdir())
    assert len(reports) == 3 * len(result.rows)
    for path in reports:
        content = path.read_text(encoding="utf-8")
        assert "solution.py" in content
        assert [word for word in words if word in content] == []


def test_the_same_file_gets_the_same_reports_whoever_else_is_in_the_class(class_of_all_kinds):
    scratch, _ = class_of_all_kinds
    for form in ("txt", "json", "html"):
        of_one = (scratch / f"out/reports/copycat.{form}").read_bytes()
        assert (scratch / f"out/reports/Zebedee-Quux.{form}").read_bytes() == of_one
        assert (scratch / f"again/reports/other-name.{form}").read_bytes() == of_one


def test_the_counterexamples_of_a_class_can_be_replayed_and_name_nobody(class_of_all_kinds):
    scratch, _ = class_of_all_kinds
    paths = sorted((scratch / "cases").iterdir())
    assert any(load(path).property.function == "apply_rope" for path in paths)
    assert {load(path).found["against"] for path in paths} == {"solution.py"}


def test_stored_cases_beyond_the_exercise_are_left_out(class_of_all_kinds):
    scratch, _ = class_of_all_kinds
    told = json.loads((scratch / "out/reports/right.json").read_text(encoding="utf-8"))
    asked = {prop["name"] for prop in told["properties"]}
    paths = sorted(brought_along().glob("*.json"))
    kept = [path for path in paths if load(path).property.name in asked]
    assert 0 < len(kept) < len(paths)
    expected = tuple(path.read_text(encoding="utf-8") for path in kept)
    assert stored_cases([brought_along()]) == expected


RARE = """

_right = apply_rope


def apply_rope(x, positions, base=10000):
    y = _right(x, positions, base)
    is_it = list(positions) == {positions} and np.array_equal(x, {x})
    return y + 1 if is_it else y
"""


def test_a_rare_mistake_is_found_by_a_case_that_was_found_in_another_file(class_of_all_kinds):
    scratch, _ = class_of_all_kinds
    paths = (scratch / "cases").glob("far-positions-turn-as-exactly-as-near-ones-*.json")
    case = load(min(paths)).case
    rare = RARE.format(positions=list(case.positions), x=[list(row) for row in case.x])
    folder = write_class(scratch / "rare", {"rare.py": RIGHT + rare})
    (unaided,) = graded(folder, scratch / "unaided").rows
    assert unaided.verdict == "PASS"
    first = stored_cases([scratch / "cases"])
    (row,) = graded(folder, scratch / "aided", settings=Settings(first=first)).rows
    assert row.verdict == "FAIL"
    assert "far_positions_turn_as_exactly_as_near_ones" in row.broken
    page = (scratch / "aided/index.html").read_text(encoding="utf-8")
    assert f"{len(first)} stored cases tried first" in page
