"""The command grade: what it prints and where, what it refuses, and how it exits."""

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import quick_checks
from quick_checks import write_class

from rope_kv import traps
from rope_kv.cli import main
from rope_kv.grading import command, display, work
from rope_kv.grading.display import Lines, Live, Seen
from rope_kv.testing.property import all_properties

pytest.importorskip("fcntl", reason="rope-kv grade needs a system with flock")

HERE = Path(__file__).parent
GRADE = ("grade", "class", "--out", "out", "--executor", "quick_checks:one_thread")
SUMMARY = "2 PASS, 2 FAIL, 1 CRASH, 1 TIMEOUT\nsee out/index.html\n"


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_class(tmp_path / "class")
    monkeypatch.setattr(work, "check", quick_checks.check)
    monkeypatch.setattr(work, "check_reference", quick_checks.check_reference)


def run(capsys, *arguments):
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = ended.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_class_gives_a_line_of_verdicts_and_where_to_look(capsys):
    assert run(capsys, *GRADE) == (
        0,
        SUMMARY,
        f"6 students, 5 different files\n5 files to check{_at_a_time()}: about 1 s\n",
    )
    assert run(capsys, *GRADE, "--resume") == (
        0,
        SUMMARY,
        "6 students, 5 different files, 5 of them checked already\n",
    )


def _at_a_time():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f", {cores} at a time" if cores > 1 else ""


def test_quiet_prints_the_last_lines_alone(capsys):
    assert run(capsys, *GRADE, "--quiet") == (0, SUMMARY, "")


def test_where_some_could_not_be_judged_the_status_says_so(capsys):
    Path("class/gus.py").write_text("GRADER_ERROR")
    status, out, _ = run(capsys, *GRADE, "-q")
    assert status == 1
    assert out.endswith("1 file could not be judged: --resume tries again\nsee out/index.html\n")


