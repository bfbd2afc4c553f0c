"""Known failures: passed over while their stored cases fail, and told once they hold."""

import subprocess
import sys
import types

import numpy as np
import pytest

import rope_kv
from rope_kv import check
from rope_kv.reports import document, html, junit, markdown
from rope_kv.testing import counterexample, known_failures
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES

LISTED = "rotation_returns_a_float64_array_like_x"
REASON = "a list is returned (lib 1.0)"


@pytest.fixture(autouse=True)
def few_examples(monkeypatch):
    monkeypatch.setitem(PROFILES, "grade", PROFILES["grade"]._replace(examples=5))


def listed(x, positions, base=10000):
    return rope_kv.apply_rope(x, positions, base).tolist()


def library(folder, **more):
    """Return a library whose apply_rope returns a list, and that says so."""
    parts = {
        "rope_freqs": rope_kv.rope_freqs, "apply_rope": listed,
        "decode_incremental": rope_kv.decode_incremental,
        "known_failures": {LISTED: REASON}, "known_cases": str(folder),
    }  # fmt: skip
    return types.SimpleNamespace(**{**parts, **more})


@pytest.fixture
def stored(tmp_path):
    """The folder of a case that shows the known failure."""
    verdict = check(library(tmp_path / "none"), record=tmp_path / "known")
    assert [result.property.name for result in verdict.with_outcome("broken")] == [LISTED]
    return tmp_path / "known"


def test_what_is_known_to_fail_fails_nothing_and_every_report_says_why(stored):
    verdict = check(library(stored))
    assert verdict.verdict == "PASS"
    assert verdict.functions["apply_rope"] == "known"
    (known,) = verdict.with_outcome("known")
    assert (known.property.name, known.message) == (LISTED, REASON)
    said = "1 known to fail"
    assert said in str(verdict)
    assert f"{known.property.title}: {REASON}" in " ".join(str(verdict).split())
    for report in (html.page(verdict), markdown.markdown(verdict), junit.junit(verdict)):
        assert REASON in report
    (written,) = [one for one in document.document(verdict)["properties"] if one["name"] == LISTED]
    assert (written["outcome"], written["message"]) == ("known", REASON)


def test_what_is_known_to_fail_is_not_searched_but_replayed(stored):
    shown = []

    def noting(x, positions, base=10000):
        shown.append(np.array(x).tolist())
        return listed(x, positions, base)

    (path,) = stored.glob("*.json")
    case = counterexample.load(path)
    impl = load(library(stored, apply_rope=noting))
    result = known_failures.judged(case.property, impl, PROFILES["grade"])
    assert (result.outcome, result.counterexample) == ("known", case.case)
    assert all(x == [list(row) for row in case.case.x] for x in shown)


def test_a_stored_case_that_holds_is_told(stored):
    verdict = check(library(stored, apply_rope=rope_kv.apply_rope))
    assert verdict.verdict == "FAIL"
    (told,) = verdict.with_outcome("broken")
    assert told.property.name == LISTED
    assert told.message.startswith(f"known to fail ({REASON}), but ")
    assert told.message.endswith(".json holds: is it mended upstream?")
    assert told.message in " ".join(str(verdict).split())


def test_without_a_stored_case_it_is_searched(tmp_path):
    verdict = check(library(tmp_path))
    assert verdict.verdict == "FAIL"
    assert [result.property.name for result in verdict.with_outcome("broken")] == [LISTED]


def test_a_stored_case_that_cannot_be_read_is_said_in_one_sentence(stored):
    (path,) = stored.glob("*.json")
    path.write_text("{", encoding="utf-8")
    verdict = check(library(stored))
    assert verdict.verdict == "LOAD_ERROR"
    assert f"cannot be loaded: {path} is not JSON" in verdict.message


def test_other_failures_are_failures_all_the_same(stored):
    def reversed_and_listed(x, positions, base=10000):
        return rope_kv.apply_rope(x, -np.asarray(positions), base).tolist()

    verdict = check(library(stored, apply_rope=reversed_and_listed))
    assert verdict.verdict == "FAIL"
    assert "each_adjacent_pair_turns_by_its_own_angle" in {
        result.property.name for result in verdict.with_outcome("broken")
    }


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (
            {LISTED[:-1]: REASON},
            f"known_failures names {LISTED[:-1]!r}, which is no property: "
            f"did you mean {LISTED!r}?",
        ),
        ({LISTED: ""}, f"known_failures gives no reason for {LISTED!r}"),
        ({LISTED: 3}, f"known_failures gives no reason for {LISTED!r}"),
    ],
)
def test_a_name_that_is_no_property_or_a_reason_that_is_none_is_refused(tmp_path, known, said):
    verdict = check(library(tmp_path, known_failures=known))
    assert verdict.verdict == "LOAD_ERROR"
    assert said in verdict.message


WRONG = f"""
import numpy as np
import rope_kv

known_failures = {{"{LISTED}": "{REASON}"}}
rope_freqs, decode_incremental = rope_kv.rope_freqs, rope_kv.decode_incremental


def apply_rope(x, positions, base=10000):
    return rope_kv.apply_rope(x, positions, base).tolist()
"""


def test_a_file_that_is_not_trusted_cannot_say_what_is_passed_over(stored, tmp_path):
    path = tmp_path / "student.py"
    source = (rope_kv.traps.FOLDER / "_model.py").read_text(encoding="utf-8")
    source += "\n\nright = apply_rope\n\n\ndef apply_rope(x, positions, base=10000):\n"
    source += "    return right(x, positions, base).tolist()\n"
    source += f"\n\nknown_failures = {{{LISTED!r}: 'known'}}\nknown_cases = {str(stored)!r}\n"
    path.write_text(source, encoding="utf-8")
    verdict = check(path)
    assert verdict.isolation != "none"
    assert verdict.verdict == "FAIL"
    assert not verdict.with_outcome("known")
    # In this process, where it is trusted, it may; but not where the exercise counts.
    assert check(path, isolation="none").verdict == "PASS"
    assert check(path, isolation="none", exercise=True).verdict == "FAIL"


def test_pytest_expects_a_known_failure_to_fail(stored, tmp_path):
    (tmp_path / "lib.py").write_text(WRONG, encoding="utf-8")
    folder = tmp_path / "known" / "lib"
    folder.mkdir()
    for path in stored.glob("*.json"):
        path.rename(folder / path.name)
    command = [sys.executable, "-m", "pytest", "-p", "rope_kv.pytest_plugin", "-q"]
    command += ["--pyargs", "rope_kv.properties.test_purity", "--impl", "lib"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 xfailed" in done.stdout
    assert "1 known to fail" in done.stdout
