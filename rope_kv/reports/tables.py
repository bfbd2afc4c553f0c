"""Matrices as tables: what was expected and what came, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..testing.comparison import Broken
from . import numbers
from .markup import Markup, element, together

Array = NDArray[np.float64]
# More is shown around the first entry that differs.
MOST_ROWS = 12
MOST_COLUMNS = 12
FEW_COLUMNS = 4  # as many have room on a phone


def both(broken: Broken) -> Markup:
    """Return the tables of what a breach expected, if it says so, and of what came."""
    if broken.yours is None:
        return Markup("")
    digits, tables = numbers.digits(broken), []
    expected, yours = broken.sides
    if broken.expected is not None:
        tables.append(_matrix(expected, broken.expected, broken.yours, broken.at, digits, False))
    tables.append(_matrix(yours, broken.yours, broken.expected, broken.at, digits, True))
    return element("div", *tables, class_="matrices")


def _matrix(
    name: str,
    values: Array,
    other: Array | None,
    at: tuple[int, ...] | None,
    digits: int,
    is_marked: bool,
) -> Markup:
    """Return one matrix; where `is_marked`, what reads otherwise in the other one stands out."""
    grid = np.atleast_2d(np.asarray(values, dtype=np.float64))
    beside = grid if other is None else np.atleast_2d(np.asarray(other, dtype=np.float64))
    if beside.shape != grid.shape:
        beside = grid
    row, column = (0, 0, *(at or ()))[-2:]
    down = numbers.span(len(grid), row, MOST_ROWS)
    across = numbers.span(grid.shape[1], column, MOST_COLUMNS)
    head = element(
        "tr",
        element("td"),
        *(element("th", str(j), scope="col") for j in range(across.start, across.stop)),
    )
    body = []
    for i in range(down.start, down.stop):
        cells = [element("th", str(i), scope="row")]
        for value, twin in zip(grid[i, across], beside[i, across], strict=True):
            written = numbers.entry(value, digits)
            differs = is_marked and written != numbers.entry(twin, digits)
            cells.append(element("td", element("mark", written) if differs else written))
        body.append(element("tr", *cells))
    part = []
    if down.stop - down.start < len(grid):
        part.append(f"rows {down.start} to {down.stop - 1} of {len(grid)}")
    if across.stop - across.start < grid.shape[1]:
        part.append(f"columns {across.start} to {across.stop - 1} of {grid.shape[1]}")
    caption = element("caption", name + (f" ({', '.join(part)})" if part else ""))
    table = element(
        "table", caption, element("thead", head), element("tbody", *body), class_="matrix"
    )
    return scrolling(table, name, across.stop - across.start > FEW_COLUMNS)


def scrolling(table: Markup, name: str, is_wide: bool = True) -> Markup:
    """Return a box that scrolls where the table is wider than the page, by keyboard as well."""
    if not is_wide:
        return element("div", table, class_="scroll")
    return element(
        "div", table, class_="scroll", tabindex="0", role="region", aria_label=f"{name}, a table"
    )


def terms(told: Sequence[tuple[str, str]]) -> Markup:
    """Return what is told as a list of labels and what belongs to each."""
    return element(
        "dl", *(together(element("dt", label), element("dd", value)) for label, value in told)
    )


def listed(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]], name: str) -> Markup:
    """Return a table with headings, the first cell of each row being what the row is about."""
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = [
        element(
            "tr",
            element("th", first, scope="row"),
            *(element("td", cell) for cell in others),
        )
        for first, *others in rows
    ]
    table = element("table", element("thead", head), together(element("tbody", *body)))
    return scrolling(table, name)
