"""A file as it was at a commit of the repository it is in: git:REV:path/to/file.py."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from .testing.loading import SpecError

PREFIX = "git:"
FORM = "git:REV:path/to/file.py, as in git:HEAD~1:rotary.py"
SECONDS = 30.0  # for one command of git, which takes a few hundredths of one
# A revision may hold colons, a path here may not.
_SPEC = re.compile(
    r"git:(?P<revision>.+):(?P<file>[^:]+\.py)(?::(?P<attribute>[A-Za-z_][\w.]*))?\Z", re.S
)


class Revision(NamedTuple):
    """A file at a revision, and the attribute in it, "" for the file itself."""

    revision: str
    file: Path
    attribute: str


def revision_of(target: Any) -> Revision | None:
    """Return the file and revision that a target names, or None if it names none.

    SpecError where it begins as if it did.
    """
    if not isinstance(target, str) or not target.startswith(PREFIX):
        return None
    matched = _SPEC.match(target)
    if matched is None:
        raise SpecError(f"cannot tell what {target!r} is: give {FORM}")
    return Revision(matched["revision"], Path(matched["file"]), matched["attribute"] or "")


def read(found: Revision) -> bytes:
    """Return the content of a file as it was at a revision.

    The path is that of today, seen from the current folder; the file itself may be gone since.
    SpecError where there is no git, no repository, no such revision or no such file in it.
    """
    revision, file = found.revision, found.file
    folder = next(folder for folder in file.absolute().parents if folder.is_dir())
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        raise SpecError(
            f"{file} is in no git repository: name an old file, or one in a repository"
        )
    root = Path(top.decode(errors="surrogateescape").removesuffix("\n")).resolve()
    inside = (folder.resolve() / file.absolute().relative_to(folder)).relative_to(root)
    # What begins with a dash would be an option.
    commit = None
    if not revision.startswith("-"):
        commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if commit is None:
        raise SpecError(f"git knows no revision {revision!r} in {root.name}: `git log` lists them")
    content = _git(folder, "show", f"{commit.decode().strip()}:{inside.as_posix()}")
    if content is None:
        raise SpecError(
            f"there is no file {inside.as_posix()} at {revision}: "
            f"`git log --follow -- {file}` shows since when there is one, and its earlier names"
        )
    return content


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return what git prints, or None where it fails; SpecError where it cannot be run."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise SpecError(
            "git: names a revision, and there is no git here: install it, or name an old file"
        ) from None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise SpecError(f"git cannot be asked: {error}") from None
    return done.stdout if done.returncode == 0 else None
