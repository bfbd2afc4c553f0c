"""The commands of rope-kv: each takes what was given, and returns the exit status.

What a command needs is imported when it runs: Hypothesis takes longer to import than all else.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import shlex
import sys
import time
from collections.abc import Iterator
from concurrent import futures
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__, options
from . import traps as known
from .console import Misuse, refuse_to_overwrite, show, write_json

if TYPE_CHECKING:
    from .testing.counterexample import Counterexample
    from .testing.implementation import Implementation
    from .testing.loading import LoadError
    from .testing.verdict import Result, Verdict


def check(given: argparse.Namespace) -> int:
    """Say whether an implementation is right."""
    from .sandbox.choosing import is_isolated
    from .testing.loading import LoadError

    started = time.perf_counter()
    if given.json is not None:
        refuse_to_overwrite(given.json)
    try:
        if is_isolated(given.implementation, given.isolation):
            impl = _open_meanwhile(given)
        else:
            impl = _open(given, given.implementation)
    except LoadError as error:
        return _unloaded(given, error)
    with contextlib.closing(impl):
        return _judge(given, impl, started)


def _open_meanwhile(given: argparse.Namespace) -> Implementation:
    """Return the implementation; what takes long to import is imported while processes start."""
    with futures.ThreadPoolExecutor(1) as pool:
        opening = pool.submit(_open, given, given.implementation)
        importlib.import_module("hypothesis")
        return opening.result()


def _unloaded(given: argparse.Namespace, error: LoadError) -> int:
    from .testing.check import unloaded

    verdict = unloaded(given.implementation, error, given.profile)
    _heading(given, error.isolation)
    return _conclude(given, verdict, None)


def _judge(given: argparse.Namespace, impl: Implementation, started: float) -> int:
    _heading(given, impl.isolation)

    from .sandbox.process import SandboxError
    from .testing.check import judge
    from .testing.counterexample import where_to_record

    record = where_to_record(given.record, given.no_record)
    keeps_nothing = given.profile in ("grade", "ci")
    try:
        with _no_hypothesis_files() if keeps_nothing else contextlib.nullcontext():
            verdict = judge(
                impl, profile=given.profile, record=record, time_limit=given.time_limit
            )
    except SandboxError as error:
        raise Misuse(str(error)) from None
    verdict = replace(verdict, seconds=time.perf_counter() - started)
    return _conclude(given, verdict, record)


def _heading(given: argparse.Namespace, level: str) -> None:
    from .reports import text

    if given.json != "-":
        show(text.heading(given.implementation, given.profile, __version__, level))


def _conclude(given: argparse.Namespace, verdict: Verdict, record: Path | None) -> int:
    """Report a verdict, and return the exit status that it stands for."""
    from .reports import text
    from .reports.document import document

    if given.json:
        write_json(given.json, document(verdict))
    if given.json != "-":
        show("\n" + text.report(verdict, given.implementation))
        is_wrong = bool(verdict.with_outcome("broken"))
        if is_wrong and record is None and not given.no_record:
            show("      --record DIR keeps each smallest case as a file to replay")
    if verdict.verdict == "GRADER_ERROR":
        print(text.errors(verdict), file=sys.stderr)
        return 2
    return 0 if verdict else 1


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
        impl = _open(given, given.impl)
    except LoadError as error:
        show(f"LOAD_ERROR  {error}")
        return 1
    with contextlib.closing(impl):
        return _replay_all(given, impl, examples)


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
            show(text.failure(result, given.impl))
            show(f"  {'stored in':<11}{example.path}\n")
        elif result.outcome == "error":
            print(f"{example.path}: {result.message}", file=sys.stderr)
    broken, not_run = outcomes.count("broken"), outcomes.count("not_run")
    also = f", {not_run} not run" if not_run else ""
    show(f"{given.impl}: {outcomes.count('held')} held, {broken} broken{also} of {len(outcomes)}")
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
    for prop in all_properties():
        if prop.subject != subject:
            subject = prop.subject
            show(f"\n{subject.replace('_', ' ')}\n")
        show(text.property_line(prop))
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
    except known.NoTrapError:
        raise Misuse(f"there is no trap {given.name!r}: `rope-kv traps` lists them") from None
    show(str(trap.path) if given.path else trap.path.read_text(encoding="utf-8").rstrip())
    return 0


def _open(given: argparse.Namespace, target: str) -> Implementation:
    """Return the implementation that is named, where the options want it to run."""
    from .sandbox.process import SandboxError
    from .testing.loading import SpecError

    try:
        return options.open_as_asked(target, given)
    except (SpecError, SandboxError) as error:
        raise Misuse(str(error)) from None


@contextlib.contextmanager
def _no_hypothesis_files() -> Iterator[None]:
    """Keep Hypothesis from leaving a folder behind, where a profile uses nothing of it.

    It gives up on a folder that cannot be made, without a word.
    """
    from hypothesis.configuration import set_hypothesis_home_dir

    set_hypothesis_home_dir(Path(os.devnull) / "hypothesis")
    try:
        yield
    finally:
        set_hypothesis_home_dir(None)
