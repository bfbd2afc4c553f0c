"""Who handed in what: the file of each student, wherever a class keeps them.

A folder, a list or an export is read and never written to. What students name is untrusted: no
symbolic link is followed, no folder is looked through without end, and what is wrong with one
submission is that student's problem, not the class's.
"""

from __future__ import annotations

import glob
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from ..testing.plain import one_line
from .exports import (
    ONLY_TEXT,
    FromMoodle,
    Person,
    from_moodle,
    gradescope_names,
    is_gradescope_export,
    is_one_students,
)
from .folders import Choice, chosen, chosen_in, is_ignored, some, why_odd
from .listing import listed
from .stems import folder_names
from .submission import LINK, Found, Submission, SubmissionsError, linked, shown

__all__ = ["Submission", "SubmissionsError", "find", "folder_names"]
Note = Callable[[str], None]


def find(
    sources: Sequence[str | Path],
    file_name: str = "",
    note: Note = lambda said: None,
    ours: Iterable[Path] = (),
) -> list[Submission]:
    """Return what each student handed in, by name; no two have the same name.

    A source is a .py file, named by its stem; a pattern with *; a folder of .py files, each one
    student's; a folder with a folder for each student; a CSV file with the columns name and path;
    or what Gradescope or Moodle exports, unpacked. Where several folders are named, one that
    itself has the file `file_name` is one student's.

    Where several have the same name, each is followed by what tells it apart: "Ada (7)" by the
    number of the student, "solution (ada)" by the folder around; and where that is the same too,
    by a number in the order of their paths.

    Parameters
    ----------
    sources : paths or patterns
        What is found twice is returned once.
    file_name : str
        Which file to check where a student has several, such as "solution.py".
    note : callable
        Told in a sentence what is not as it could be, such as names that cannot be read.
    ours : paths
        What is no student's, such as the folder of the results among those of the students.

    Raises
    ------
    SubmissionsError
        Where a source is none of these, or nothing at all is found.

    """
    _expect_relative(file_name)
    left_out = frozenset(map(_place_of, ours))
    places = [(path, below) for path, below in _places(sources) if _place_of(path) not in left_out]
    if sources and not places:
        raise SubmissionsError(
            f"{', '.join(map(str, sources))} is where results go: name the submissions as well"
        )
    read = _Reading(file_name, note, left_out, are_several=len(places) > 1)
    found = [one for path, below in places for one in read.at(path, below)]
    if not found:
        raise SubmissionsError(
            f"no submission in {', '.join(map(str, sources)) or 'nothing'}: "
            "name .py files, a folder of them, a folder with a folder for each student, or a CSV"
        )
    return _with_unique_names(found)


def _expect_relative(file_name: str) -> None:
    wanted = PurePath(file_name)
    if file_name and (wanted.is_absolute() or ".." in wanted.parts or wanted.suffix != ".py"):
        raise SubmissionsError(
            f"the file to check must be a name that ends in .py, found {file_name!r}"
        )


def _places(sources: Iterable[str | Path]) -> Iterator[tuple[Path, Path]]:
    """Yield each path that is named, and the folder below which links are looked for.

    What several paths have in common was meant by who named them; below that, a shell may have
    filled in what a student made.
    """
    named = []
    for given in sources:
        source = os.path.expanduser(given)
        if os.path.lexists(source):
            named.append(Path(source))
        elif glob.has_magic(source):
            yield from _matching(source)
        else:
            raise SubmissionsError(f"there is no {source}")
    folders = [path.absolute().parent for path in named]
    common = Path(os.path.commonpath(folders)) if folders else Path()
    if len(named) == 1 and (why := linked(named[0], common)) and os.path.isdir(named[0]):
        raise SubmissionsError(f"{why}: name the folder it points to")
    yield from ((path, common) for path in named)


def _matching(pattern: str) -> Iterator[tuple[Path, Path]]:
    if "**" in pattern:
        raise SubmissionsError(f"{pattern}: ** is not looked for, say * for each folder")
    steps = Path(pattern).parts
    fixed = next(i for i, step in enumerate(steps) if glob.has_magic(step))
    below = Path(*steps[:fixed])
    matches = [Path(match) for match in sorted(glob.glob(pattern))]
    kept = [
        path for path in matches if not any(map(is_ignored, path.parts[fixed:])) and _is_any(path)
    ]
    if not kept:
        raise SubmissionsError(f"nothing that could be a submission matches {pattern}")
    yield from ((path, below) for path in kept)


def _is_any(path: Path) -> bool:
    return path.suffix == ".py" or os.path.islink(path) or os.path.isdir(path)


