"""What is done with one file of a class, in whatever process: it is checked, and reported on.

The reports say nothing of the student or of the time, so that they are the same for the same file.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import platform
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .. import __version__, threads
from ..testing.plain import one_line

# Every student's file is called so: its report is that of any other file with the same bytes.
NAME = "solution.py"
# Hypothesis, warnings and the settings of numpy are those of a process.
_one_at_a_time = threading.Lock()


class Settings(NamedTuple):
    """What decides a verdict; `first` are the stored cases to try before any is drawn."""

    profile: str = "grade"
    require_isolation: str | None = None
    call_timeout: float = 2.0
    time_limit: float | None = None
    memory: int = 512
    pictures: bool = False
    points: tuple[tuple[str, float], ...] = ()
    first: tuple[str, ...] = ()

    def first_digest(self) -> str:
        """Return a short name for the cases that are tried first; "" for none."""
        return (
            hashlib.sha256("\n".join(self.first).encode()).hexdigest()[:16] if self.first else ""
        )


class Outcome(NamedTuple):
    """What came of one file: plain data, which may go to another machine and be stored.

    `verdict` is the JSON report. `cases` are the counterexamples, by the names of their files.
    `points` are the sum that Gradescope would be told, None where there is none. Where `is_done`
    is false, rope_kv is at fault, and the file is to be checked again.
    """

    digest: str
    verdict: dict[str, Any]
    text: str
    html: str
    points: float | None = None
    cases: Mapping[str, str] = {}
    seconds: float = 0.0
    is_done: bool = True


def digest_of(source: bytes) -> str:
    """Return the name of what the bytes of a file come to."""
    return hashlib.sha256(source).hexdigest()


def check(source: bytes, settings: Settings, expected: Mapping[str, str] | None = None) -> Outcome:
    """Check the bytes of a file, isolated, by these versions and no others."""
    with _one_at_a_time:
        started = time.perf_counter()
        outcome = _checked(source, settings, expected or {})
        return outcome._replace(seconds=time.perf_counter() - started)


def check_reference(settings: Settings, expected: Mapping[str, str] | None = None) -> Outcome:
    """Check the reference as if a student had handed it in: what is drawn for it is known then."""
    return check(reference(), settings, expected)


@functools.cache
def versions() -> Mapping[str, str]:
    """Return the versions that decide what is drawn and computed, as they are in this process."""
    packages = {package: version(package) for package in ("rope_kv", "hypothesis", "numpy")}
    return {**packages, "python": platform.python_version()}


def reference() -> bytes:
    """Return a right solution in one file."""
    return (Path(__file__).parent / "reference_solution.py").read_bytes()


@functools.cache
def in_process_of_its_own() -> None:
    """Prepare a process that does nothing else: what takes long stays for the next file."""
    threads.use_one()
    from ..sandbox import process, zygotes
    from ..testing.right import remembering

    process.leave_cores_to_others()
    stack = contextlib.ExitStack()
    stack.enter_context(zygotes.keeping_zygotes())
    stack.enter_context(remembering())
    atexit.register(stack.close)


def _checked(source: bytes, settings: Settings, expected: Mapping[str, str]) -> Outcome:
    from ..sandbox.process import SandboxError
    from ..testing.profiles import leaving_no_files

    digest = digest_of(source)
    for name, wanted in expected.items():
        if (found := versions().get(name)) != wanted:
            why = f"a process has {name} {found}, and the class is graded with {name} {wanted}"
            return not_judged(digest, "GRADER_ERROR", why, settings)
    try:
        with leaving_no_files(), warnings.catch_warnings():
            # Other threads of a worker of dask use it meanwhile, and Hypothesis takes it for ours.
            warnings.filterwarnings("ignore", "Do not use the `random` module inside strategies")
            verdict = _verdict(source, settings)
        return reported(digest, verdict.without_times(), settings)
    except SandboxError as error:
        message = one_line(str(error))
    except Exception as error:
        message = one_line(f"a fault of rope_kv: {type(error).__name__}: {error}")
    return not_judged(digest, "GRADER_ERROR", message, settings)


def not_judged(
    digest: str, word: Literal["NOT_RUN", "GRADER_ERROR"], message: str, settings: Settings
) -> Outcome:
    """Return what there is to say of a file that is to be checked another time."""
    from ..testing.verdict import Verdict

    verdict = Verdict(NAME, word, settings.profile, message=message)
    return reported(digest, verdict, settings)._replace(points=None, is_done=False)


def _verdict(source: bytes, settings: Settings) -> Any:
    from ..sandbox.choosing import open_bytes
    from ..sandbox.submission import Limits
    from ..testing.check import judge, unloaded
    from ..testing.loading import LoadError

    limits = Limits(settings.call_timeout, settings.memory << 20)
    try:
        level: Any = settings.require_isolation
        impl = open_bytes(source, NAME, limits, level)
    except LoadError as error:
        return unloaded(NAME, error, settings.profile)
    with contextlib.closing(impl):
        # Who may declare what is asked for could ask for nothing.
        impl.declare_nothing()
        return judge(
            impl,
            profile=settings.profile,
            time_limit=settings.time_limit,
            pictures=settings.pictures,
            first=_first(settings.first),
        )


def reported(digest: str, verdict: Any, settings: Settings) -> Outcome:
    """Return a verdict with its reports."""
    from ..reports import document, gradescope, html, text

    is_graded = verdict.verdict != "GRADER_ERROR"
    marks = gradescope.gradescope(verdict, dict(settings.points) or None)
    return Outcome(
        digest,
        document.document(verdict),
        f"{text.heading(NAME, settings.profile, __version__, verdict.isolation)}\n\n"
        f"{text.report(verdict)}\n",
        html.page(verdict),
        marks.get("score"),
        _cases(verdict.results) if is_graded else {},
        is_done=is_graded,
    )


def _cases(results: Iterable[Any]) -> dict[str, str]:
    from ..testing.check import is_worth_keeping
    from ..testing.counterexample import written

    # The sentence is the same for everyone, as one file is kept for all whom it shows wrong.
    return dict(
        written(
            result.property,
            result.counterexample,
            f"{result.property.title} does not hold",
            against=NAME,
        )
        for result in results
        if result.outcome == "broken" and is_worth_keeping(result)
    )


@functools.lru_cache(maxsize=1)
def _first(documents: tuple[str, ...]) -> dict[str, tuple[Any, ...]]:
    """Return the cases of some stored counterexamples by the names of their properties."""
    from ..testing.counterexample import read

    cases: dict[str, tuple[Any, ...]] = {}
    for document in documents:
        found = read(document, Path("a stored case"))
        cases[found.property.name] = (*cases.get(found.property.name, ()), found.case)
    return cases
