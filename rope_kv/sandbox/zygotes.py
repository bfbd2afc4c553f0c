"""Which zygote a submission has: one of the strongest level that works, or that of the last."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

from . import kernel, wire
from .launching import PACKAGE
from .levels import LEVELS, Level
from .process import SECONDS_TO_ANSWER, Deadline, GoneError, LateError, SandboxError, Zygote

_unable: dict[Level, str] = {}  # why a level does not work on this machine
# The zygote that the next submission may have, with its memory; where one is kept at all.
_spare: list[tuple[Zygote, int]] = []
_keeps_spare = False


@contextlib.contextmanager
def keeping_zygotes() -> Iterator[None]:
    """Let submissions in the block have the zygote of the one before; it saw nothing of its code.

    Starting one takes longer than much of a check.
    """
    global _keeps_spare
    _keeps_spare = True
    try:
        yield
    finally:
        _keeps_spare = False
        while _spare:
            _spare.pop()[0].close()


def give_back(zygote: Zygote, memory: int) -> None:
    """Close a zygote that a submission has done with, or keep it for the next."""
    if _keeps_spare and not _spare and not zygote.is_closed and zygote.end_all():
        _spare.append((zygote, memory))
    else:
        zygote.close()


def start(level: Level | None, memory: int) -> Zygote:
    """Return a zygote at a level of isolation; None is the strongest that works here.

    A level works where a worker has tried all it must not do and was refused.
    """
    if _spare:
        spare, its_memory = _spare.pop()
        if its_memory == memory and level in (None, spare.level):
            return spare
        spare.close()
    wanted = [level] if level else [lv for lv in reversed(LEVELS) if lv not in _unable]
    for one in wanted:
        if reason := _unable.get(one):
            raise SandboxError(reason)
        try:
            if reason := _missing(one):
                raise SandboxError(f"the isolation level {one} does not work here: {reason}")
            return _tested(Zygote(one, memory))
        except SandboxError as error:
            _unable[one] = str(error)
            if one == wanted[-1]:
                raise
    raise SandboxError(" ".join(_unable.values()))


def why_not(level: Level) -> str:
    """Return why a level does not work here, as the rest of a sentence; "" if it is not known."""
    return f": {_unable[level]}" if level in _unable else ""


def _missing(level: Level) -> str:
    """Return what a level needs and this machine does not have; "" for nothing."""
    if not hasattr(os, "fork"):
        return "this system cannot fork a process; --no-isolate runs the code in this one"
    if level != "process" and not kernel.IS_LINUX:
        return "it needs Linux"
    if level != "process" and kernel.landlock_version() == 0:
        return "this kernel has no Landlock"
    if level == "bwrap" and shutil.which("bwrap") is None:
        return "bwrap is not installed"
    return ""


def _tested(parent: Zygote) -> Zygote:
    """Return the zygote, unless a worker of it can do what it must not."""
    deadline = Deadline(SECONDS_TO_ANSWER)
    try:
        worker = parent.fork()
        try:
            arguments = (str(PACKAGE / "oracle.py"), tempfile.gettempdir())
            worker.send(wire.pack(wire.TEST, 0, *arguments), deadline)
            could = worker.receive(deadline, wire.SMALLEST_CAP).items[0]["could"]
        finally:
            worker.end()
    except (LateError, GoneError, wire.WireError):
        could = ["end without an answer"]
    if could and parent.level != "process":
        parent.close()
        raise SandboxError(
            f"the isolation level {parent.level} does not work here: "
            f"a worker could {', '.join(could)}"
        )
    return parent
