"""The table of the students, which can be sorted and filtered where the script runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..reports.markup import Markup, element, together
from ..testing.implementation import FUNCTIONS
from .links import address, in_a_row, linked_name
from .rows import Row, likeness, points_text
from .tallies import KINDS, kind

LONGEST_MESSAGE = 240  # letters; the report has the whole
MOST_NAMES = 3  # of those whose file is identical
# The states of a function, the best first, and how each looks.
_STATES = {
    "held": ("✓", "pass"), "known": ("✓", "pass"), "broken": ("✗", "fail"),
    "missing": ("✗", "fail"), "not_run": ("…", "open"), "not_checked": ("…", "open"),
}  # fmt: skip
_OTHER_STATE = ("…", "open")


class _Column(NamedTuple):
    """A column; it is sorted by text, or by numbers, which its cells need not show."""

    name: str
    label: str
    kind: Literal["text", "number"] = "text"


def section(rows: Sequence[Row], out_of: float | None) -> Markup:
    """Return the students, with what filters them."""
    columns = _columns(rows, out_of)
    head = [
        element("th", one.label, scope="col", class_=one.name, data_kind=one.kind)
        for one in columns
    ]
    body = [_row(row, columns) for row in rows]
    table = element(
        "table",
        element("thead", element("tr", *head)),
        element("tbody", *body),
        class_="students",
        aria_labelledby="students-heading",
    )
    heading = element("h2", "Students", id="students-heading")
    return element("section", heading, _filter(rows), table, id="students")


def _columns(rows: Sequence[Row], out_of: float | None) -> list[_Column]:
    has_points = out_of is not None or any(row.points is not None for row in rows)
    of = "" if out_of is None else f" of {points_text(out_of)}"
    return [
        _Column("name", "student"),
        _Column("verdict", "verdict", "number"),
        *([_Column("points", f"points{of}", "number")] if has_points else []),
        *(_Column(name, name, "number") for name in FUNCTIONS),
        _Column("broken", "broken", "number"),
        _Column("likeness", "looks like"),
        _Column("identical", "identical to"),
        _Column("message", "message"),
    ]


def _row(row: Row, columns: Sequence[_Column]) -> Markup:
    first, *others = columns
    return element(
        "tr",
        _cell("th", first, row, scope="row"),
        *(_cell("td", column, row) for column in others),
        data_verdict=row.verdict,
    )


def _cell(tag: str, column: _Column, row: Row, **attributes: str) -> Markup:
    """Return a cell with its label, for where the columns have no room beside each other."""
    shown, value = _content(column.name, row)
    if value is not None:
        attributes["data_value"] = value
    return element(tag, shown, data_label=column.label, class_=column.name, **attributes)


def _content(name: str, row: Row) -> tuple[Markup, str | None]:
    """Return what a cell shows, and by what it is sorted where that is something else."""
    if name == "name":
        return together(linked_name(row), *_details(row)), row.name
    if name == "verdict":
        shown = element("span", row.verdict, class_=f"state {kind(row)}")
        return shown, str(_place(row.verdict))
    if name == "points":
        points = "" if row.points is None else points_text(row.points)
        return together(points), points
    if name in FUNCTIONS:
        return _state(row.functions.get(name, ""))
    if name == "broken":
        return together(str(len(row.broken)) if row.outcomes else ""), None
    if name == "likeness":
        return together(likeness(row)), None
    if name == "identical":
        more = len(row.identical) - MOST_NAMES
        names = [element("bdi", one) for one in row.identical[:MOST_NAMES]]
        return together(in_a_row(names), f" and {more} more" if more > 0 else ""), None
    message = row.message
    if len(message) > LONGEST_MESSAGE:
        message = message[: LONGEST_MESSAGE - 1] + "…"
    return together(message), None


def _place(verdict: str) -> int:
    return list(KINDS).index(verdict) if verdict in KINDS else len(KINDS)


def _details(row: Row) -> list[Markup]:
    """Return the file, and the reports in other forms."""
    parts = [element("bdi", row.file)] if row.file else []
    if row.report:
        parts += [
            element("a", form, href=address(row, f".{form}"), aria_label=f"{form} of {row.name}")
            for form in ("txt", "json")
        ]
    return [element("small", in_a_row(parts, " ·"))] if parts else []


def _state(state: str) -> tuple[Markup, str]:
    if not state:
        return Markup(""), ""
    sign, look = _STATES.get(state, _OTHER_STATE)
    place = list(_STATES).index(state) if state in _STATES else len(_STATES)
    shown = element(
        "span",
        element("span", sign, aria_hidden="true"),
        " " + state.replace("_", " "),
        class_=f"state {look}",
    )
    return shown, str(place)


def _filter(rows: Sequence[Row]) -> Markup:
    """Return what the script filters by; it is hidden until the script runs."""
    times = Counter(row.verdict for row in rows)
    words = sorted(times, key=lambda word: (_place(word), word))
    options = [element("option", f"{word} ({times[word]})", value=word) for word in words]
    return element(
        "div",
        element("label", "Find ", element("input", type="search", id="find", autocomplete="off")),
        element(
            "label",
            "Verdict ",
            element("select", element("option", "any", value=""), *options, id="verdict"),
        ),
        element("span", "", id="shown", role="status"),
        class_="filter",
        hidden=True,
    )
