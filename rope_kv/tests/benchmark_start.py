"""What goes by before anything is checked: the interpreter, numpy, Hypothesis, and what is ours.

    python rope_kv/tests/benchmark_start.py

First each command beside bare `python -c "import numpy"`, then processes that load one more part
each, so that a part takes what one takes more than the one before; then what imports take by the
packages they are of, as `python -X importtime` says (it makes each slower, but all alike).
Nothing is searched here: a check has no time to begin, and ends as NOT_RUN.
"""

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path

import timing

FILE = str(Path(__file__).parent / "right/einsum_only.py")
OURS = ("-m", "rope_kv")
AT_ONCE = ("--time-limit", "1e-9", "--quiet")
COMMANDS = {
    'python -c "import numpy"': ("-c", "import numpy"),
    "rope-kv --help": (*OURS, "--help"),
    "rope-kv grade --help": (*OURS, "grade", "--help"),
    "rope-kv traps": (*OURS, "traps"),
    "rope-kv properties": (*OURS, "properties"),
    "rope-kv check, isolated": (*OURS, "check", FILE, *AT_ONCE),
    "rope-kv check --no-isolate": (*OURS, "check", FILE, *AT_ONCE, "--no-isolate"),
}
# Each loads what is before it as well, in this order.
PARTS = {
    "the interpreter": "pass",
    "numpy": "import numpy",
    "Hypothesis": "import hypothesis, hypothesis.strategies",
    "the machinery": "import rope_kv.checking, rope_kv.reports.text, rope_kv.testing.check",
    "the properties": "from rope_kv.testing.property import all_properties; all_properties()",
}
SHOWN = ("rope_kv", "hypothesis", "numpy")


def child(arguments):
    """Run a Python process to its end, whatever its status is, and return what it says of itself.

    Its output is not shown.
    """
    command = [sys.executable, *arguments]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def parts(rounds):
    """Return a table of what each part takes beyond those before it."""
    code, runs = [], {}
    for name, more in PARTS.items():
        code.append(more)
        whole = "\n".join(code)
        runs[name] = lambda whole=whole: child(("-c", whole))
    took = timing.in_turns(runs, rounds)
    before, rows = timing.Took(0.0, 0.0), []
    for name, each in took.items():
        low = timing.least(each)
        rows.append((name, timing.told(low.cpu - before.cpu), timing.told(low.clock)))
        before = low
    return timing.table(("", "CPU, of this alone", "clock, up to here"), rows)


def imports(arguments, rounds):
    """Return the seconds that a command's imports take, by package: of each the least sum."""
    sums = []
    for _ in range(rounds):
        spent = Counter()
        for line in child(("-X", "importtime", *arguments)).splitlines():
            own, _, name = line.removeprefix("import time:").replace("|", " ").split(None, 2)
            if own.isdecimal():
                package = name.strip().partition(".")[0]
                spent[package if package in SHOWN else "all others"] += int(own) * 1e-6
        sums.append(spent)
    return {package: min(spent[package] for spent in sums) for package in (*SHOWN, "all others")}


def largest(arguments, count):
    """Return a table of the modules of ours that take longest by themselves."""
    found = []
    for line in child(("-X", "importtime", *arguments)).splitlines():
        own, _, name = line.removeprefix("import time:").replace("|", " ").split(None, 2)
        if name.strip().startswith("rope_kv"):
            found.append((int(own) * 1e-6, name.strip()))
    found.sort(reverse=True)
    rows = [(name, timing.told(own)) for own, name in found[:count]]
    return timing.table(("", "by itself"), rows)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    runs = {name: lambda given=arguments: child(given) for name, arguments in COMMANDS.items()}
    print(timing.comparison(timing.in_turns(runs, given.rounds)), end="\n\n")
    print(parts(given.rounds), end="\n\n")
    rows = []
    for name, arguments in COMMANDS.items():
        spent = imports(arguments, max(1, given.rounds // 4))
        rows.append((name, *map(timing.told, spent.values())))
    print(timing.table(("imports", *SHOWN, "all others"), rows), end="\n\n")
    print(largest(COMMANDS["rope-kv check --no-isolate"], 20))


if __name__ == "__main__":
    main()
