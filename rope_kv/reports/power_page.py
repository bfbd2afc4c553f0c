"""The power table to look at: one HTML page, with every catch as a square of one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..power.table import Catch, Power
from ..traps import all_traps
from .html import POLICY, STYLE
from .markup import Markup, document, element, together
from .power import adds, by_subject, figures, overall, ranked
from .tables import listed, terms

OWN_STYLE = Path(__file__).with_name("power.css")
TITLE = "power"
SIDE = 6  # of a square of the picture
COLUMNS = ("traps", "alone", "cases until then", "numbers in the smallest")


def page(power: Power) -> str:
    """Return the table as a file of its own: what all find, each property, each trap."""
    return document(
        TITLE,
        element(
            "main",
            element("header", element("h1", "What catches what"), terms(overall(power))),
            _picture(power),
            *_subjects(power),
            _traps(power),
        ),
        policy=POLICY,
        style="".join(path.read_text(encoding="utf-8") for path in (STYLE, OWN_STYLE)),
        class_="rope-kv page power",
    )


def _picture(power: Power) -> Markup:
    """Return a row of squares for each property: one where it catches a trap."""
    order = {name: x for x, name in enumerate(_alike(power))}
    rows, y = [], 0
    caught = power.by_property()
    for _, properties in by_subject(power):
        for prop in properties:
            squares = "".join(_square(order[catch.trap], y) for catch in caught[prop.name])
            rows.append(element("path", element("title", prop.title), d=squares))
            y += 1
        y += 1
    width, height = SIDE * len(order), SIDE * y
    drawing = element(
        "svg",
        *rows,
        viewBox=f"0 0 {width} {height}",
        width=str(width),
        height=str(height),
        role="img",
        aria_label="Which property catches which trap; the tables below say the same",
    )
    caption = element(
        "figcaption", "Each row is a property, subject by subject; each column is a trap."
    )
    return element("figure", element("div", drawing, class_="scroll", tabindex="0"), caption)


def _alike(power: Power) -> Sequence[str]:
    """Return the traps in an order in which those that the same property finds stand together."""
    place = {name: i for i, name in enumerate(power.properties)}
    first = {
        name: [place[catch.property] for catch in found] for name, found in power.by_trap().items()
    }
    return sorted(power.traps, key=lambda name: first[name])


def _square(x: int, y: int) -> str:
    return f"M{SIDE * x} {SIDE * y}h{SIDE - 1}v{SIDE - 1}h{1 - SIDE}z"


def _subjects(power: Power) -> list[Markup]:
    caught, added = power.by_property(), power.added()
    sections = []
    for subject, properties in by_subject(power):
        rows = [
            (
                _saying(prop.title, adds(prop.name, added[prop.name], in_full=True)),
                *figures(caught[prop.name], added[prop.name]),
            )
            for prop in properties
        ]
        table = listed(("property", *COLUMNS), rows, subject)
        sections.append(element("section", element("h2", subject), table))
    return sections


def _traps(power: Power) -> Markup:
    """Return each trap with what finds it, folded."""
    slips = {trap.name: trap.slip for trap in all_traps()}
    parts = [
        element(
            "details",
            element("summary", element("code", name), f" {slips.get(name, '')}"),
            _found(name, found),
        )
        for name, found in power.by_trap().items()
    ]
    return element("section", element("h2", "Each trap, and what finds it"), *parts)


def _found(trap: str, catches: Sequence[Catch]) -> Markup:
    rows = [(title, str(catch.after), str(catch.size)) for title, catch in ranked(catches)]
    return listed(("property", *COLUMNS[2:]), rows, trap)


def _saying(title: str, more: Sequence[str]) -> Markup:
    return together(title, *(element("small", line) for line in more))
