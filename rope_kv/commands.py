"""The commands of rope-kv but check: each takes what was given, and returns the exit status.

What a command needs is imported when it runs: Hypothesis takes longer to import than all else.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from . import traps as known
from .adapters import ADAPTERS
from .checking import opened
from .console import Misuse, fitting_reports, show
from .testing.plain import one_line

if TYPE_CHECKING:
    from .testing.counterexample import Counterexample
    from .testing.implementation import Implementation
    from .testing.verdict import Result


def replay(given: argparse.Namespace) -> int:
    """Run stored counterexamples."""
    from .testing.counterexample import CounterexampleError, files_in, load, stored
    from .testing.loading import LoadError

    for place in given.places:
        if not place.exists():
            raise Misuse(f"there is no {place}")
    files = files_in(given.places or [stored()])
    if not files:
        raise Misuse(f"no counterexample in {', '.join(map(str, given.places)) or stored()}")
    try:
        examples = [load(path) for path in files]
    except CounterexampleError as error:
        raise Misuse(str(error)) from None
    try:
        impl = opened(given, given.impl)
    except LoadError as error:
        show(f"LOAD_ERROR  {one_line(str(error))}")
        return 1
    with contextlib.closing(impl):
        if not given.places:
            examples = _concerning(impl, examples)
        return _replay_all(given, impl, examples)


def _concerning(impl: Implementation, examples: list[Counterexample]) -> list[Counterexample]:
    """Return the cases of properties that are checked of an implementation."""
    return [example for example in examples if not example.property.unmet(impl)]


def _replay_all(
    given: argparse.Namespace, impl: Implementation, examples: list[Counterexample]
) -> int:
    from .reports import text
    from .testing import search
    from .testing.budget import Budget
    from .testing.check import usual_time_limit

    budget = Budget(given.time_limit or usual_time_limit(impl, "grade"))
    outcomes = []
    for example in examples:
        result: Result = search.replay(example.property, impl, example.case, budget)
        outcomes.append(result.outcome)
        if result.outcome == "broken":
            with fitting_reports():
                show(text.failure(result, given.impl))
            show(f"  {'stored in':<11}{one_line(str(example.path))}\n")
        elif result.outcome == "error":
            print(one_line(f"{example.path}: {result.message}"), file=sys.stderr)
    broken, not_run = outcomes.count("broken"), outcomes.count("not_run")
    unchecked = outcomes.count("not_checked")
    also = f", {not_run} not run" if not_run else ""
    also += f", {unchecked} not checked" if unchecked else ""
    counts = f"{outcomes.count('held')} held, {broken} broken{also} of {len(outcomes)}"
    show(f"{one_line(given.impl)}: {counts}")
    if "error" in outcomes:
        return 2
    return 1 if broken or not_run else 0


def new(given: argparse.Namespace) -> int:
    """Write a file to start from."""
    if given.file.suffix != ".py":
        raise Misuse(f"the name of the new file must end in .py, found {str(given.file)!r}")
    skeleton = (Path(__file__).parent / "skeleton.py").read_text(encoding="utf-8")
    try:
        with given.file.open("x", encoding="utf-8") as file:
            file.write(skeleton)
    except FileExistsError:
        raise Misuse(f"{given.file} exists already: choose another name") from None
    except OSError as error:
        raise Misuse(f"cannot write {given.file}: {error.strerror}") from None
    command = shlex.join(["rope-kv", "check", str(given.file)])
    show(f"{given.file}: fill in the three functions, then  {command}")
    return 0


def properties(given: argparse.Namespace) -> int:
    """List the properties."""
    from .reports import text
    from .testing.property import all_properties

    subject = ""
    with fitting_reports():
        for prop in all_properties():
            if prop.subject != subject:
                subject = prop.subject
                show(f"\n{subject.replace('_', ' ')}\n")
            show(text.property_line(prop))
    return 0


def adapters(given: argparse.Namespace) -> int:
    """List the adapters, and what is to be installed for each."""
    from importlib.metadata import PackageNotFoundError, version

    for adapter in ADAPTERS:
        try:
            there = version(adapter.package)
        except PackageNotFoundError:
            there = f"needs pip install 'rope_kv[{adapter.package}]'"
        show(f"{adapter.spec}\n    {adapter.drives}; {adapter.package} {there}")
    return 0


def traps(given: argparse.Namespace) -> int:
    """List known mistakes, or print one."""
    if given.name is None:
        if given.path:
            raise Misuse("--path needs the NAME of a trap; `rope-kv traps` lists them")
        for trap in known.all_traps():
            show(f"{trap.name:<32} {trap.slip}")
        return 0
    try:
        trap = known.find_trap(given.name)
    except known.NoTrapError as error:
        raise Misuse(error.args[0]) from None
    show(str(trap.path) if given.path else trap.path.read_text(encoding="utf-8").rstrip())
    return 0
