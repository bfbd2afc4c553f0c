"""The reports that check writes: which file, over what, and what is written whatever happens."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import verdicts

from rope_kv import traps
from rope_kv.cli import main
from rope_kv.console import coloured
from rope_kv.reports.forms import FORMS
from rope_kv.sandbox import kernel, zygotes
from rope_kv.testing import check
from rope_kv.testing.profiles import PROFILES, Profile

HALVES = str(traps.find_trap("pairs-adjacent-vs-halves").path)
OPTIONS = {"spec": "solution.py", "points": None}
NAMES = [form.name for form in FORMS]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Make the profile grade a short one: what is found does not matter here."""
    monkeypatch.setitem(PROFILES, "grade", Profile("grade", 5, attempts=20, patience=4.0))


@pytest.fixture
def unloadable():
    """A file whose check is over at once: it does not load."""
    Path("solution.py").write_text("import nothing_of_that_name\n")
    return "solution.py"


def run(capsys, *arguments):
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def is_a(name, content):
    """Whether a text is a report of that form, as the form itself knows its own."""
    return next(form for form in FORMS if form.name == name).is_own(content)


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
@pytest.mark.parametrize("verdict", verdicts.ALL)
def test_each_form_knows_its_own_files_and_no_others(form, verdict):
    made = form.make(verdict(), OPTIONS)
    assert made.endswith("\n")
    assert [other.name for other in FORMS if other.is_own(made)] == [form.name]
    for other in (made[: len(made) // 2], "my work\n" + made, made + "my work\n", "", "{}", "4"):
        assert not form.is_own(other)


def test_all_reports_are_written_together_and_over_their_older_ones(capsys):
    reports = [part for name in NAMES for part in (f"--{name}", f"my.{name}")]
    for _ in range(2):
        status, out, err = run(capsys, "check", HALVES, *reports)
        assert (status, err) == (1, "")
        assert "\nFAIL  " in out
        assert sorted(os.listdir()) == sorted(f"my.{name}" for name in NAMES)
        for name in NAMES:
            assert is_a(name, Path(f"my.{name}").read_text("utf-8"))
            assert "keeps its length" in Path(f"my.{name}").read_text("utf-8").replace("_", " ")


@pytest.mark.parametrize("name", NAMES)
def test_a_report_takes_the_place_of_nothing_else(capsys, unloadable, name):
    others = {f"my.{other}": f"--{other}" for other in NAMES if other != name}
    run(capsys, "check", unloadable, *(part for pair in others.items() for part in pair[::-1]))
    Path("notes.txt").write_text("all my work\n")
    Path("bytes").write_bytes(b"\xff\xfe")
    Path("empty").touch()
    before = {path: path.read_bytes() for path in Path().iterdir()}
    for path in before:
        status, out, err = run(capsys, "check", unloadable, f"--{name}", str(path))
        assert (status, out) == (2, "")
        assert err.startswith(f"rope-kv: {path} exists and is no ")
        assert err.endswith(": choose another name\n")
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("name", NAMES)
def test_a_report_on_standard_output_is_alone_there(capsys, unloadable, name):
    status, out, err = run(capsys, "check", unloadable, f"--{name}", "-")
    assert (status, err) == (1, "")
    assert is_a(name, out)
    assert "nothing_of_that_name" in out
    done = subprocess.run(
        [sys.executable, "-m", "rope_kv", "check", unloadable, f"--{name}", "-"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert is_a(name, done.stdout.decode("utf-8"))


def test_two_reports_do_not_go_to_one_place(capsys, unloadable):
    Path("link").symlink_to("a.xml")
    for one, other in (("-", "-"), ("a.xml", "a.xml"), ("a.xml", "./a.xml"), ("a.xml", "link")):
        status, out, err = run(capsys, "check", unloadable, "--json", one, "--junit", other)
        assert (status, out) == (2, "")
        assert err.startswith("rope-kv: --json and --junit cannot both go to ")
        assert err.count("\n") == 1
    assert sorted(os.listdir()) == ["link", "solution.py"]


def test_the_summary_of_a_github_job_is_added_to(capsys, unloadable, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(Path("summary.md").absolute()))
    Path("summary.md").write_text("# Built\n")
    for _ in range(2):
        assert run(capsys, "check", unloadable, "--markdown", "summary.md")[0] == 1
    summary = Path("summary.md").read_text("utf-8")
    assert summary.startswith("# Built\n\n<!-- rope-kv/markdown/1 -->\n")
    assert summary.count("### rope_kv: LOAD_ERROR") == 2
    assert run(capsys, "check", unloadable, "--json", "summary.md")[0] == 2
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert run(capsys, "check", unloadable, "--markdown", "summary.md")[0] == 2
    assert Path("summary.md").read_text("utf-8") == summary


def test_points_count_and_are_looked_at_before_anything_runs(capsys):
    Path("points.json").write_text(json.dumps({"rope_freqs": 1, verdicts.TURNS: 2}))
    status, _, _ = run(
        capsys, "check", HALVES, "--gradescope", "results.json", "--points", "points.json"
    )
    result = json.loads(Path("results.json").read_text("utf-8"))
    assert (status, result["score"]) == (1, 1)
    assert sum(test.get("max_score", 0) for test in result["tests"]) == 3
    Path("points.json").write_text('{"rope_freq": 1}')
    for more, sentence in (
        (
            ("--gradescope", "-"),
            "is no function and no property: did you mean rope_freqs?",
        ),
        ((), "--points says what --gradescope gives points for: name a file for both"),
        (("--gradescope", "points.json"), "points.json exists and is no Gradescope result"),
    ):
        status, out, err = run(capsys, "check", "rope_kv", "--points", "points.json", *more)
        assert (status, out) == (2, "")
        assert sentence in err
        assert err.count("\n") == 1


def test_gradescope_gets_a_result_without_a_score_where_there_is_no_verdict(capsys, monkeypatch):
    def fails(*_, **__):
        raise ZeroDivisionError("of our own")

    def written():
        result = json.loads(Path("results.json").read_text("utf-8"))
        assert "score" not in json.dumps(result)
        return result["output"]

    reports = ("--gradescope", "results.json", "--junit", "junit.xml")
    status, _, err = run(capsys, "check", "solution.py", *reports)
    assert (status, err) == (2, "rope-kv: there is no file solution.py\n")
    assert "there is no file solution.py" in written()

    monkeypatch.setattr(zygotes, "_unable", {})
    monkeypatch.setattr(kernel, "landlock_version", lambda: 0)
    required = ("--require-isolation", "kernel")
    assert run(capsys, "check", HALVES, *required, *reports)[0] == 2
    assert "the isolation level kernel is not to be had here" in written()

    monkeypatch.setattr(check, "judge", fails)
    status, _, err = run(capsys, "check", "rope_kv", *reports)
    assert status == 2
    assert err.startswith("rope-kv: a fault of rope_kv, please report it: ZeroDivisionError: ")
    assert err.count("\n") == 1
    assert "a fault of rope_kv: ZeroDivisionError: of our own" in written()
    assert not Path("junit.xml").exists()


def test_a_name_that_acts_on_a_terminal_does_not(capsys):
    name = "a\x1b[31m\nb.py"
    for arguments in (("check", name), ("replay", name), ("traps", name)):
        status, out, err = run(capsys, *arguments)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
        assert err.rstrip("\n").isprintable()
    Path(name).write_text("import nothing_of_that_name\n")
    status, out, _ = run(capsys, "check", name)
    assert status == 1
    assert out.replace("\n", "").isprintable()


def test_quiet_prints_the_last_lines_alone(capsys, unloadable):
    status, out, err = run(capsys, "check", "-q", unloadable)
    assert (status, err) == (1, "")
    assert out.startswith("LOAD_ERROR  solution.py cannot be loaded: ")
    assert out.count("\n") == 1
    status, out, _ = run(capsys, "check", "--quiet", HALVES)
    assert status == 1
    assert [line.split()[:2] for line in out.splitlines()[:3]] == [
        ["rope_freqs", "held"],
        ["apply_rope", "broken"],
        ["decode_incremental", "held"],
    ]
    assert out.splitlines()[-1].startswith("FAIL  ")
    assert len(out.splitlines()) == 5


def test_verbose_prints_a_line_for_each_property(capsys):
    _, out, err = run(capsys, "check", "--verbose", HALVES)
    lines = out.split("\n\n")[0].splitlines()[1:]
    assert [line.rpartition(" · ")[2] for line in lines if " cases " in line]
    assert len(lines) == len(verdicts.BY_NAME)
    assert err == ""
    _, out, err = run(capsys, "check", "-v", HALVES, "--json", "-")
    assert json.loads(out)["verdict"] == "FAIL"
    assert len(err.splitlines()) == len(verdicts.BY_NAME)
    with pytest.raises(SystemExit):
        main(["check", "-q", "-v", HALVES])
    capsys.readouterr()


class Screen:
    """A standard output that is a terminal, or is none."""

    def __init__(self, is_terminal):
        self.isatty = lambda: is_terminal


@pytest.mark.parametrize(
    ("is_terminal", "environment", "is_coloured"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    monkeypatch, is_terminal, environment, is_coloured
):
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Screen(is_terminal))
    title = "apply_rope · a title  FAIL"
    report = f"{title}\n  found  it says PASS and FAIL loudly\n\nPASS  53 held\nFAIL  1 held"
    expected = (
        "apply_rope · a title  \x1b[31mFAIL\x1b[0m\n  found  it says PASS and FAIL loudly\n\n"
        "\x1b[32mPASS\x1b[0m  53 held\n\x1b[31mFAIL\x1b[0m  1 held"
    )
    assert coloured(report) == (expected if is_coloured else report)


def test_on_a_terminal_the_line_that_says_what_runs_is_gone_at_the_end(monkeypatch, capsys):
    terminals = pytest.importorskip("terminals", reason="there is no pty on this system")
    for arguments, is_seen in (((), True), (("-q",), False), (("-v",), False)):
        terminal = terminals.Terminal(80)
        with monkeypatch.context() as patch:
            patch.setenv("TERM", "xterm")
            patch.setattr(sys, "stderr", terminal.file)
            assert main(["check", "rope_kv", *arguments]) == 0
        written = terminal.written()
        assert (": a second look" in written) == is_seen
        assert terminals.lines(written, 80) == [""]
        assert "\x1b" not in capsys.readouterr().out


def test_on_a_terminal_a_report_in_a_file_has_no_colour(monkeypatch, unloadable):
    terminals = pytest.importorskip("terminals", reason="there is no pty on this system")
    terminal = terminals.Terminal(80)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", terminal.file)
    reports = [part for name in NAMES for part in (f"--{name}", f"my.{name}")]
    assert main(["check", unloadable, *reports]) == 1
    assert "\x1b[31mLOAD_ERROR\x1b[0m  solution.py cannot be loaded" in terminal.written()
    for name in NAMES:
        assert "\x1b" not in Path(f"my.{name}").read_text("utf-8")


def test_every_form_has_an_option_and_help_takes_nothing_that_is_slow():
    code = (
        "import sys; from rope_kv.cli import main\n"
        "try: main(['check', '--help'])\nexcept SystemExit: pass\n"
        "assert not {'hypothesis', 'numpy', 'xml'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in NAMES:
        assert f"--{name} FILE" in done.stdout
