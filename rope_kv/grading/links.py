"""A student's name on a page, and the way to the reports."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from ..reports.markup import Markup, element, together
from .rows import Row


def linked_name(row: Row) -> Markup:
    """Return the name of a student, as a link to the report where there is one."""
    # A name that is read from right to left does not turn what is beside it.
    name = element("bdi", row.name)
    return element("a", name, href=address(row, ".html")) if row.report else name


def address(row: Row, ending: str) -> str:
    """Return where a report of a student is, relative to the page whatever it is called."""
    return "./" + quote(row.report + ending, errors="surrogateescape")


def in_a_row(parts: Iterable[Markup], between: str = ",") -> Markup:
    """Return some parts with something and a space between them."""
    return Markup((together(between) + " ").join(parts))
