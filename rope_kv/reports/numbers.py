"""Numbers and matrices as a person reads them: short, aligned, cut where they are large."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST_ROWS = 6
MOST_COLUMNS = 6
HOPELESS = 1e100  # the bound of an entry that must be 0 is all but 0 itself
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def times(ratio: float | None) -> str:
    """Return how many rounding bounds an error is, in one or two digits."""
    if ratio is None:
        return ""
    if not np.isfinite(ratio):
        return "not a finite number"
    if ratio > HOPELESS:
        return "where nothing but 0 is right"
    if ratio < 1000:
        return f"{ratio:.3g} times the rounding bound"
    digit, power = f"{ratio:.0e}".split("e")
    lead = "" if digit == "1" else f"{digit}·"
    return f"{lead}10{str(int(power)).translate(SUPERSCRIPTS)} times the rounding bound"


def digits_to_differ(one: float, other: float) -> int:
    """Return how many decimals show that two numbers differ: 4, or as many as it takes."""
    for digits in range(4, 17):
        if f"{one:.{digits}f}" != f"{other:.{digits}f}":
            return digits
    return 17


def rows(values: Array, at: tuple[int, ...] | None, digits: int) -> list[str]:
    """Return a vector or matrix as lines of text, whole or cut around the entry `at`."""
    grid = np.atleast_2d(np.asarray(values, dtype=np.float64))
    centre = (0,) * (2 - len(at or ())) + tuple(at or ())
    down = _span(len(grid), centre[0], MOST_ROWS)
    across = _span(grid.shape[1], centre[1], MOST_COLUMNS)
    cells = [[_entry(value, digits) for value in row[across]] for row in grid[down]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cut = across.stop - across.start < grid.shape[1]
    lines = [
        "[ " + "  ".join(map(str.ljust, row, widths)) + (" .. ]" if cut else " ]") for row in cells
    ]
    if np.ndim(values) == 2:
        lines = [("[" if i == 0 else " ") + line for i, line in enumerate(lines)]
        lines[-1] += "]"
    if down.stop - down.start < len(grid):
        lines.append(f"(rows {down.start} to {down.stop - 1} of {len(grid)})")
    if cut:
        lines.append(f"(columns {across.start} to {across.stop - 1} of {grid.shape[1]})")
    return lines


def _entry(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    if not np.isfinite(value):
        return str(value)
    if 0 < abs(value) < 10.0**-digits or abs(value) >= 1e6:
        return f"{value:.{min(digits, 4)}g}"
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if float(text) == value else text


def _span(count: int, centre: int, most: int) -> slice:
    """Return the part of a range of `count` to show: at most `most`, with `centre` in it."""
    if count <= most:
        return slice(0, count)
    start = min(max(centre - 1, 0), count - most)
    return slice(start, start + most)
