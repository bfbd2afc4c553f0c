"""The overview of a class to look at: one HTML page, with a table that can be sorted.

It needs nothing but itself and the reports beside it. Its policy allows the one script and the
one style that are in it, by their hashes, and no other; without the script all is there to read.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from ..reports.html import STYLE
from ..reports.markup import Markup, document, element
from ..reports.tables import terms
from .links import in_a_row, linked_name
from .rows import Row, points_text
from .students import section
from .tallies import KINDS, Mistake, Tally, identical, kind, marks, mistakes, tallies, words

FOLDER = Path(__file__).parent
MOST_NAMES = 12  # of students in a row; the others are folded
_COUNTED = {"pass": "pass", "fail": "fail", "open": "could not be judged"}


def page(
    rows: Sequence[Row],
    *,
    title: str,
    about: Sequence[tuple[str, str]],
    out_of: float | None,
) -> str:
    """Return the overview as a file of its own.

    `about` are labels and what belongs to each, such as the profile. `out_of` are the points that
    there are, where they are given. The reports are linked where the rows say they are, relative
    to this page.
    """
    style = _text(STYLE) + _text(FOLDER / "overview.css")
    script = Markup(_text(FOLDER / "overview.js"))
    return document(
        title,
        element("a", "Skip to the students", href="#students", class_="skip"),
        element(
            "main",
            _header(rows, title, about, out_of),
            _mistakes(mistakes(rows), len(rows)),
            _identical(identical(rows)),
            _properties(rows),
            section(rows, out_of),
        ),
        element("script", script),
        policy=policy(style, script),
        style=style,
        class_="rope-kv page overview",
    )


def policy(style: str, script: str) -> str:
    """Return the policy of a page with one style and one script, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _header(
    rows: Sequence[Row], title: str, about: Sequence[tuple[str, str]], out_of: float | None
) -> Markup:
    """Return how many pass, and what was graded how."""
    times = {of: sum(kind(row) == of for row in rows) for of in dict.fromkeys(KINDS.values())}
    counts = [
        element(
            "li",
            element("strong", str(times[of])),
            f" {_COUNTED[of]}",
            *([element("small", words(rows, of))] if of != "pass" and times[of] else []),
            class_=of,
        )
        for of in times
    ]
    told = [("students", str(len(rows))), *about]
    if said := marks(rows):
        told.append(("points", said + (f", of {points_text(out_of)}" if out_of else "")))
    return element(
        "header",
        element("h1", title),
        element("ul", *counts, class_="counts"),
        _bar(times["pass"], times["fail"], times["open"]),
        terms(told),
    )


def _bar(held: int, broken: int, unknown: int) -> Markup:
    """Return a bar of three parts; a style would be refused, an attribute of SVG is none."""
    parts, x = [], 0
    for width, of in ((held, "pass"), (broken, "fail"), (unknown, "open")):
        if width:
            parts.append(element("rect", x=str(x), width=str(width), height="1", class_=of))
        x += width
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {max(x, 1)} 1",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )


def _mistakes(made: Sequence[Mistake], all_: int) -> Markup:
    if not made:
        return Markup("")
    items = [_mistake(one, all_) for one in made]
    return element(
        "section",
        element("h2", "Common mistakes"),
        element("p", "What the files behave like, as far as that was found out."),
        element("ol", *items, class_="mistakes"),
    )


def _mistake(one: Mistake, all_: int) -> Markup:
    names = in_a_row((element("code", name) for name in one.names), " or")
    slips = [element("p", slip) for slip in dict.fromkeys(one.slips) if slip]
    return element(
        "li",
        element("span", element("strong", str(len(one.students))), f" of {all_}", class_="many"),
        element("div", element("h3", names, f" in {one.function}"), *slips, _who(one.students)),
    )


def _identical(groups: Sequence[Sequence[Row]]) -> Markup:
    if not groups:
        return Markup("")
    items = [
        element(
            "li",
            element("span", element("strong", str(len(group))), " files", class_="many"),
            element("div", _who(group)),
        )
        for group in groups
    ]
    return element(
        "section",
        element("h2", "Identical files"),
        element("p", "The same bytes, handed in by several."),
        element("ol", *items, class_="mistakes"),
    )


def _who(rows: Sequence[Row]) -> Markup:
    """Return who is meant, folded where they are many."""
    names = element("p", in_a_row(map(linked_name, rows)), class_="who")
    if len(rows) <= MOST_NAMES:
        return names
    return element("details", element("summary", f"{len(rows)} students"), names)


def _properties(rows: Sequence[Row]) -> Markup:
    """Return how many obey each property, folded, under how many have each function right."""
    counted = tallies(rows)
    if not counted:
        return Markup("")
    parts = []
    for function, of_it in groupby(counted, lambda one: one.function):
        table = element("table", element("tbody", *map(_property, of_it)), class_="tallies")
        parts.append(element("details", _function(rows, function), table, class_="function"))
    intro = element("p", "How many have each function right; inside, each property of it.")
    return element("section", element("h2", "Functions and their properties"), intro, *parts)


def _function(rows: Sequence[Row], name: str) -> Markup:
    """Return what is seen of a function while its properties are folded."""
    states = [row.functions[name] for row in rows if name in row.functions]
    held = sum(state in ("held", "known") for state in states)
    broken = sum(state in ("broken", "missing") for state in states)
    told = [element("strong", f" {held} of {len(states)}")] if states else []
    bar = [_bar(held, broken, len(states) - held - broken)] if states else []
    return element("summary", element("h3", element("code", name or "others")), *told, *bar)


def _property(one: Tally) -> Markup:
    missed = [f"{one.broken} broken"] if one.broken else []
    missed += [f"{one.unknown} not judged"] if one.unknown else []
    return element(
        "tr",
        element("th", one.title, element("code", one.law), scope="row"),
        element(
            "td",
            _bar(one.held, one.broken, one.unknown),
            element("strong", f"{one.held} of {one.all_}"),
            *([element("small", ", ".join(missed))] if missed else []),
        ),
    )
