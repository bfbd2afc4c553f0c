"""A CSV file that says which file is whose, as a spreadsheet writes it."""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

from .folders import Choice, chosen_in, why_odd
from .submission import Found, SubmissionsError, linked, shown

COLUMNS = ("name", "path")
_DELIMITERS = (",", ";", "\t")  # Excel writes ; where a comma is in numbers.


def listed(path: Path, file_name: str) -> Iterator[Found]:
    """Yield what each line of a CSV file names; a path is relative to the file."""
    for number, name, where in _lines(path):
        apart = where or f"line {number}"
        name = name or Path(where).stem
        place = path.parent / where
        if not where:
            found = Choice(None, f"no path in line {number} of {shown(path.name)}")
        else:
            found = _at(place, path.parent, file_name)
        yield Found(name, place, found.file, found.problem, apart)


def _at(place: Path, below: Path, file_name: str) -> Choice:
    """Return the file at a path, or in the folder there."""
    try:
        if why := linked(place, below):
            return Choice(None, f"{why}: ask for the file itself")
        if place.is_dir():
            return chosen_in(place, file_name)
        if not os.path.lexists(place):
            return Choice(None, f"there is no {shown(str(place))}")
        if why := why_odd(place):
            return Choice(None, f"{shown(place.name)} {why}")
    except (OSError, ValueError) as error:  # a name too long, a folder not to be entered, a NUL
        said = getattr(error, "strerror", None) or error
        return Choice(None, f"cannot read {shown(str(place))}: {shown(str(said))}")
    if place.suffix != ".py":
        return Choice(None, f"{shown(place.name)} does not end in .py")
    return Choice(place)


def _lines(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the number, name and path of each line that is not empty."""
    text = _text(path)
    head = next(iter(text.splitlines()), "")  # A Mac may end its lines by CR alone.
    for delimiter in _DELIMITERS:
        columns = _columns(head, delimiter)
        if set(COLUMNS) <= set(columns):
            break
    else:
        found = ", ".join(_columns(head, ",")) or "nothing"
        raise SubmissionsError(
            f"{path}: the first line must name the columns name and path, found {shown(found)}"
        )
    at_name, at_path = (columns.index(column) for column in COLUMNS)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        next(reader)
        for cells in reader:
            cells = [*map(str.strip, cells), *[""] * len(columns)]
            if any(cells):
                yield reader.line_num, cells[at_name], cells[at_path]
    except csv.Error as error:
        raise SubmissionsError(f"{path}: line {reader.line_num} is not CSV: {error}") from None


def _columns(line: str, delimiter: str) -> list[str]:
    return [cell.strip(' "\r').casefold() for cell in line.split(delimiter)]


def _text(path: Path) -> str:
    """Return the text of a file in what a spreadsheet writes: UTF-8, UTF-16, or Windows' own."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SubmissionsError(f"cannot read {path}: {error.strerror}") from None
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise SubmissionsError(f"{path} is not text: save it as CSV in UTF-8")
