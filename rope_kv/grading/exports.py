"""What Moodle and Gradescope pack into a folder, and whose it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

METADATA = "submission_metadata.yml"
_GRADESCOPE_EXPORT = re.compile(r"assignment_\d+_export")
_GRADESCOPE_FOLDER = re.compile(r"submission_\d+")
# Moodle: "Full Name_123456_assignsubmission_file_" is a folder; without folders, the name of the
# file follows. The folder of an answer that was typed in says onlinetext instead.
_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?",
    re.S,
)
ONLY_TEXT = "only a text that was typed into Moodle, no file"
NO_YAML = (
    f"the names in {METADATA} cannot be read without PyYAML, so the folders give the names: "
    "pip install 'rope_kv[grade]'"
)


class Person(NamedTuple):
    """Who handed something in; `number` tells apart who have the same name."""

    name: str
    number: str


class FromMoodle(NamedTuple):
    """What the name of a file or folder of Moodle says; `file` is what the student called it."""

    person: Person
    is_text: bool
    file: str


def from_moodle(name: str) -> FromMoodle | None:
    """Return what the name of a file or folder says, or None where Moodle did not give it."""
    found = _MOODLE.fullmatch(name)
    if found is None:
        return None
    person = Person(found["name"], found["number"])
    return FromMoodle(person, found["kind"] == "onlinetext", found["file"] or "")


def is_one_students(folder: str) -> bool:
    """Return whether a folder is one student's by its name, and not a whole class."""
    return bool(_GRADESCOPE_FOLDER.fullmatch(folder) or from_moodle(folder))


def is_gradescope_export(folder: str) -> bool:
    """Return whether a folder is called as one that Gradescope packs."""
    return bool(_GRADESCOPE_EXPORT.fullmatch(folder))


def gradescope_names(folder: Path, note: Callable[[str], None]) -> dict[str, Person]:
    """Return who handed in each folder of a Gradescope export; {} where nothing says so.

    A group is one: its members' names in a row. What cannot be read is told by `note`.
    """
    path = folder / METADATA
    if path.is_symlink() or not path.is_file():
        return {}
    try:
        import yaml
    except ImportError:
        note(NO_YAML)
        return {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # With tests in it, it is megabytes.
    try:
        with path.open("rb") as file:
            # The nodes alone: no tag is followed, no alias multiplied, and 007 stays 007.
            root = yaml.compose(file, Loader=loader)
    except (yaml.YAMLError, OSError, RecursionError, ValueError) as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        note(f"{METADATA} cannot be read, so the folders give the names: {said}")
        return {}
    return {
        key: _together(members)
        for key, about in _pairs(root)
        if (members := [_person(one) for one in _items(dict(_pairs(about)).get(":submitters"))])
    }


def _together(members: list[Person]) -> Person:
    members = sorted(members)
    return Person(", ".join(one.name for one in members), ", ".join(one.number for one in members))


def _person(node: Any) -> Person:
    told = {key: str(one.value) for key, one in _pairs(node) if isinstance(one.value, str)}
    number = told.get(":sid") or told.get(":email") or ""
    return Person(told.get(":name") or number or "(no name)", number)


def _pairs(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a mapping, and nothing of anything else."""
    if getattr(node, "id", "") == "mapping":
        yield from ((key.value, one) for key, one in node.value if isinstance(key.value, str))


def _items(node: Any) -> Iterator[Any]:
    if getattr(node, "id", "") == "sequence":
        yield from node.value
