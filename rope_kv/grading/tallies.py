"""What the rows of a class add up to: counted, ranked, and without a word of how it looks."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..testing.implementation import FUNCTIONS
from ..testing.property import all_properties, comparing_properties
from ..traps import NoTrapError, find_trap
from .rows import MISSING, Row, points_text

# The verdicts, the best first, and what they come to for a class.
KINDS = {
    "PASS": "pass",
    "FAIL": "fail",
    "CRASH": "fail",
    "TIMEOUT": "fail",
    "PROTOCOL": "fail",
    "LOAD_ERROR": "fail",
    "NOT_RUN": "open",
    "GRADER_ERROR": "open",
    MISSING: "open",
}


class Tally(NamedTuple):
    """How many obey a property; `unknown` are those of whom that was not found out."""

    function: str
    title: str
    law: str
    held: int
    broken: int
    unknown: int

    @property
    def all_(self) -> int:
        """How many it was asked of."""
        return self.held + self.broken + self.unknown


class Mistake(NamedTuple):
    """A mistake that some made: one trap, or several that nothing tells apart."""

    function: str
    names: tuple[str, ...]
    slips: tuple[str, ...]
    students: tuple[Row, ...]


def kind(row: Row) -> str:
    """Return "pass", "fail", or "open" where it could not be judged."""
    return KINDS.get(row.verdict, "open")


def words(rows: Iterable[Row], of: str) -> str:
    """Return how often each verdict of a kind is there: "12 FAIL, 3 TIMEOUT"."""
    times = Counter(row.verdict for row in rows if kind(row) == of)
    ranked = sorted(times, key=lambda word: (-times[word], word))
    return ", ".join(f"{times[word]} {word}" for word in ranked)


def marks(rows: Iterable[Row]) -> str:
    """Return the mean and the median of the points in words, or "" where there are none."""
    points = [row.points for row in rows if row.points is not None]
    if not points:
        return ""
    mean, median = statistics.fmean(points), statistics.median(points)
    return f"mean {points_text(round(mean, 2))}, median {points_text(round(median, 2))}"


def tallies(rows: Sequence[Row]) -> list[Tally]:
    """Return how many obey each property that was asked of anyone, in reading order."""
    times: dict[str, Counter[str]] = {}
    for row in rows:
        for name, outcome in row.outcomes.items():
            times.setdefault(name, Counter())[outcome] += 1
    known = {prop.name: prop for prop in (*all_properties(), *comparing_properties())}
    found = []
    for name in (*(one for one in known if one in times), *(times.keys() - known.keys())):
        prop, count = known.get(name), times[name]
        function, law = (prop.function, prop.law) if prop else ("", "")
        held, broken = count["held"] + count["known"], count["broken"]
        unknown = count.total() - held - broken
        found.append(Tally(function, name.replace("_", " "), law, held, broken, unknown))
    return sorted(found, key=lambda one: _place(one.function))


def _place(function: str) -> tuple[int, str]:
    if function in FUNCTIONS:
        return FUNCTIONS.index(function), ""
    return len(FUNCTIONS), function


def mistakes(rows: Iterable[Row]) -> list[Mistake]:
    """Return the mistakes that were recognised, the most common first."""
    made: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
    for row in rows:
        for function, names in row.looks_like.items():
            if names:
                made.setdefault((function, names), []).append(row)
    ranked = sorted(made, key=lambda one: (-len(made[one]), _place(one[0]), one[1]))
    return [
        Mistake(function, names, tuple(map(_slip, names)), tuple(made[function, names]))
        for function, names in ranked
    ]


def _slip(name: str) -> str:
    try:
        return find_trap(name).slip
    except NoTrapError:
        return ""


def identical(rows: Iterable[Row]) -> list[tuple[Row, ...]]:
    """Return the students whose files are the same, group by group, the largest first."""
    groups: dict[frozenset[str], list[Row]] = {}
    for row in rows:
        if row.identical:
            groups.setdefault(frozenset((row.name, *row.identical)), []).append(row)
    return sorted(map(tuple, groups.values()), key=lambda group: -len(group))
