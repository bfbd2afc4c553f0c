"""Who does the work: the pool of this machine, whose processes die, and executors by name."""

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path

import graders
import processes
import pytest

from rope_kv.grading import crews, work
from rope_kv.grading.crews import CrewError, crew_for
from rope_kv.grading.grade import GradingError, grade
from rope_kv.grading.running import run
from rope_kv.grading.work import Settings

HERE = Path(__file__).parent
needs_proc = pytest.mark.skipif(
    not processes.PROC.exists(), reason="there is no /proc, where the processes can be seen"
)


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Where the quick checks of a test, in whatever process, leave a line each."""
    path = tmp_path / "log.txt"
    path.touch()
    monkeypatch.setenv(graders.LOG, str(path))
    monkeypatch.setattr(work, "check", graders.check)
    monkeypatch.setattr(work, "check_reference", graders.check_reference)
    return path


def ran(crew, sources, tick=lambda: None):
    by_digest = {work.digest_of(source): source for source in sources}
    outcomes = []
    run(by_digest, by_digest.__getitem__, Settings(), crew, outcomes.append, tick)
    assert len(outcomes) == len(sources)
    return {by_digest[one.digest]: one.verdict["verdict"] for one in outcomes}


def pids(log):
    return list(dict.fromkeys(int(line.split()[0]) for line in log.read_text().splitlines()))


def test_a_process_that_is_killed_costs_no_file_and_no_file_is_judged_twice(log, tmp_path):
    gate = tmp_path / "gate"
    sources = [f"# wait {gate}\n# {number}".encode() for number in range(5)]
    killed = []

    def kill_one():
        if not killed and len(pids(log)) == 2:
            killed.append(pids(log)[0])
            os.kill(killed[0], signal.SIGKILL)
            gate.touch()

    with crew_for(None, 2) as crew:
        assert ran(crew, sources, kill_one) == dict.fromkeys(sources, "PASS")
    assert killed


def test_a_file_whose_check_kills_its_process_each_time_is_the_only_one_that_is_given_up(log):
    bad = b"# die"
    sources = [b"# 1", bad, b"# 2", b"# 3"]
    with crew_for(None, 2) as crew:
        words = ran(crew, sources)
    assert words == {**dict.fromkeys(sources, "PASS"), bad: "GRADER_ERROR"}
    assert log.read_text().count("die") >= 3


@needs_proc
def test_no_process_of_a_pool_outlives_the_block(log):
    before = processes.below(os.getpid())
    with crew_for(None, 2) as crew:
        ran(crew, [b"# 1", b"# 2"])
        pool = {one for one in processes.below(os.getpid()) if one[0] in pids(log)}
        assert pool
    assert not pool & processes.below(os.getpid())
    assert not before & pool


GRADE_FOR_EVER = """
    import sys
    import graders
    from rope_kv import cli
    from rope_kv.grading import work

    work.check_reference = graders.check_reference
    if __name__ == "__main__":
        sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.fixture