def test_a_class_whose_time_is_up_goes_on_later(capsys):
    status, out, _ = run(capsys, *GRADE, "-q", "--time-limit", "0.000001")
    assert (status, out) == (
        1,
        "6 NOT_RUN\nthe time limit was reached: 5 files left; --resume goes on\n"
        "see out/index.html\n",
    )
    assert run(capsys, *GRADE, "-q", "--resume", "--time-limit", "2h") == (0, SUMMARY, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_class_leaves_what_is_known(capsys, monkeypatch, number):
    usual, let_go, seen = signal.getsignal(signal.SIGTERM), threading.Event(), []

    def check(source, settings, expected=None):
        seen.append(source)
        if len(seen) == 3:
            os.kill(os.getpid(), number)
            let_go.wait()
        return quick_checks.check(source, settings)

    monkeypatch.setattr(work, "check", check)
    try:
        status, out, err = run(capsys, *GRADE, "-q")
    finally:
        let_go.set()
    assert (status, err) == (1, "")
    assert re.search(r"^interrupted: [345] files left; --resume goes on$", out, re.M)
    assert Path("out/results.csv").exists()
    assert signal.getsignal(signal.SIGTERM) is usual
    monkeypatch.setattr(work, "check", quick_checks.check)
    assert run(capsys, *GRADE, "-q", "--resume") == (0, SUMMARY, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no nowhere"),
        (["empty"], "no submission in empty: name .py files, a folder of them, a folder with a"),
        (["class", "--out", "class"], "class is where results go: name the submissions as well"),
        (
            ["class/ada.py", "--out", "class"],
            "class is not empty, and holds no class: choose another folder for --out",
        ),
        (["class", "--file", "/etc/passwd"], "the file to check must be a name that ends in .py"),
        (["class", "--executor", "nobody"], "there is no executor 'nobody': name dask:"),
        (["class", "--first", "nowhere"], "there is no nowhere"),
        (["class", "--first", "empty"], "no counterexample in empty: name another folder"),
        (["class", "--first", "class/ada.py"], "class/ada.py is not JSON: "),
        (
            ["class", "--first", "empty", "--harvest", "./empty"],
            "--harvest would add to what --first tries, empty: choose another folder",
        ),
        (["class", "--points", "nowhere.json"], "nowhere.json cannot be read: No such file"),
        (["class", "--points", "class/ada.py"], "class/ada.py is not JSON: "),
        (["class/\x1bM.py"], "there is no class/\\x1bM.py"),
    ],
)
def test_what_cannot_be_done_gives_one_sentence(capsys, arguments, said):
    Path("empty").mkdir()
    status, out, err = run(capsys, "grade", "-q", "--out", "out", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"rope-kv: {said}")
    assert err.count("\n") == 1
    assert "a fault of" not in err
    assert not Path("out").exists() or not list(Path("out").glob("results.*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: SUBMISSIONS, --out"),
        (["class"], "the following arguments are required: --out"),
        (["class", "--out", ""], "argument --out: the name of a folder is missing"),
        (["class", "--out", "class/ada.py"], "argument --out: class/ada.py is not a folder"),
        (
            ["class", "--out", "out", "--file", ""],
            "argument --file: the name of a file is missing",
        ),
        (
            ["class", "--out", "out", "--jobs", "0"],
            "argument --jobs: must be a whole number from 1, found '0'",
        ),
        (
            ["class", "--out", "out", "--time-limit", "soon"],
            "argument --time-limit: must be a time such as 8h, 90m, 2h30m or 45s, up to a year, "
            "found 'soon'",
        ),
        (
            ["class", "--out", "out", "--harvest", "class/ada.py"],
            "argument --harvest: class/ada.py is not a folder",
        ),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(capsys, arguments, said):
    status, out, err = run(capsys, "grade", *arguments)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == f"rope-kv grade: error: {said}"


def test_pictures_need_matplotlib(capsys, monkeypatch):
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    assert run(capsys, *GRADE, "--pictures") == (
        2,
        "",
        "rope-kv: --pictures needs matplotlib: pip install 'rope_kv[report]'\n",
    )


def test_a_folder_that_cannot_be_written_gives_one_sentence(capsys):
    run(capsys, *GRADE)
    Path("out/reports/ada.html").unlink()
    Path("out/reports/ada.html").mkdir()
    status, out, err = run(capsys, *GRADE, "--quiet", "--resume")
    assert (status, out) == (2, "")
    assert err == (
        "rope-kv: cannot write out/reports/ada.html: Is a directory; what was done is kept, and "
        "--resume goes on with it\n"
    )


def test_points_are_those_that_are_asked_for(capsys):
    Path("points.json").write_text('{"apply_rope": 3}')
    assert run(capsys, *GRADE, "-q", "--points", "points.json")[0] == 0
    assert "points of 3" in Path("out/index.html").read_text(encoding="utf-8")
    status, _, err = run(capsys, *GRADE, "-q", "--resume")
    assert (status, err.split(": results")[0]) == (
        2,
        "rope-kv: out was begun with other --points",
    )


def test_names_of_students_do_not_act_on_a_terminal(capsys):
    for name in ("\x1b[31mred", "\u202egpj", "line\nbreak"):
        Path(f"class/{name}.py").write_text(f"CRASH {name!r}")
        Path(f"class/{name} and none").mkdir()
    _, out, err = run(capsys, *GRADE)
    for name in ("\x1b[31mred", "\u202egpj", "line\nbreak"):
        Path(f"class/{name}.py").unlink()
    _, more_out, more_err = run(capsys, *GRADE, "--resume")
    assert "no longer in the tables, as not among what is graded now: \\u202e" not in more_err
    assert "no longer in the tables" in more_err
    tables = [Path(f"out/results.{form}").read_text("utf-8-sig") for form in ("csv", "jsonl")]
    for shown in (out, err, more_out, more_err, *tables):
        assert all(letter == "\n" or letter.isprintable() for letter in shown)


def test_the_help_says_what_each_option_is_for(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(capsys, "grade", "--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    for option in ("--out", "--resume", "--harvest", "--first", "--time-limit", "--points"):
        assert re.search(rf"^  (-\w, )?{option}\b", out, re.M)


def outcome(word, *broken):
    properties = [
        {"name": prop.name, "outcome": "broken" if prop in broken else "held", "advice": False}
        for prop in all_properties()
    ]
    return work.Outcome("", {"verdict": word, "properties": properties}, "", "")


def test_lines_come_now_and_then(monkeypatch):
    now, told = [100.0], []
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    seen = Lines(told.append)
    seen.found(2001, 2000, 1500)
    seen.warming_up(4)
    seen.begins(4, 1875.0)
    for second in range(1, 26):
        now[0] += 1.0
        seen.ended(outcome("PASS" if second % 5 else "FAIL"))
        seen.tick()
    seen.over()
    assert told == [
        "2,001 students, 2,000 different files, 500 of them checked already",
        "1,500 files to check, 4 at a time: about 31 min",
        "10 of 1,500 checked: 8 PASS, 2 FAIL; about 25 min left",
        "20 of 1,500 checked: 16 PASS, 4 FAIL; about 25 min left",
    ]


def test_until_each_process_has_checked_a_file_the_estimate_stands():
    seen = Seen()
    seen.found(10, 10, 10)
    seen.begins(4, 25.0)
    for _ in range(3):
        assert seen.left == 25.0
        seen.ended(outcome("PASS"))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "1 s"), (1.2, "1 s"), (89.4, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h")],
)
def test_a_duration_is_as_exact_as_an_estimate(seconds, said):
    assert display.duration(seconds) == said


def screen(written, width):
    """The lines to be seen after all was written; what else acts on a terminal is not there."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|.|\n", written, re.S):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
            column = 0
        elif part == "\r":
            column = 0
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part == "\x1b[1A":
            row -= 1
        elif part[0] == "\x1b":
            assert part[-1] == "m" or part in ("\x1b[?25l", "\x1b[?25h")
        else:
            assert column < width, "a line is wrapped"
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


@pytest.mark.parametrize("width", [40, 100])
def test_the_table_on_a_terminal_fits_and_is_gone_at_the_end(width, monkeypatch):
    terminals = pytest.importorskip("terminals", reason="there is no pty on this system")
    pytest.importorskip("rich", reason="rich is of the extra grade, which is not installed")
    monkeypatch.setenv("COLUMNS", str(width))
    terminal = terminals.Terminal(width)
    seen = Live(lambda line: print(line, file=terminal.file, flush=True), terminal.file)
    seen.found(1200, 1200, 1200)
    seen.begins(2, 3000.0)
    seen.tick()
    turns = all_properties()[9:20]
    for count in range(1, len(turns) + 1):
        seen.ended(outcome("FAIL", *turns[:count]))
        seen.tick()
    seen.ended(outcome("TIMEOUT"))
    seen.tick()
    seen.over()
    written = terminal.written()
    announced, begin, table = written.partition("\x1b[?25l")
    assert announced == (
        "1,200 students, 1,200 different files\n1,200 files to check, 2 at a time: about 50 min\n"
    )
    drawn = screen(begin + table[: table.rindex("\x1b[?25h")], width)
    assert "12 of 1,200 checked: 11 FAIL, 1 TIMEOUT; about" in " ".join(drawn)
    listed = drawn[drawn.index("broken by") + 1 :]
    assert len(list(filter(None, listed))) == display.MOST_PROPERTIES
    first = f"    11  {turns[0].title}"
    assert listed[0] == (first if len(first) <= width else f"{first[: width - 1]}…")
    assert list(filter(None, screen(begin + table, width))) == []


@pytest.mark.parametrize(
    ("is_terminal", "name", "kind"),
    [(True, "xterm", Live), (True, "dumb", Lines), (True, "", Lines), (False, "xterm", Lines)],
)
def test_a_table_is_for_a_terminal_that_can_show_it(monkeypatch, is_terminal, name, kind):
    pytest.importorskip("rich", reason="rich is of the extra grade, which is not installed")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    if name:
        monkeypatch.setenv("TERM", name)
    else:
        monkeypatch.delenv("TERM", raising=False)
    assert type(command._seen(_given(quiet=False))) is kind
    assert type(command._seen(_given(quiet=True))) is Seen


def test_without_rich_there_are_lines(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setitem(sys.modules, "rich.live", None)
    assert type(command._seen(_given(quiet=False))) is Lines


def _given(quiet):
    return argparse.Namespace(quiet=quiet)


def test_a_class_is_graded_by_the_command_as_it_is_installed(tmp_path):
    folder = write_class(
        tmp_path / "real",
        {
            "right.py": work.reference().decode(),
            "wrong.py": traps.find_trap("pairs-adjacent-vs-halves").path.read_text("utf-8"),
        },
    )
    told = subprocess.run(
        [sys.executable, "-m", "rope_kv", "grade", folder, "--out", "real-out", "--jobs", "1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout == "1 PASS, 1 FAIL\nsee real-out/index.html\n"
    assert told.stderr.splitlines()[0] == "2 students, 2 different files"
    assert "\x1b" not in told.stderr
