"""The long hunt: what it finds, keeps and shares, how it ends, and what it refuses."""

import argparse
import contextlib
import importlib.util
import io
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis_server

from rope_kv import traps
from rope_kv.cli import main
from rope_kv.options import duration
from rope_kv.reports import hunt as told
from rope_kv.testing import coverage_guide
from rope_kv.testing.counterexample import files_in, load
from rope_kv.testing.hunt import FIRST_TURN, MOST_ERRORS, Hunt, Silence, Standing, Tally
from rope_kv.testing.loading import load as load_code
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import search
from rope_kv.testing.verdict import Result

HALVES = str(traps.find_trap("pairs-adjacent-vs-halves").path)
TURNS = "each_adjacent_pair_turns_by_its_own_angle"
PROPERTY = next(prop for prop in all_properties() if prop.name == TURNS)
SECONDS_TO_END = 60.0
SELDOM_WRONG = """
from pathlib import Path

import rope_kv
from rope_kv import decode_incremental, rope_freqs

CALLS = Path(__file__).with_suffix(".calls")

def apply_rope(x, positions, base=10000):
    is_wrong = {is_wrong}
    with CALLS.open("a") as calls:
        calls.write("wrong\\n" if is_wrong else "right\\n")
    return rope_kv.apply_rope(x, positions, base) + is_wrong
"""
ONCE_IN_A_WHILE = "len(positions) > 2 and x.shape[1] > 3"
needs_hypofuzz = pytest.mark.skipif(
    importlib.util.find_spec("hypofuzz") is None,
    reason="HypoFuzz is not installed (its licence is not for everyone): rope_kv[hunt]",
)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(capsys, *arguments):
    status = main(["hunt", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def kept(folder):
    return sorted(path.name for path in Path(folder).glob("**/*.json"))


def written(folder, is_wrong):
    Path(folder).mkdir(exist_ok=True)
    file = Path(folder) / "rotary.py"
    file.write_text(SELDOM_WRONG.format(is_wrong=is_wrong))
    return str(file)


@contextlib.contextmanager
def hunting(*arguments):
    """A hunt in a process of its own, which has begun."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rope_kv", "hunt", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    try:
        heading = [process.stdout.readline() for _ in range(3)]
        assert "until Ctrl-C" in heading[1], heading
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_hunt_finds_the_slip_of_a_trap_keeps_it_and_ends_when_nothing_is_left(capsys):
    status, out, err = run(capsys, HALVES, "--for", "10m", "--only", TURNS)
    assert (status, err) == (1, "")
    assert "finds go to hunted/pairs_adjacent_vs_halves.py, " in out
    assert "smallest   apply_rope([[1, 0, 0, 0]], positions=[1])" in out
    assert "looks like pairs-adjacent-vs-halves" in out
    assert ", nothing is left to search · " in out.splitlines()[-1]
    assert out.splitlines()[-1].endswith(" · 1 broken")
    (file,) = files_in([Path("hunted/pairs_adjacent_vs_halves.py")])
    assert load(file).property.name == TURNS
    assert f"rope-kv replay {file} --impl {HALVES}" in out
    assert main(["replay", str(file), "--impl", HALVES]) == 1
    assert main(["replay", str(file)]) == 0


def test_finds_go_to_regressions_or_where_they_are_told(capsys):
    Path("regressions").mkdir()
    assert "finds go to regressions, " in run(capsys, HALVES, "--only", TURNS)[1]
    assert len(kept("regressions")) == 1
    run(capsys, HALVES, "--only", TURNS, "--record", "elsewhere")
    assert len(kept("elsewhere")) == 1
    assert not Path("hunted").exists()


def test_a_right_implementation_comes_through_and_the_table_says_how_near_it_came(capsys):
    status, out, _ = run(capsys, "rope_kv", "--for", "2s", "--only", TURNS)
    assert status == 0
    (row,) = [line for line in out.splitlines() if line.startswith("held")]
    cases, error = row.split()[1:3]
    assert int(cases.replace(",", "")) > FIRST_TURN
    assert 0 < float(error) < 1
    assert not Path("hunted").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_a_hunt_with_its_summary(number):
    with hunting("rope_kv", "--only", TURNS) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=SECONDS_TO_END)
    assert process.returncode == 0, err
    assert ", interrupted · " in out.splitlines()[-1]
    assert "Traceback" not in err


def test_after_ctrl_c_what_was_found_is_there_and_the_status_says_so():
    with hunting(HALVES, "--only", "turns", "--record", "here") as process:
        while not kept("here"):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS_TO_END)
    assert process.returncode == 1, err
    assert ", interrupted · " in out.splitlines()[-1]
    assert f"(here/{kept('here')[0]})" in out


def test_a_kill_loses_nothing_that_was_found():
    with hunting(HALVES, "--only", "turns", "--record", "here") as process:
        while not kept("here"):
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait()
    (first, *_) = kept("here")
    assert main(["replay", f"here/{first}", "--impl", HALVES]) == 1


def test_code_that_does_not_return_in_this_process_is_left_by_a_second_ctrl_c():
    Path("endless.py").write_text(
        "import time\nfrom pathlib import Path\n"
        "def apply_rope(x, positions, base=10000):\n"
        "    Path('begun').touch()\n    time.sleep(1000)\n"
    )
    with hunting("endless.py", "--no-isolate", "--only", TURNS) as process:
        while not Path("begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        late = time.monotonic() + SECONDS_TO_END
        while process.poll() is None and time.monotonic() < late:
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        out, err = process.communicate(timeout=SECONDS_TO_END)
    assert process.returncode == 0, err
    assert "once more ends it at once" in err
    assert ", interrupted · " in out.splitlines()[-1]


def what_one_finds_another_tries_first(database):
    """Two hunts of one file in two folders: the first call of the second one is a wrong one."""
    options = ["--no-isolate", "--only", TURNS, "--database", database]
    first_calls = {}
    for folder in ("one", "two"):
        file = written(folder, ONCE_IN_A_WHILE)
        with hunting(file, *options, "--record", f"found by {folder}") as process:
            assert process.wait(SECONDS_TO_END) == 1
        assert len(kept(f"found by {folder}")) == 1
        first_calls[folder] = Path(folder, "rotary.calls").read_text().split()[0]
    assert first_calls == {"one": "right", "two": "wrong"}


def test_what_one_run_finds_the_next_with_the_same_folder_tries_first():
    what_one_finds_another_tries_first("shared")


def test_what_one_process_finds_another_with_the_same_redis_server_tries_first(tmp_path):
    pytest.importorskip("redis", reason="the package redis is not installed: rope_kv[hunt]")
    with redis_server.serving(tmp_path, redis_server.free_port()) as url:
        what_one_finds_another_tries_first(url)


def test_implementations_of_other_names_do_not_forget_each_others_finds(capsys):
    assert run(capsys, HALVES, "--only", TURNS)[0] == 1
    before = sum(1 for path in Path(".hypothesis/hunt").rglob("*") if path.is_file())
    assert run(capsys, "rope_kv", "--only", TURNS, "--for", "1s")[0] == 0
    after = sum(1 for path in Path(".hypothesis/hunt").rglob("*") if path.is_file())
    assert 0 < before <= after


def test_a_server_that_goes_away_ends_no_hunt_and_is_told_what_it_missed(tmp_path, monkeypatch):
    pytest.importorskip("redis", reason="the package redis is not installed: rope_kv[hunt]")
    from rope_kv.testing import example_database

    monkeypatch.setattr(example_database, "SECONDS_ALONE", 0.0)
    said, port = [], redis_server.free_port()
    with redis_server.serving(tmp_path, port) as url:
        database = example_database.remembered(url, "mine", said.append)
        database.save(b"key", b"early")
        assert list(database.fetch(b"key")) == [b"early"]
    database.save(b"key", b"late")
    assert list(database.fetch(b"key")) == []
    database.delete(b"key", b"early")
    (sentence,) = said
    assert sentence.startswith("the database does not answer any more (ConnectionError): ")
    with redis_server.serving(tmp_path, port):
        assert list(database.fetch(b"key")) == [b"late"]
        others = example_database.remembered(url, "yours", said.append)
        assert list(others.fetch(b"key")) == []
    assert len(said) == 1


def test_a_server_that_goes_away_during_a_hunt_is_mentioned_once(tmp_path):
    pytest.importorskip("redis", reason="the package redis is not installed: rope_kv[hunt]")
    server = contextlib.ExitStack()
    url = server.enter_context(redis_server.serving(tmp_path, redis_server.free_port()))
    with (
        server,
        hunting("rope_kv", "--for", "10s", "--only", "base", "--database", url) as process,
    ):
        server.close()
        out, err = process.communicate(timeout=SECONDS_TO_END)
    assert process.returncode == 0, err
    assert out.count("the database does not answer any more") == 1
    assert ", the time is up · " in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("8h", 28800), ("90m", 5400), ("45s", 45), ("2h30m", 9000), ("1h2m3s", 3723), ("90", 90),
     ("1.5h", 5400), ("0.5", 0.5)],
)  # fmt: skip
def test_a_time_is_read(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "h", "8 h", "8d", "-5", "0", "0s", "30m2h", "nan", "inf", "1..5h", "٣s", "9" * 400],
)
def test_what_is_no_time_is_refused_with_a_sentence(text):
    with pytest.raises(argparse.ArgumentTypeError, match="must be a time such as 8h, 90m"):
        duration(text)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.py"], "there is no file nowhere.py"),
        (["rope_kv", "--only", "squares of"], "no property has 'squares of' in its name"),
        (["rope_kv", "--only", " "], "no property has ' ' in its name"),
        (["some.py", "--no-isolate", "--only", "yarn"], "is not checked of some.py: declare "),
        (["rope_kv", "--time-limit", "5"], "say with --for how long to hunt"),
        (["rope_kv", "--exact"], "add --against"),
        (["rope_kv", "--laws", "none"], "add --against"),
        (["rope_kv", "--database", "a_file"], "the database cannot be kept in a_file: "),
        (["rope_kv", "--database", "http://a/0"], "http://a/0 is no database: give a folder, or"),
        (["rope_kv", "--database", "redis://a:port/0"], "redis://a:port/0 is no database"),
        (["rope_kv", "--database", "redis://a/zero"], "redis://a/zero is no database"),
        (["rope_kv", "--database", "redis:///0"], "redis:///0 is no database"),
        (["rope_kv", "--database", "redis://[a/0"], "redis://[a/0 is no database"),
        (["rope_kv", "--record", "a_file/in"], "nothing can be kept in a_file/in"),
    ],
)
def test_misuse_exits_2_with_one_sentence_before_anything_is_searched(capsys, arguments, sentence):
    Path("a_file").touch()
    Path("some.py").write_text("capabilities = {'rotary_dim': True}\n")
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_server_that_is_not_there_is_one_sentence_without_its_password(capsys):
    pytest.importorskip("redis", reason="the package redis is not installed: rope_kv[hunt]")
    url = f"redis://me:secret@127.0.0.1:{redis_server.free_port()}/0"
    status, out, err = run(capsys, "rope_kv", "--database", url)
    assert (status, out) == (2, "")
    assert "does not answer: " in err
    assert "start the server, or name another database" in err
    assert "secret" not in err
    assert err.count("\n") == 1


def test_a_file_that_does_not_load_is_no_hunt(capsys):
    Path("a.py").write_text("import nothing_of_that_name\n")
    status, out, err = run(capsys, "a.py")
    assert (status, err) == (1, "")
    assert out.startswith("LOAD_ERROR  a.py cannot be loaded")


def test_the_heading_says_why_coverage_guides_nothing(capsys):
    out = run(capsys, HALVES, "--only", TURNS)[1]
    assert "not guided by coverage: the branches of isolated code are not seen" in out
    if importlib.util.find_spec("hypofuzz") is None:
        out = run(capsys, HALVES, "--only", TURNS, "--no-isolate")[1]
        assert "not guided by coverage: HypoFuzz is not installed" in out


def test_an_old_version_is_hunted_for_differences(capsys):
    old, new = written("old", "False"), written("new", ONCE_IN_A_WHILE)
    status, out, _ = run(
        capsys, new, "--no-isolate", "--against", old, "--laws", "none", "--record", "here",
        "--only", "later rotations", "--for", "10m",
    )  # fmt: skip
    assert status == 1
    assert "later rotations agree with the old version" in out
    assert kept("here")


class Told(Silence):
    def __init__(self):
        self.found_ones, self.said = [], []

    def found(self, result, found, *, is_new):
        self.found_ones.append((result, is_new))

    def says(self, sentence):
        self.said.append(sentence)


class Stopping(Told):
    """Ends a hunt when its last property has had some turns."""

    def __init__(self, turns):
        super().__init__()
        self.hunt, self._turns = None, turns

    def is_due(self):
        if self.hunt.tallies[-1].turns >= self._turns:
            self.hunt.stop()
        return False


def test_a_hunt_goes_on_after_a_find_and_says_nothing_twice():
    names = (TURNS, "long_inputs_turn_row_by_row_like_short_ones", "rotation_is_linear")
    properties = tuple(prop for prop in all_properties() if prop.name in names)
    Path("wrong.py").write_text("def apply_rope(x, positions, base=10000):\n    return -x\n")
    seen = Stopping(2)
    seen.hunt = Hunt(
        load_code("wrong.py"), properties, PROFILES["hunt"], record=Path("here"), seen=seen
    )
    seen.hunt.run()
    found = {result.property.name: is_new for result, is_new in seen.found_ones}
    assert found == {names[0]: True, names[1]: False}
    assert [tally.turns for tally in seen.hunt.tallies] == [1, 1, 3]
    assert [tally.latest.outcome for tally in seen.hunt.tallies] == ["broken", "broken", "held"]
    assert len(kept("here")) == 2


def test_a_find_that_cannot_be_kept_is_told_and_ends_nothing():
    Path("a file").touch()
    seen = Told()
    hunt = Hunt(
        load_code(HALVES), (PROPERTY,), PROFILES["hunt"], record=Path("a file/in"), seen=seen
    )
    hunt.run()
    assert len(seen.found_ones) == 1
    (sentence,) = seen.said
    assert sentence.startswith("what was found cannot be kept in a file/in: ")


def test_an_error_of_our_own_is_tried_again_a_few_times(monkeypatch):
    from rope_kv.testing import hunt as hunt_module

    def judged(prop, impl, profile, budget):
        return Result(prop, "error", message="no memory")

    monkeypatch.setattr(hunt_module.known_failures, "judged", judged)
    hunt = Hunt(load_code("rope_kv"), (PROPERTY,), PROFILES["hunt"], record=Path("here"))
    hunt.run()
    assert [tally.errors for tally in hunt.tallies] == [MOST_ERRORS]
    assert hunt.over == "nothing is left to search"


def test_a_breach_that_a_lower_function_excuses_stays_seen():
    tally = Tally(PROPERTY)
    excused = Result(PROPERTY, "held", 9, because="rope_freqs", message="wrong only because")
    for result in (excused, Result(PROPERTY, "held", 9), Result(PROPERTY, "not_run", 1)):
        tally.take(result)
        assert tally.latest is excused
    tally.take(Result(PROPERTY, "broken", 9))
    assert tally.is_broken


def test_how_a_hunt_stands_is_one_line():
    standing = Standing(61.0, 28739.0, 1234, 56, 0.0625, 1, "rotation is linear")
    assert told.line(standing) == (
        "7h58m left · 1,234 cases · 56 branches · largest error 0.062 × bound · 1 broken · "
        "now rotation is linear"
    )
    standing = standing._replace(left=None, cases=1, branches=None, worst=None)
    assert told.line(standing) == "1m01s so far · 1 case · 1 broken · now rotation is linear"


def test_lines_for_a_pipe_come_ever_more_rarely(monkeypatch):
    from rope_kv import hunt_progress

    now = [0.0]
    monkeypatch.setattr(hunt_progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = hunt_progress.Lines(stream, "rope_kv")
    came = []
    for second in range(3600):
        now[0] = float(second)
        if lines.is_due():
            lines.goes_on(Standing(now[0], None, 1, None, None, 0, "it"))
            came.append(second)
    assert came[:5] == [10, 30, 70, 150, 310]
    assert {later - sooner for sooner, later in itertools.pairwise(came[6:])} == {600}
    assert len(stream.getvalue().splitlines()) == len(came)


def test_the_line_of_a_terminal_gives_way_to_a_find(capsys):
    terminals = pytest.importorskip("terminals", reason="there is no pty on this system")
    from rope_kv import hunt_progress

    terminal = terminals.Terminal(60)
    line = hunt_progress.Line(terminal.file, "rope_kv")
    assert line.is_due()
    line.goes_on(Standing(0.0, 90.0, 1, None, None, 0, "x" * 200))
    assert not line.is_due()
    line.says("a sentence\x1b[31m")
    written = terminal.written()
    assert "1m30s left" in written
    assert terminals.lines(written, 60) == [""]
    assert capsys.readouterr().out == "  a sentence\\x1b[31m\n"


def test_what_verifies_the_code_is_not_measured():
    import numpy as np

    from rope_kv import oracle, rope
    from rope_kv.testing import bounds

    for module in (np, oracle, bounds, sys.modules[PROPERTY.body.__module__]):
        assert not coverage_guide.is_measured(module.__file__)
    assert coverage_guide.is_measured(rope.__file__)
    assert coverage_guide.is_measured(str(Path("mine.py").absolute()))


def test_code_whose_branches_cannot_be_seen_is_not_guided():
    from rope_kv.sandbox.choosing import open_implementation

    impl = open_implementation(HALVES)
    with (
        contextlib.closing(impl),
        pytest.raises(coverage_guide.UnguidedError, match="isolated code are not seen"),
    ):
        coverage_guide.guide_for(impl)


@needs_hypofuzz
def test_a_guided_hunt_says_so_and_counts_branches(capsys):
    status, out, err = run(capsys, "rope_kv", "--only", TURNS, "--for", "6s")
    assert (status, err) == (0, "")
    assert "for half of the time, cases are guided by coverage (HypoFuzz " in out
    branches = out.splitlines()[-1].split(" branches · ")[0].rpartition(" ")[2]
    assert int(branches.replace(",", "")) > 10


@needs_hypofuzz
def test_what_a_guided_turn_finds_a_turn_at_random_tries_first():
    from rope_kv.testing.example_database import remembered

    impl = load_code(written("one", ONCE_IN_A_WHILE))
    guide = coverage_guide.guide_for(impl)
    profile = PROFILES["hunt"]._replace(database=remembered("kept", "mine", pytest.fail))
    guided = search(PROPERTY._replace(examples=()), impl, profile._replace(backend=guide.backend))
    assert guided.outcome == "broken"
    again = search(PROPERTY._replace(examples=()), impl, profile)
    assert again.outcome == "broken"
    assert again.counterexample == guided.counterexample


@needs_hypofuzz
def test_guided_turns_see_new_branches_and_keep_what_covers_them(tmp_path):
    from rope_kv.testing.example_database import remembered

    guide = coverage_guide.guide_for(load_code("rope_kv"))
    database, seen = remembered("kept", "rope_kv", pytest.fail), Stopping(4)
    seen.hunt = Hunt(
        load_code("rope_kv"),
        (PROPERTY,),
        PROFILES["hunt"]._replace(database=database, examples=100),
        record=Path("here"),
        guide=guide,
        seen=seen,
    )
    seen.hunt.run()
    files = {branch.start.filename for branch in guide.branches}
    assert any(file.endswith("rope.py") for file in files)
    assert all(coverage_guide.is_measured(branch.end.filename) for branch in guide.branches)
    assert [path for path in Path("kept").rglob("*") if path.is_file()]


def test_entries_of_a_shared_database_that_a_stranger_wrote_stop_nothing():
    from rope_kv.testing.example_database import remembered

    database = remembered("shared", "rope_kv", pytest.fail)
    seen = set()
    real_fetch = database.fetch

    def fetch(key):
        seen.add(key)
        return [b"", b"\x80\x04cos\nsystem\n", os.urandom(64), *real_fetch(key)]

    database.fetch = fetch
    hunt = Hunt(
        load_code("rope_kv"),
        (PROPERTY,),
        PROFILES["hunt"]._replace(database=database),
        record=Path("here"),
        seconds=1.0,
    )
    hunt.run()
    assert seen
    assert [tally.latest.outcome for tally in hunt.tallies] in (["held"], ["not_run"])
    assert not kept("here")
