"""The one file of a student in a folder of theirs, which may hold anything at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

from .submission import LINK, shown

DEEPEST = 5  # folders in folders: what was packed is often in a folder of its own
MOST_ENTRIES = 5000  # a folder with more was not written by hand
MOST_NAMES, LONGEST_NAME = 4, 60  # in a sentence
_IGNORED = ("__MACOSX", "__pycache__")


class Choice(NamedTuple):
    """The file to check, or the problem that keeps it from being found."""

    file: Path | None
    problem: str = ""


def is_ignored(name: str) -> bool:
    """Return whether a file or folder was written by a program: hidden, or known to be so."""
    return name.startswith(".") or name in _IGNORED


def chosen_in(folder: Path, file_name: str = "") -> Choice:
    """Return the .py file in a folder or below; among several, the one called `file_name`.

    The folder is looked through level by level, so of several files of that name the one that is
    least deep is taken. No symbolic link is followed.
    """
    seen = _Seen(folder)
    level, depth = [folder], 0
    while level and depth <= DEEPEST:
        try:
            level = [below for one in level for below in seen.look_into(one)]
        except OSError as error:
            return Choice(None, f"cannot read the folder: {error.strerror or error}")
        except _TooManyError:
            said = f"more than {MOST_ENTRIES} files in the folder: leave what is needed alone"
            return Choice(None, said)
        if any(is_called(name, file_name) for name in (*seen.scripts, *seen.odd)):
            break
        depth += 1
    return chosen(seen.scripts, seen.odd, file_name) or Choice(None, seen.nothing())


def chosen(
    scripts: Mapping[str, Path], odd: Mapping[str, str], file_name: str = ""
) -> Choice | None:
    """Return which of some .py files is the student's; None where there is none.

    They have the names by which the student knows them. `odd` are those that cannot be read, and
    why; who handed in one of these is not judged by another file.
    """
    names = sorted((*scripts, *odd))
    if not names:
        return None
    wanted = [name for name in names if is_called(name, file_name)]
    if len(names) > 1 and not wanted:
        all_ = f"{len(names)} .py files ({some(names)})"
        said = f", none of them {shown(file_name)}" if file_name else ""
        return Choice(None, f"{all_}{said}: say which with --file NAME, or leave one alone")
    if len(wanted) > 1:
        called = f"{len(wanted)} files are called {shown(file_name)} ({some(wanted)})"
        return Choice(None, f"{called}: leave one alone")
    name = (wanted or names)[0]
    if name in odd:
        return Choice(None, f"{shown(name, LONGEST_NAME)} {odd[name]}: ask for the file itself")
    return Choice(scripts[name])


def is_called(name: str, file_name: str) -> bool:
    """Return whether a path ends with the name that is looked for, which may have folders."""
    wanted = PurePath(file_name).parts
    return bool(wanted) and PurePath(name).parts[-len(wanted) :] == wanted


def why_odd(entry: os.DirEntry[str] | Path) -> str:
    """Return why what is called like a file is not to be read, or ""."""
    if os.path.islink(entry):
        return LINK
    # A pipe or a device could hang who opens it.
    return "" if os.path.isfile(entry) else "is not a file"


class _TooManyError(Exception):
    """There is more in a folder than is looked at."""


class _Seen:
    """What was seen of a student's folder, by names relative to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scripts: dict[str, Path] = {}
        self.odd: dict[str, str] = {}
        self.others: list[str] = []
        self._left = MOST_ENTRIES

    def look_into(self, folder: Path) -> Iterator[Path]:
        """Yield the folders in a folder, by name, and remember its files."""
        below = []
        with os.scandir(folder) as entries:
            for entry in entries:
                self._left -= 1
                if self._left < 0:
                    raise _TooManyError
                if is_ignored(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(folder / entry.name)
                else:
                    self._remember(entry, folder / entry.name)
        yield from sorted(below)

    def _remember(self, entry: os.DirEntry[str], path: Path) -> None:
        name = path.relative_to(self.folder).as_posix()
        if path.suffix != ".py":
            self.others.append(f"{name}, which {LINK}" if entry.is_symlink() else name)
        elif why := why_odd(entry):
            self.odd[name] = why
        else:
            self.scripts[name] = path

    def nothing(self) -> str:
        """Return what is said where there is no .py file."""
        found = f"found {some(sorted(self.others))}" if self.others else "it is empty"
        return f"no .py file in the folder: {found}"


def some(names: Iterable[str]) -> str:
    """Return the first of some names in a row, and how many more there are."""
    named = [shown(name, LONGEST_NAME) for name in names]
    more = f" and {len(named) - MOST_NAMES} more" if len(named) > MOST_NAMES else ""
    return ", ".join(named[:MOST_NAMES]) + more