class _Reading(NamedTuple):
    """How what is named is read; see `find`."""

    file_name: str
    note: Note
    left_out: frozenset[str]
    are_several: bool

    def at(self, path: Path, below: Path) -> Iterator[Found]:
        """Yield what is at a path that was named."""
        if why := linked(path, below):
            yield Found(path.stem, path, None, f"{why}: name what it points to", _around(path))
        elif os.path.isdir(path):
            yield from self._in_folder(path)
        elif path.suffix == ".csv":
            yield from listed(path, self.file_name)
        elif path.suffix == ".py":
            yield self._file(path)
        else:
            raise SubmissionsError(f"{path} is neither a .py file nor a folder nor a CSV")

    def _in_folder(self, folder: Path) -> Iterator[Found]:
        """Yield what is in a folder: one student's, a whole class's, or an export."""
        has_it = bool(self.file_name) and os.path.lexists(folder / self.file_name)
        if is_one_students(folder.name) or (self.are_several and has_it):
            yield self._folder(folder, {})
            return
        entries = self._entries(folder)
        if len(entries) == 1 and is_gradescope_export(entries[0].name) and _is_folder(entries[0]):
            folder = entries[0]
            entries = self._entries(folder)
        people = gradescope_names(folder, self.note)
        moodle: dict[Person, list[tuple[Path, FromMoodle]]] = {}
        for path in entries:
            if (said := from_moodle(path.name)) is not None:
                moodle.setdefault(said.person, []).append((path, said))
            elif os.path.islink(path):
                yield Found(path.stem, path, None, f"{shown(path.name)} {LINK}", folder.name)
            elif os.path.isdir(path):
                yield self._folder(path, people)
            elif path.suffix == ".py":
                yield self._file(path)
        yield from (self._of_moodle(who, parts) for who, parts in moodle.items())
        for name in sorted(people.keys() - {path.name for path in entries}):
            who, place = people[name], folder / name
            yield Found(who.name, place, None, f"there is no folder {shown(name)}", who.number)

    def _entries(self, folder: Path) -> list[Path]:
        return [path for path in _entries(folder) if _place_of(path) not in self.left_out]

    def _file(self, path: Path) -> Found:
        if said := from_moodle(path.name):
            return self._of_moodle(said.person, [(path, said)])
        if why := why_odd(path):
            problem = f"{shown(path.name)} {why}"
            return Found(path.stem, path, None, problem, _around(path))
        return Found(path.stem, path, path, apart=_around(path))

    def _folder(self, folder: Path, people: Mapping[str, Person]) -> Found:
        said = from_moodle(folder.name)
        named = said.person if said else Person(folder.name, _around(folder))
        who = people.get(folder.name, named)
        choice = chosen_in(folder, self.file_name)
        apart = who.number or folder.name
        return Found(who.name, folder, choice.file, choice.problem, apart)

    def _of_moodle(self, who: Person, parts: Sequence[tuple[Path, FromMoodle]]) -> Found:
        """Return what one student handed in: a folder, or some files beside each other."""
        place = parts[0][0]
        files = [(path, said.file) for path, said in parts if not said.is_text]
        for path, _ in files:
            if _is_folder(path):
                return self._folder(path, {})
        named = {name or path.name: path for path, name in files if name[-3:] in (".py", "")}
        odd = {name: why for name, path in named.items() if (why := why_odd(path))}
        scripts = {name: path for name, path in named.items() if name not in odd}
        said = f"no .py file: found {some(name for _, name in files)}" if files else ONLY_TEXT
        choice = chosen(scripts, odd, self.file_name) or Choice(None, said)
        return Found(who.name, choice.file or place, choice.file, choice.problem, who.number)


def _entries(folder: Path) -> list[Path]:
    """Return what is in a folder, by name, but for what programs leave behind."""
    try:
        return sorted(folder / name for name in os.listdir(folder) if not is_ignored(name))
    except OSError as error:
        raise SubmissionsError(f"cannot read {folder}: {error.strerror}") from None


def _place_of(path: Path) -> str:
    """Return a path by which a file or folder is known again; where it is a link, the link's."""
    path = path.absolute()
    return os.path.join(os.path.realpath(path.parent), path.name)


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _around(path: Path) -> str:
    return path.absolute().parent.name


def _with_unique_names(found: Sequence[Found]) -> list[Submission]:
    once = {(shown(one.name), one.place.absolute()): one for one in found}
    kept = [once[key] for key in sorted(once)]
    names = _told_apart([shown(one.name) for one in kept], [shown(one.apart) for one in kept])
    submissions = [
        Submission(name, one.file, one_line(one.problem))
        for name, one in zip(names, kept, strict=True)
    ]
    return sorted(submissions, key=lambda one: (one.name.casefold(), one.name))


def _told_apart(names: list[str], apart: list[str]) -> list[str]:
    """Return the names, those that are there twice with what tells them apart."""
    times = Counter(names)
    longer = [
        name if times[name] == 1 else f"{name} ({by})"
        for name, by in zip(names, apart, strict=True)
    ]
    times = Counter(longer)
    taken = {name for name in longer if times[name] == 1}
    unique = []
    for name in longer:
        numbered = (f"{name} ({number})" for number in itertools.count(1))
        free = name if times[name] == 1 else next(one for one in numbered if one not in taken)
        taken.add(free)
        unique.append(free)
    return unique
