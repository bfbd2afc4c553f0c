"""How long a verdict takes: of right files and wrong ones, isolated and not.

    pip install -e '.[benchmark]' && pytest rope_kv/tests/benchmark_checks.py
    pytest rope_kv/tests/benchmark_checks.py --benchmark-timer=rope_kv.tests.timing.cpu -k in_this

The first command is what one waits for. The second counts CPU instead, of the children that have
ended too, which other people's work on the same machine changes least; where the code runs
isolated, a part of it is that of processes whose end is not waited for, and is not counted.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from rope_kv import traps
from rope_kv.testing import rehearsal
from rope_kv.testing.check import check
from rope_kv.testing.property import all_properties

HERE = Path(__file__).parent
RIGHT = HERE / "right/rotate_pairs.py"
# What is wrong, and how it shows: each takes another way to its verdict.
FILES = {
    "right": RIGHT,
    "right, and slow": HERE / "right/pure_lists.py",
    "rotation wrong": traps.find_trap("pairs-adjacent-vs-halves").path,
    "rotation rounded": traps.find_trap("angles-in-float32").path,
    "decoding wrong": traps.find_trap("cache-off-by-one").path,
    "right numbers, wrong calls": traps.find_trap("recompute-keys").path,
    "wrong on later calls": traps.find_trap("answer-buffer-reused").path,
}
# What only a process of its own survives.
HOSTILE = {
    "does not return": HERE / "hostile/r01_loops_from_four_rows.py",
    "crashes": HERE / "hostile/r02_segfault_from_three_rows.py",
}
ROUNDS = 3


def is_right(name):
    """Return whether a file is right, which its name says first."""
    return name.split(", ")[0] == "right"


def status_of(command):
    """Return the exit status of the command rope-kv."""
    return subprocess.run(
        [sys.executable, "-m", "rope_kv", *command], capture_output=True
    ).returncode


@pytest.mark.benchmark(group="rope-kv check, isolated")
@pytest.mark.parametrize("name", [*FILES, *HOSTILE])
def test_isolated(benchmark, name):
    file = {**FILES, **HOSTILE}[name]
    command = ["check", str(file), "--no-record", "--quiet"]
    status = benchmark.pedantic(status_of, (command,), rounds=ROUNDS)
    assert (status == 0) == is_right(name)


@pytest.mark.benchmark(group="rope-kv check --no-isolate")
@pytest.mark.parametrize("name", FILES)
def test_not_isolated(benchmark, name):
    command = ["check", str(FILES[name]), "--no-record", "--quiet", "--no-isolate"]
    status = benchmark.pedantic(status_of, (command,), rounds=ROUNDS)
    assert (status == 0) == is_right(name)


@pytest.mark.benchmark(group="check() in this process, where all is imported")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("again", [False, True], ids=["first", "after a right one"])
def test_in_this_process(benchmark, name, again):
    all_properties()
    if again:
        check(RIGHT, isolation="none")

    def forget():
        if not again:
            rehearsal._kept.clear()

    found = benchmark.pedantic(
        check, (FILES[name],), {"isolation": "none"}, setup=forget, rounds=ROUNDS
    )
    assert bool(found) == is_right(name)


@pytest.mark.benchmark(group="rope-kv grade, ten different right files")
def test_ten_files(benchmark, tmp_path):
    (tmp_path / "class").mkdir()
    for number in range(10):
        text = f"{RIGHT.read_text(encoding='utf-8')}\n# student {number}\n"
        (tmp_path / f"class/student-{number}.py").write_text(text, encoding="utf-8")
    rounds = iter(range(ROUNDS))

    def arguments():
        return (
            ["grade", str(tmp_path / "class"), "--out", str(tmp_path / f"{next(rounds)}")],
        ), {}

    assert benchmark.pedantic(status_of, setup=arguments, rounds=ROUNDS) == 0
