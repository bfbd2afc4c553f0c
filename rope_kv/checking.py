"""The command check: an implementation is judged, and every report is written."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__, options, progress, writing
from .console import Misuse, coloured, fitting_reports, show, tell
from .testing.plain import one_line, plain

if TYPE_CHECKING:
    from .testing.implementation import Implementation
    from .testing.verdict import Verdict


def check(given: argparse.Namespace) -> int:
    """Say whether an implementation is right."""
    asked = writing.asked_for(given)
    # Who may declare what is asked for could ask for nothing.
    given.exercise = given.exercise or asked.with_marks
    _expect_sense(given, asked)
    try:
        verdict = _verdict(given, asked)
    except Exception as error:
        asked.write(_none(given, error), only_always=True)
        raise
    asked.write(verdict)
    if not asked.takes_stdout:
        with fitting_reports():
            _print(given, verdict)
    if verdict.verdict == "GRADER_ERROR":
        from .reports import text

        print(plain(text.errors(verdict)), file=sys.stderr)
        return 2
    return 0 if verdict else 1


def _expect_sense(given: argparse.Namespace, asked: writing.Asked) -> None:
    """Raise Misuse where what is asked of an old version makes no sense."""
    expect_laws_or_old_version(given)
    if given.against is not None and asked.with_marks:
        raise Misuse("--against gives no marks: leave --gradescope and --check50 out")


def expect_laws_or_old_version(given: argparse.Namespace) -> None:
    """Raise Misuse where nothing at all is asked for."""
    if given.laws == "none" and given.against is None:
        raise Misuse("--laws none is for the comparison with an old version: add --against")


def _verdict(given: argparse.Namespace, asked: writing.Asked) -> Verdict:
    from .sandbox.choosing import is_isolated
    from .testing.loading import LoadError

    started = time.perf_counter()
    try:
        if is_isolated(given.implementation, given.isolation):
            impl = _open_meanwhile(given)
        else:
            impl = opened(given, given.implementation)
    except LoadError as error:
        from .testing.check import unloaded

        _heading(given, asked, error.isolation)
        seconds = time.perf_counter() - started
        return unloaded(given.implementation, error, given.profile, seconds)
    with contextlib.closing(impl):
        _heading(given, asked, impl.isolation)
        verdict = _judged(given, asked, impl)
    return replace(verdict, seconds=time.perf_counter() - started)


def _judged(given: argparse.Namespace, asked: writing.Asked, impl: Implementation) -> Verdict:
    from .sandbox.process import SandboxError
    from .testing.check import judge
    from .testing.profiles import leaving_no_files

    seen = _progress(given, asked, impl)
    keeps_nothing = given.profile in ("grade", "ci")
    try:
        with leaving_no_files() if keeps_nothing else contextlib.nullcontext():
            return judge(
                impl,
                profile=given.profile,
                record=_record(given),
                starting=seen.starts,
                progress=seen.ends,
                time_limit=given.time_limit,
                pictures=asked.with_pictures,
                laws=given.laws,
            )
    except SandboxError as error:
        raise Misuse(str(error)) from None
    finally:
        seen.over()


def _none(given: argparse.Namespace, error: Exception) -> Verdict:
    """Return what stands for a verdict where there is none: why not."""
    from .testing.verdict import Verdict

    fault = f"a fault of rope_kv: {type(error).__name__}: {error}"
    said = str(error) if isinstance(error, Misuse) else fault
    return Verdict(given.implementation, "GRADER_ERROR", given.profile, message=one_line(said))


def _record(given: argparse.Namespace) -> Path | None:
    from .testing.counterexample import where_to_record

    return where_to_record(given.record, given.no_record)


def _progress(
    given: argparse.Namespace, asked: writing.Asked, impl: Implementation
) -> progress.Silence:
    if given.verbose:
        return progress.Lines(tell if asked.takes_stdout else _show_now)
    if given.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return progress.Silence()
    from .testing.property import properties_of

    return progress.ChangingLine(sys.stderr, len(properties_of(impl, given.laws)))


def _show_now(line: str) -> None:
    show(line)
    sys.stdout.flush()


def _heading(given: argparse.Namespace, asked: writing.Asked, level: str) -> None:
    from .reports import text

    if not given.quiet and not asked.takes_stdout:
        with fitting_reports():
            heading = text.heading(
                given.implementation, given.profile, __version__, level, given.against or ""
            )
        show(heading)


def _print(given: argparse.Namespace, verdict: Verdict) -> None:
    """Print the verdict, and what is broken unless only the verdict is wanted."""
    from .reports import text

    if given.quiet:
        show(coloured(text.summary(verdict)))
        return
    show(coloured("\n" + text.report(verdict, given.implementation)))
    is_wrong = bool(verdict.with_outcome("broken"))
    if is_wrong and not given.no_record and _record(given) is None:
        hint = "      --record DIR keeps each smallest case as a file to replay"
        show(text.fitted(hint, " " * 6))


def opened(given: argparse.Namespace, target: str) -> Implementation:
    """Return the implementation that is named, where the options want it to run."""
    from .sandbox.process import SandboxError
    from .testing.loading import SpecError

    if given.exact and given.against is None:
        raise Misuse("--exact is for the comparison with an old version: add --against")
    try:
        return options.open_both(target, given)
    except (SpecError, SandboxError) as error:
        raise Misuse(str(error)) from None


def _open_meanwhile(given: argparse.Namespace) -> Implementation:
    """Return the implementation; what takes long to import is imported while processes start."""
    from concurrent import futures

    with futures.ThreadPoolExecutor(1) as pool:
        opening = pool.submit(opened, given, given.implementation)
        importlib.import_module("hypothesis")
        return opening.result()
