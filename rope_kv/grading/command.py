"""The command grade: what is asked for becomes settings, and what came of it a few lines."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ..console import Misuse, is_terminal, show, tell
from ..reports.numbers import many
from ..testing.plain import one_line
from .display import Lines, Live, Seen
from .work import Settings


def run(given: argparse.Namespace) -> int:
    """Grade a class; 0 where all was judged, 1 where some was not."""
    from ..testing.counterexample import CounterexampleError
    from .crews import CrewError
    from .grade import GradingError, grade
    from .store import StoreError
    from .submissions import SubmissionsError

    _expect_sense(given)
    try:
        with _ended_as_by_ctrl_c():
            graded = grade(
                given.submissions,
                given.out,
                file_name=given.file or "",
                settings=_settings(given),
                executor=given.executor,
                jobs=given.jobs,
                resume=given.resume,
                harvest=given.harvest,
                time_limit=given.time_limit,
                seen=_seen(given),
            )
    except (SubmissionsError, StoreError, CrewError, GradingError, CounterexampleError) as error:
        raise Misuse(str(error)) from None
    words = Counter(row.verdict for row in graded.rows)
    show(", ".join(f"{count} {word}" for word, count in words.most_common()))
    if graded.stopped:
        show(f"{graded.stopped}: {many(graded.left, 'file')} left; --resume goes on")
    elif graded.left:
        show(f"{many(graded.left, 'file')} could not be judged: --resume tries again")
    show(f"see {one_line(str(given.out / 'index.html'))}")
    return 1 if graded.left else 0


@contextlib.contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Have a polite end from outside, as of a batch system, leave what Ctrl-C leaves."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    usual = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


def _expect_sense(given: argparse.Namespace) -> None:
    """Raise Misuse where options do not go together, or need what is not installed."""
    for place in given.first:
        if not place.exists():
            raise Misuse(f"there is no {place}")
        if given.harvest is not None and _are_the_same(place, given.harvest):
            raise Misuse(
                f"--harvest would add to what --first tries, {place}: choose another folder"
            )
    if given.pictures and importlib.util.find_spec("matplotlib") is None:
        raise Misuse("--pictures needs matplotlib: pip install 'rope_kv[report]'")


def _are_the_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _settings(given: argparse.Namespace) -> Settings:
    from ..reports.points import PointsError, read
    from .grade import stored_cases

    try:
        points = {} if given.points is None else read(given.points)
    except PointsError as error:
        raise Misuse(str(error)) from None
    return Settings(
        profile=given.profile,
        require_isolation=given.require_isolation,
        call_timeout=given.call_timeout,
        time_limit=given.each_time_limit,
        memory=given.memory,
        pictures=given.pictures,
        points=tuple(points.items()),
        first=stored_cases(given.first),
    )


def _seen(given: argparse.Namespace) -> Seen:
    if given.quiet:
        return Seen()
    if is_terminal(sys.stderr):
        with contextlib.suppress(ImportError):
            return Live(tell, sys.stderr)
    return Lines(tell)
