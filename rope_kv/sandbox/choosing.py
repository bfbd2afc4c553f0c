"""Where the code under test runs: a file in processes of its own, anything else in this one."""

from __future__ import annotations

from typing import Any, Literal

from ..revisions import Revision, read, revision_of
from ..testing.implementation import Implementation, InProcess
from ..testing.loading import file_and_attribute, from_source, load, titled
from .client import Isolated, open_file, open_source
from .levels import LEVELS, Level
from .process import SandboxError
from .submission import Limits
from .zygotes import why_not

Isolation = Literal["auto", "none", "isolated", "process", "kernel", "bwrap"]
ISOLATIONS: tuple[Isolation, ...] = ("auto", "none", "isolated", *LEVELS)


def is_isolated(target: Any, isolation: Isolation) -> bool:
    """Return whether what `target` names runs in processes of its own."""
    is_file = file_and_attribute(target) is not None
    return isolation != "none" and (is_file or isolation != "auto")


def open_implementation(
    target: Any,
    isolation: Isolation = "auto",
    limits: Limits | None = None,
    at_least: Level | None = None,
    *,
    exercise: bool = False,
) -> Implementation:
    """Return the implementation that `target` names; `close` it after use.

    That is what `load` takes, or "git:REV:path/to/file.py", a file at a commit.

    `isolation` is "auto" (a file runs isolated, anything else in this process), "none" (in this
    process), "isolated" (at the strongest level that works here), or the name of a level. Where it
    is to be judged by the `exercise`, what it declares counts for nothing.
    SandboxError where that is not to be had, or not `at_least` the level named there; ValueError
    where there is no such isolation.
    """
    opened = _opened(target, isolation, limits or Limits(), at_least)
    if exercise:
        opened.declare_nothing()
    if isinstance(opened, InProcess) and opened.known_failures:
        # Not above: to import the properties takes long, and few declare a known failure.
        from ..testing.known_failures import expect_known_names

        expect_known_names(opened)
    return opened


def _opened(
    target: Any, isolation: Isolation, limits: Limits, at_least: Level | None
) -> InProcess | Isolated:
    if isinstance(target, InProcess):
        return target
    if isolation not in ISOLATIONS:
        raise ValueError(f"isolation must be one of {', '.join(ISOLATIONS)}, found {isolation!r}")
    revision = revision_of(target)
    if not is_isolated(target, isolation):
        if at_least is not None:
            raise SandboxError(f"{target} runs in this process: only a file can be isolated")
        return load(target) if revision is None else _in_process(revision)
    named = file_and_attribute(target)
    if named is None:
        raise SandboxError(f"{target} is no file, and only a file can be isolated")
    level = next((level for level in LEVELS if level == isolation), None)
    if revision is None:
        opened = open_file(*named, level, limits)
    else:
        _, file, attribute = revision
        opened = open_source(read(revision), file.name, attribute, level, limits)
    return _expect_level(opened, at_least)


def open_bytes(
    source: bytes, name: str, limits: Limits, at_least: Level | None = None
) -> Isolated:
    """Return what the bytes of a file called `name` hold, isolated; see `open_implementation`."""
    return _expect_level(open_source(source, name, limits=limits), at_least)


def _expect_level(opened: Isolated, at_least: Level | None) -> Isolated:
    if at_least is not None and LEVELS.index(opened.isolation) < LEVELS.index(at_least):
        opened.close()
        raise SandboxError(
            f"the isolation level {at_least} is not to be had here, only {opened.isolation}"
            f"{why_not(at_least)}"
        )
    return opened


def _in_process(revision: Revision) -> InProcess:
    """Return a file at a commit, run in this process; its neighbours are those of today."""
    name = titled(revision.file.name, revision.attribute)
    return from_source(read(revision), name, revision.file.absolute(), revision.attribute)
