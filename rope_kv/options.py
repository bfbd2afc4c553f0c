"""The options that say where the code under test runs: of rope-kv, and of pytest."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .sandbox.levels import LEVELS

if TYPE_CHECKING:
    from .testing.implementation import Implementation

SMALLEST_MEMORY = 128  # MB; numpy does not load in less
LONGEST = 366 * 24 * 3600.0  # seconds
_DURATION = re.compile(r"(?:([\d.]+)h)?(?:([\d.]+)m)?(?:([\d.]+)s?)?", re.ASCII)


def add_where(add: Callable[..., Any]) -> None:
    """Add --isolate and --no-isolate; `add` takes what argparse's add_argument takes."""
    add(
        "--isolate",
        dest="isolation",
        action="store_const",
        const="isolated",
        default="auto",
        help="run the code in processes of its own, at the strongest level that works here",
    )
    add(
        "--no-isolate",
        dest="isolation",
        action="store_const",
        const="none",
        default="auto",
        help="run the code in this process, with your rights",
    )


def add_limits(add: Callable[..., Any]) -> None:
    """Add the options that say what code may declare, how it is isolated and what it may take."""
    add(
        "--exercise",
        action="store_true",
        help="judge by the exercise alone, whatever the code declares beyond it or instead "
        "(always so with --gradescope and --check50)",
    )
    _add_isolated(add)
    add(
        "--time-limit",
        type=_seconds,
        metavar="SECONDS",
        help="how long all may take; the rest is not run, which is no pass "
        "(default: 60, with an old version 120, for isolated code but in the profile hunt, "
        "else none)",
    )


def add_each(add: Callable[..., Any]) -> None:
    """Add the options that say how each file of a class is isolated and what it may take."""
    _add_isolated(add)
    add(
        "--each-time-limit",
        type=_seconds,
        metavar="SECONDS",
        help="how long one file may take; the rest is not run, which is no pass (default: 60)",
    )


def _add_isolated(add: Callable[..., Any]) -> None:
    add(
        "--require-isolation",
        choices=LEVELS,
        metavar="LEVEL",
        help="refuse to run below this level: process, kernel or bwrap",
    )
    add(
        "--call-timeout",
        type=_seconds,
        default=2.0,
        metavar="SECONDS",
        help="how long one isolated call may take (default: 2)",
    )
    add(
        "--memory",
        type=_megabytes,
        default=512,
        metavar="MB",
        help="how much address space isolated code may have (default: 512)",
    )


def add_against(add: Callable[..., Any]) -> None:
    """Add the options that name an old version; `add` takes what argparse's add_argument takes."""
    add(
        "--against",
        metavar="OLD",
        help="an old version that must give the same values, ask for the same projections and "
        "refuse the same: named as IMPL is, or git:REV:path/to/file.py",
    )
    add(
        "--exact",
        action="store_true",
        help="compare with the old version bit for bit, not within the rounding bound",
    )


def open_both(target: str, given: argparse.Namespace) -> Implementation:
    """Return the implementation that `target` names, as a pair where an old version is named.

    SpecError where that cannot be loaded, or declares another layout or precision.
    """
    impl = open_as_asked(target, given)
    if given.against is None:
        return impl
    from .testing.pair import paired_with

    def old() -> Implementation:
        return open_as_asked(given.against, given)

    return paired_with(impl, old, exact=given.exact, spec=given.against)


def open_as_asked(target: str, given: argparse.Namespace) -> Implementation:
    """Return the implementation that `target` names, where these options want it to run."""
    from .sandbox.choosing import open_implementation
    from .sandbox.submission import Limits

    limits = Limits(given.call_timeout, given.memory << 20)
    return open_implementation(
        target,
        given.isolation,
        limits,
        at_least=given.require_isolation,
        exercise=given.exercise,
    )


def duration(text: str) -> float:
    """Return the seconds that a text such as 8h, 2h30m, 45s or 90 names."""
    matched = _DURATION.fullmatch(text)
    seconds = 0.0
    if text and matched is not None:
        with contextlib.suppress(ValueError):
            hours, minutes, rest = (float(part) if part else 0.0 for part in matched.groups())
            seconds = 3600 * hours + 60 * minutes + rest
    if not 0 < seconds <= LONGEST:
        raise argparse.ArgumentTypeError(
            f"must be a time such as 8h, 90m, 2h30m or 45s, up to a year, found {text!r}"
        )
    return seconds


def jobs(text: str) -> int:
    """Return how many are done at a time."""
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, found {text!r}")
    return int(text)


def folder(name: str) -> Path:
    """Return the path of a folder, which need not be there yet."""
    if not name:
        raise argparse.ArgumentTypeError("the name of a folder is missing")
    path = Path(name)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{name} is not a folder")
    return path


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, found {text!r}")
    return number


def _megabytes(text: str) -> int:
    if not text.isdecimal() or not SMALLEST_MEMORY <= int(text) <= 1 << 20:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of MB from {SMALLEST_MEMORY}, found {text!r}"
        )
    return int(text)
