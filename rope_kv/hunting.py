"""The command hunt: an implementation is searched for hours, and every find is kept at once."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from .checking import expect_laws_or_old_version, opened
from .console import Misuse, coloured, is_terminal, show
from .testing.plain import one_line

if TYPE_CHECKING:
    from types import FrameType

    from .testing.coverage_guide import Guide
    from .testing.example_database import Remembered
    from .testing.hunt import Hunt, Silence
    from .testing.implementation import Implementation
    from .testing.property import Property

# A case that is being tried when a hunt ends is given so long; then it is left alone.
SECONDS_TO_END = 30.0


def hunt(given: argparse.Namespace) -> int:
    """Search an implementation until the time is up, or until Ctrl-C."""
    from .testing.loading import LoadError

    if given.time_limit is not None:
        raise Misuse("--time-limit is for a check: say with --for how long to hunt")
    expect_laws_or_old_version(given)
    try:
        impl = opened(given, given.implementation)
    except LoadError as error:
        show(f"LOAD_ERROR  {one_line(str(error))}")
        return 1
    with contextlib.closing(impl):
        return _hunt(given, impl)


def _hunt(given: argparse.Namespace, impl: Implementation) -> int:
    from .reports import hunt as told
    from .testing.hunt import Hunt
    from .testing.profiles import PROFILES

    properties = _properties(given, impl)
    record = _record(given, impl)
    seen = _seen(given)
    database = _database(given, impl, seen)
    guide, why_not = _guide(impl)
    going_on = Hunt(
        impl,
        properties,
        PROFILES["hunt"]._replace(database=database),
        record=record,
        seconds=given.duration,
        guide=guide,
        seen=seen,
    )
    with _stopping(going_on, given.duration):
        _heading(given, impl, record, guide, why_not)
        going_on.run()
        seen.over()
    show(coloured("\n" + told.summary(going_on)))
    return _status(going_on)


def _status(hunt: Hunt) -> int:
    """Return 1 where anything was found, 2 where something went wrong with us alone, else 0."""
    errors = [t.latest for t in hunt.tallies if t.latest and t.latest.outcome == "error"]
    for error in errors:
        said = f"{error.property.name}: {error.message} (a fault of rope_kv: please report it)"
        print(one_line(said), file=sys.stderr)
    if any(tally.is_broken for tally in hunt.tallies):
        return 1
    return 2 if errors else 0


def _properties(given: argparse.Namespace, impl: Implementation) -> tuple[Property, ...]:
    """Return the properties to search; Misuse where there is none."""
    from .testing.property import properties_of

    shown = properties_of(impl, given.laws)
    applying = tuple(prop for prop in shown if not prop.unmet(impl))
    if given.only is None:
        return applying
    word = re.sub(r"[\s-]+", "_", given.only.strip().lower())
    named = tuple(prop for prop in applying if word in prop.name.lower())
    if named and word:
        return named
    if word and (unmet := [prop for prop in shown if word in prop.name.lower()]):
        why = f"{unmet[0].title} is not checked of {impl.name}: {unmet[0].unmet(impl)}"
        raise Misuse(why)
    raise Misuse(f"no property has {given.only!r} in its name: `rope-kv properties` lists them")


def _record(given: argparse.Namespace, impl: Implementation) -> Path:
    """Return the folder for what is found; Misuse where nothing can be kept there."""
    from .testing.counterexample import where_to_record

    folder = where_to_record(given.record, nowhere=False) or Path("hunted") / _file_name(impl.name)
    above = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise Misuse(f"nothing can be kept in {folder}: name another folder with --record")
    return folder


def _file_name(name: str) -> str:
    """Return a name as that of one folder, whatever is in it."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "implementation"


def _database(given: argparse.Namespace, impl: Implementation, seen: Silence) -> Remembered:
    from .testing.example_database import DatabaseError, remembered

    try:
        return remembered(given.database, impl.name, seen.says)
    except DatabaseError as error:
        raise Misuse(str(error)) from None


def _guide(impl: Implementation) -> tuple[Guide | None, str]:
    """Return what guides the hunt by coverage; or None, and why nothing does."""
    from .testing.coverage_guide import UnguidedError, guide_for

    try:
        return guide_for(impl), ""
    except UnguidedError as error:
        return None, str(error)


def _seen(given: argparse.Namespace) -> Silence:
    """Return how the hunt is seen: on a terminal by a line that changes."""
    from .hunt_progress import Line, Lines

    if is_terminal(sys.stderr):
        return Line(sys.stderr, given.implementation)
    return Lines(sys.stderr, given.implementation)


def _heading(
    given: argparse.Namespace,
    impl: Implementation,
    record: Path,
    guide: Guide | None,
    why_not: str,
) -> None:
    from .reports import hunt as told
    from .reports import text
    from .testing.example_database import shown

    show(text.heading(given.implementation, "hunt", __version__, impl.isolation, given.against))
    how_long = "until Ctrl-C"
    if given.duration < math.inf:
        how_long = f"for {told.duration(given.duration)}, or {how_long}"
    show(
        f"  {how_long}; finds go to {one_line(str(record))}, what helps to find them again to "
        f"{one_line(shown(given.database))}"
    )
    if guide is not None:
        show(f"  for half of the time, cases are guided by coverage ({guide.name})")
    else:
        show(f"  cases are random, not guided by coverage: {one_line(why_not)}")
    sys.stdout.flush()


@contextlib.contextmanager
def _stopping(hunt: Hunt, seconds: float) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the hunt, each at once when it comes a second time.

    What does not return in this process is interrupted, a while after the hunt should have ended.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        if hunt.over:
            raise KeyboardInterrupt
        hunt.stop()
        with contextlib.suppress(OSError):  # print may be what was interrupted.
            os.write(2, b"\nrope-kv: ending after this case; once more ends it at once\n")
        signal.setitimer(signal.ITIMER_REAL, SECONDS_TO_END)

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    handlers = {signal.SIGINT: stop, signal.SIGTERM: stop, signal.SIGALRM: interrupt}
    usual = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    if seconds < math.inf:
        signal.setitimer(signal.ITIMER_REAL, seconds + SECONDS_TO_END)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in usual.items():
            signal.signal(number, handler)
