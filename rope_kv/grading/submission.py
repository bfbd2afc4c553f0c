"""What one student handed in: a file to check, or why there is none."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import NamedTuple

from ..testing.plain import one_line

LONGEST = 200  # letters of a name; what a table can show
LINK = "is a symbolic link, which is not followed"


class SubmissionsError(ValueError):
    """What was named as the submissions of a class is not; the message says what to do."""


class Submission(NamedTuple):
    """One student's: where `file` is None, `problem` says in a sentence why."""

    name: str
    file: Path | None
    problem: str = ""


class Found(NamedTuple):
    """A submission whose name another may have as well.

    `place` is the file, or the folder in which one was looked for. `apart` tells it from others
    of the same name: a number of the student, or the folder around.
    """

    name: str
    place: Path
    file: Path | None
    problem: str = ""
    apart: str = ""


def shown(said: str, longest: int = LONGEST) -> str:
    """Return a name that others gave, in one line in which nothing acts; the same on each system.

    macOS takes letters and their accents apart where Linux keeps what was typed.
    """
    line = one_line(unicodedata.normalize("NFC", said)) or "(no name)"
    return line if len(line) <= longest else line[: longest - 1] + "…"


def linked(path: Path, below: Path) -> str:
    """Return a sentence on the first symbolic link between `below` and a path, or ""."""
    path, below = path.absolute(), below.absolute()
    on_the_way = [path, *path.parents]
    if below in on_the_way[1:]:
        on_the_way = on_the_way[: on_the_way.index(below)]
    else:
        on_the_way = on_the_way[:1]
    for step in reversed(on_the_way):
        if os.path.islink(step):
            return f"{shown(step.name)} {LINK}"
    return ""
