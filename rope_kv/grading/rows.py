"""What came of each student's file: results.csv for people, results.jsonl for programs.

Neither holds a time or a date: the same class gives the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..testing.implementation import FUNCTIONS
from ..testing.plain import one_line

MISSING = "MISSING"
COLUMNS = (
    "name", "file", "verdict", "points", *FUNCTIONS, "looks like", "broken properties",
    "identical to", "message",
)  # fmt: skip
# With these a spreadsheet begins a formula; a full-width sign is one in some languages.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


class Row(NamedTuple):
    """What came of one student's file.

    `verdict` is that of the check, or "MISSING" where there was no file. `functions` are their
    states as in `Verdict.functions`, `outcomes` those of the properties, by name. `looks_like`
    are the names of the traps that a function behaves like: several where nothing tells them
    apart. `identical` are the other students whose file has the same bytes. `report` is where
    the reports are, without .txt, .json or .html; "" where there are none.
    """

    name: str
    file: str
    verdict: str
    message: str = ""
    functions: Mapping[str, str] = {}
    looks_like: Mapping[str, tuple[str, ...]] = {}
    outcomes: Mapping[str, str] = {}
    identical: tuple[str, ...] = ()
    points: float | None = None
    report: str = ""

    @property
    def broken(self) -> list[str]:
        """The names of the properties that are broken, in reading order."""
        return [name for name, outcome in self.outcomes.items() if outcome == "broken"]


def csv_text(rows: Iterable[Row]) -> str:
    """Return a table for a spreadsheet, as RFC 4180 says: a line for each student.

    Every cell is one line of text in which nothing acts. One that begins as a formula does has
    an apostrophe before it, so that a spreadsheet shows it and does not compute it.
    """
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(_defused(cell) for cell in _cells(row))
    return written.getvalue()


def jsonl_text(rows: Iterable[Row]) -> str:
    """Return a JSON object for each student, in one line; ASCII, as they may be shown anywhere."""
    return "".join(json.dumps(_fields(row), allow_nan=False) + "\n" for row in rows)


def _fields(row: Row) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, Mapping) else value
        for name, value in row._asdict().items()
    }


def likeness(row: Row) -> str:
    """Return what mistakes a row looks like, function by function, in words."""
    return "; ".join(
        f"{function}: {' or '.join(names)}" for function, names in row.looks_like.items() if names
    )


def points_text(points: float) -> str:
    """Return points as a person writes them: 10, 9.5, 0.3."""
    return f"{points:.10g}"


def _cells(row: Row) -> tuple[str | float, ...]:
    return (
        row.name,
        row.file,
        row.verdict,
        "" if row.points is None else row.points,
        *(row.functions.get(name, "").replace("_", " ") for name in FUNCTIONS),
        likeness(row),
        "; ".join(name.replace("_", " ") for name in row.broken),
        "; ".join(row.identical),
        row.message,
    )


def _defused(cell: str | float) -> str:
    if not isinstance(cell, str):
        return points_text(cell)
    line = one_line(cell)
    return f"'{line}" if line.startswith(_FORMULA) else line