def grading(tmp_path):
    """The command grade at work, in a session of its own: each file loops while it is loaded."""
    (tmp_path / "script.py").write_text(textwrap.dedent(GRADE_FOR_EVER))
    (tmp_path / "class").mkdir()
    for name in ("ada", "bob", "cy"):
        (tmp_path / "class" / f"{name}.py").write_text(f"# {name}\nwhile True:\n    pass\n")
    command = [sys.executable, "script.py", "grade", "class", "--out", "out", "--jobs", "2"]
    with subprocess.Popen(
        [*command, "--call-timeout", "100", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(HERE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        yield process
        process.kill()


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_whatever_ends_the_command_no_process_is_left(number, grading):
    assert processes.until(lambda: len(of_students(grading.pid)) == 2)
    there = processes.below(grading.pid)
    # Ctrl-C goes to all that are in the foreground.
    (os.killpg if number == signal.SIGINT else os.kill)(grading.pid, number)
    printed, said = grading.communicate(timeout=100)
    assert processes.until(lambda: not there & processes.alive().keys())
    if number == signal.SIGKILL:  # Python itself says what semaphores it has cleaned up after.
        assert "Traceback" not in said
    else:
        assert said == ""
        assert "interrupted: 3 files left; --resume goes on" in printed
        assert grading.returncode == 1


@needs_proc
def test_processes_that_are_interrupted_while_they_start_say_nothing(grading):
    assert processes.until(
        lambda: any(is_starting(pid) for pid, _ in processes.below(grading.pid))
    )
    os.killpg(grading.pid, signal.SIGINT)
    printed, said = grading.communicate(timeout=100)
    assert said == ""
    assert "interrupted: 3 files left" in printed


def of_students(pid):
    """The processes that run students' files: a zygote has forked them."""
    parents = processes.alive()
    return {
        one for one in processes.below(pid) if is_zygote(one[0]) and is_zygote(parents.get(one, 0))
    }


def is_starting(pid):
    """Whether a process of the pool has come so far that Ctrl-C would be an exception in it."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        facts = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line for line in facts.splitlines() if line.startswith("SigCgt:"))
    catches = int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1)
    return b"spawn_main" in command and bool(catches)


def is_zygote(pid):
    """Whether a process is a zygote, or one that it forked: they have the same command line."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"rope_kv.sandbox.zygote" in command and not command.startswith(b"bwrap")


def test_a_pool_that_cannot_be_started_is_one_sentence_that_says_what_to_do(monkeypatch):
    def none(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(crews, "ProcessPoolExecutor", none)
    with pytest.raises(CrewError, match=r"no processes can be started here .*ThreadPoolExecutor"):
        crew_for(None, 1).__enter__()


class NotOne:
    pass


NOT_CALLABLE = 3


def raises():
    raise OSError("no\nconnection")


def exits():
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("", "there is no executor ''"),
        ("nonsense", "there is no executor 'nonsense': name dask://HOST:PORT, or module:name"),
        (":x", "there is no executor ':x'"),
        ("x:", "there is no executor 'x:'"),
        ("no_such_module:x", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("\x1b[31m:x", r"the executor \x1b[31m:x cannot be had"),
        ("json:nothing", "AttributeError: module 'json' has no attribute 'nothing'"),
        ("test_crews:NOT_CALLABLE", "is an object of type int: name dask://HOST:PORT"),
        ("test_crews:NotOne", "makes an object of type NotOne: name dask://HOST:PORT"),
        ("test_crews:raises", "test_crews:raises cannot be had: OSError: no connection"),
        ("test_crews:exits", "test_crews:exits cannot be had: SystemExit: 0"),
    ],
)
def test_a_bad_name_is_one_sentence(named, says):
    with pytest.raises(CrewError) as caught:
        crew_for(named, None).__enter__()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def one_thread():
    return ThreadPoolExecutor(1)


@pytest.mark.parametrize(
    "named", ["concurrent.futures:ThreadPoolExecutor", "test_crews:one_thread"]
)
def test_an_executor_may_be_named_by_its_class_or_what_makes_it(named, log):
    with crew_for(named, 3) as crew:
        assert crew.jobs == 3
        assert ran(crew, [b"# 1", b"# 2"]) == {b"# 1": "PASS", b"# 2": "PASS"}
        executor = crew.executor
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(int)
    assert pids(log) == [os.getpid()]


def test_an_executor_in_the_current_folder_is_found(tmp_path, monkeypatch):
    (tmp_path / "mine_alone.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\nexecutor = ThreadPoolExecutor(1)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    with crew_for("mine_alone:executor", None) as crew:
        assert isinstance(crew.executor, ThreadPoolExecutor)
        with pytest.raises(CrewError, match="has ended before the class was through"):
            crew.renew()


def test_an_executor_that_was_made_elsewhere_is_used_and_not_ended(log):
    with ThreadPoolExecutor(2) as executor:
        with crew_for(executor, None) as crew:
            assert ran(crew, [b"# 1"]) == {b"# 1": "PASS"}
        assert executor.submit(int).result() == 0


def test_an_executor_that_cannot_be_shut_down_so_is_let_go(log):
    with crew_for("test_crews:Stubborn", 1) as crew:
        assert ran(crew, [b"# 1"]) == {b"# 1": "PASS"}
        executor = crew.executor
    executor.really_end()


class Stubborn(ThreadPoolExecutor):
    def shutdown(self, wait=True):
        raise AssertionError("it is asked in another way")

    def really_end(self):
        super().shutdown()


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            BrokenExecutor("a process died"),
            "a process died; a script must call grade under if __na",
        ),
        (NotImplementedError(), "the executor cannot check a file: NotImplementedError"),
    ],
)
def test_an_executor_that_cannot_check_the_first_file_is_one_sentence(tmp_path, error, says):
    class Useless(ThreadPoolExecutor):
        def submit(self, *given):
            raise error

    (tmp_path / "ada.py").write_text("# 1\n")
    with Useless() as executor, pytest.raises(GradingError, match=says):
        grade([tmp_path / "ada.py"], tmp_path / "out", executor=executor)
