"""The pytest plugin, run as a user runs it: in a process of its own."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from rope_kv import traps
from rope_kv.testing.capabilities import NOTHING_DECLARED
from rope_kv.testing.loading import load
from rope_kv.testing.property import all_properties, properties_for

HALVES = str(traps.find_trap("pairs-adjacent-vs-halves").path)
# Where a test names the smallest case: the profile dev draws at random, and ends at others now and
# then (once in 40 runs, at [[0, 0, 1, 0]]).
SAME_CASES = ("--hypothesis-profile", "grade")
SHOWN = properties_for(load("rope_kv").capabilities)
COUNT = len(SHOWN)
ADVICE = sum(prop.advice for prop in SHOWN)
BEYOND = [prop for prop in all_properties() if not prop.of_the_exercise]


def pytest_of(folder, *arguments, plugin=True):
    command = [sys.executable, "-m", "pytest", "--rootdir", str(folder), "-c", "/dev/null"]
    command += ["-p", "rope_kv.pytest_plugin"] if plugin else []
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return done.returncode, done.stdout + done.stderr


def verified(folder, *arguments):
    return pytest_of(folder, "--pyargs", "rope_kv.properties", *arguments)


def test_the_reference_is_verified_where_pip_put_the_properties(tmp_path):
    status, out = verified(tmp_path, "-q")
    assert status == 0, out
    assert f"rope_kv: {COUNT - ADVICE} held, 0 broken" in out
    assert f"{COUNT} passed" in out


def test_a_trap_fails_with_the_text_and_no_traceback(tmp_path):
    status, out = verified(tmp_path, "--impl", HALVES, "-k", "own_angle or decoding", *SAME_CASES)
    assert status == 1
    assert "  smallest   apply_rope([[1, 0, 0, 0]], positions=[1])" in out
    assert "decode_incremental is wrong only because apply_rope is" in out
    assert "Traceback" not in out
    assert "Falsifying" not in out
    assert not (tmp_path / "regressions").exists()


def test_a_counterexample_of_one_run_replays_in_another(tmp_path):
    status, out = verified(tmp_path, "--impl", HALVES, "--record", "kept", "-k", "own_angle")
    assert status == 1
    (kept,) = (tmp_path / "kept").iterdir()
    assert f"kept kept/{kept.name}" in out.replace("\\", "/")
    test = tmp_path / "test_kept.py"
    test.write_text(
        "from pathlib import Path\n"
        f"def test_it(replay_file):\n    replay_file(Path({str(kept)!r}))\n"
    )
    assert pytest_of(tmp_path, str(test), "--impl", HALVES)[0] == 1
    assert pytest_of(tmp_path, str(test))[0] == 0


def test_stored_counterexamples_run_alone_one_item_a_file(tmp_path):
    status, out = pytest_of(tmp_path, "--pyargs", "rope_kv.regressions", "-q")
    assert status == 0, out
    status, out = pytest_of(tmp_path, "--pyargs", "rope_kv.regressions", "-q", "--impl", HALVES)
    assert status == 1
    assert "regressions" in out


def test_regressions_of_the_current_folder_grow_only_where_wanted(tmp_path):
    (tmp_path / "regressions").mkdir()
    verified(tmp_path, "--impl", HALVES, "-k", "own_angle", "--no-record")
    assert list((tmp_path / "regressions").iterdir()) == []
    verified(tmp_path, "--impl", HALVES, "-k", "own_angle")
    assert len(list((tmp_path / "regressions").iterdir())) == 1


def test_the_usual_options_of_pytest_work(tmp_path):
    usual = ("-x", "-n", "2", "--junitxml", "out.xml", *SAME_CASES)
    status, out = verified(tmp_path, "--impl", HALVES, *usual)
    assert status != 0, out
    report = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert report.find(".//failure") is not None
    # Which property fails first is up to the two workers.
    assert " smallest " in ElementTree.tostring(report, encoding="unicode")
    status, out = verified(tmp_path, "--hypothesis-seed", "7", "-k", "frequencies", "-n", "2")
    assert status == 0, out
    assert "held, 0 broken" in out


@pytest.mark.parametrize("profile", ["grade", "dev", "ci"])
def test_profiles_are_chosen_as_hypothesis_does(tmp_path, profile):
    status, out = verified(tmp_path, "--hypothesis-profile", profile, "-k", "own_angle")
    assert status == 0, out
    assert f"profile {profile}" in out


def test_blame_without_a_culprit_in_sight_fails_the_session(tmp_path):
    status, out = verified(tmp_path, "--impl", HALVES, "-k", "equals_the_full_forward")
    assert status == 1
    assert "no property of apply_rope was run that shows what is wrong with it" in out


def test_what_cannot_be_loaded_is_one_sentence(tmp_path):
    status, out = verified(tmp_path, "--impl", "nowhere.py")
    assert status == 4
    assert "--impl: there is no file nowhere.py" in out
    (tmp_path / "a.py").write_text("1/0\n")
    status, out = verified(tmp_path, "--impl", "a.py")
    assert status == 4
    assert "a.py cannot be loaded: it raised ZeroDivisionError" in out


def test_a_file_runs_isolated_unless_it_is_told_otherwise(tmp_path):
    status, out = verified(tmp_path, "--impl", HALVES, "-k", "first_pair")
    assert status == 0, out
    assert f"{HALVES}, profile" in out
    assert ", isolation level " in out
    assert ", in process" in verified(tmp_path, "--no-isolate", "--impl", HALVES, "-k", "none")[1]
    status, out = verified(tmp_path, "--isolate", "-k", "first_pair")
    assert status == 4
    assert "--impl: rope_kv is no file, and only a file can be isolated" in out


def test_what_is_not_run_fails_and_a_crash_is_shown(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(
        "import os, time\n"
        "def rope_freqs(d, base=10000):\n    time.sleep(9)\n"
        "def apply_rope(x, positions, base=10000):\n    os.abort()\n"
    )
    limits = ("--call-timeout", "0.2", "--time-limit", "3")
    status, out = verified(tmp_path, "--impl", "wrong.py", *limits, "-k", "frequencies or turn")
    assert status == 1
    assert "found      rope_freqs has not returned after 0.2 s" in out
    assert "not run, which is no pass: " in out
    status, out = verified(tmp_path, "--impl", "wrong.py", "-k", "rotation_is_linear")
    assert "apply_rope ended its process: it was ended by signal SIGABRT" in out
    assert status == 1


def test_advice_is_shown_and_fails_nothing(tmp_path):
    late = Path(__file__).parent / "right" / "output_at_end.py"
    status, out = verified(tmp_path, "--impl", str(late), "-k", "each_step_is_finished")
    assert status == 0, out
    assert "advice" in out
    assert "when 0 rows had been projected out" in out


def test_other_hypothesis_tests_keep_their_settings(tmp_path):
    (tmp_path / "test_other.py").write_text(
        "from hypothesis import example, given, settings, strategies as st\n"
        "count = []\n"
        "@settings(max_examples=7, database=None)\n"
        "@given(st.integers())\n"
        "def test_mine(n):\n    count.append(n)\n"
        "def test_count():\n    assert len(count) == 7\n"
        "def test_profile():\n    assert settings().max_examples == 100\n"
        "@settings(database=None)\n"
        "@given(st.integers())\n"
        "@example(123456789123)\n"
        "def test_example(n):\n    assert n != 123456789123\n"
    )
    for profile in ("dev", "grade", "hunt"):
        _, out = pytest_of(tmp_path, "test_other.py", "--hypothesis-profile", profile)
        assert "1 failed, 3 passed" in out
        assert "held" not in out


def test_installing_alone_touches_nothing(tmp_path):
    (tmp_path / "test_other.py").write_text("def test_it():\n    pass\n")
    status, out = pytest_of(tmp_path, "test_other.py", "--impl", "x", plugin=False)
    assert status == 4
    assert "unrecognized arguments: --impl" in out


def test_what_goes_beyond_the_exercise_is_left_out_unless_it_is_declared(tmp_path):
    exercise = len(properties_for(NOTHING_DECLARED))
    model = str(traps.FOLDER / "_model.py")
    status, out = verified(
        tmp_path, "--impl", model, "--no-isolate", "-k", "sessions or first_pair"
    )
    assert status == 0, out
    assert "1 passed" in out
    assert f"{exercise + len(BEYOND) - 1} deselected" in out
    assert "skipped" not in out


def test_what_is_not_declared_is_skipped_with_what_to_declare(tmp_path):
    source = Path(traps.FOLDER / "_model.py").read_text(encoding="utf-8")
    file = tmp_path / "declaring.py"
    file.write_text(source + "\ncapabilities = {'max_position': 100000}\n")
    arguments = (
        "--impl",
        str(file),
        "--no-isolate",
        "-rs",
        "-k",
        "after_a_crop or from_the_maximum",
    )
    status, out = verified(tmp_path, *arguments)
    assert status == 1  # It refuses nothing.
    assert "not checked: declare sessions" in out
    assert "1 failed, 1 skipped" in out
    assert "0 held, 1 broken, 1 not checked" in out


def test_what_is_declared_wrongly_is_misuse(tmp_path):
    file = tmp_path / "declaring.py"
    file.write_text("capabilities = {'max_positions': 100000}\n")
    status, out = verified(tmp_path, "--impl", str(file), "--no-isolate")
    assert status == 4
    assert "there is no capability 'max_positions': did you mean 'max_position'?" in out


def test_an_old_version_is_compared_with_and_nothing_of_that_is_shown_without_one(tmp_path):
    new, old = (
        str(Path(__file__).parent / "refactors" / f"{name}.py")
        for name in ("preallocated_stale", "old")
    )
    chosen = ("--impl", new, "-k", "old_version", *SAME_CASES)
    status, out = verified(tmp_path, *chosen, "--against", old)
    assert status == 1
    assert f"{new} against {old}, profile grade" in out
    assert "found      what a returned in step 3 differs" in out
    assert "1 failed" in out
    assert "Traceback" not in out
    status, out = verified(tmp_path, *chosen)
    assert "failed" not in out
    status, out = verified(tmp_path, "--impl", new, "--exact")
    assert status == 4
    assert "--exact is for the comparison with an old version: add --against" in out
