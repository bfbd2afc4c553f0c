"""Numbers and matrices as a person reads them: short, aligned, cut where they are large."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..testing.comparison import Broken

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
    return f"{about(ratio)} times the rounding bound"


def about(value: float) -> str:
    """Return a number from 0 in one digit, or in two where it is neither large nor small."""
    if value == 0 or not np.isfinite(value):
        return "∞" if value else "0"
    if 0.01 <= value < 1000:
        return f"{value:.2g}"
    digit, power = f"{value:.0e}".split("e")
    lead = "" if digit == "1" else f"{digit}·"
    return lead + power_of_ten(int(power))


def power_of_ten(power: int) -> str:
    """Return 10 with a raised exponent."""
    if power in (0, 1):
        return "10" if power else "1"
    return f"10{str(power).translate(SUPERSCRIPTS)}"


def digits(broken: Broken) -> int:
    """Return how many decimals show that the first entry of a breach that differs does so."""
    if broken.expected is None or broken.yours is None or broken.at is None:
        return 4
    return digits_to_differ(broken.expected[broken.at], broken.yours[broken.at])


def digits_to_differ(one: float, other: float) -> int:
    """Return how many decimals show that two numbers differ: 4, or as many as it takes."""
    for digits in range(4, 17):
        if f"{one:.{digits}f}" != f"{other:.{digits}f}":
            return digits
    return 17


def rows(
    matrices: list[Array], at: tuple[int, ...] | None, digits: int, most: int = MOST_COLUMNS
) -> list[list[str]]:
    """Return each of some matrices, or vectors, of one shape as lines of text.

    They are whole, or cut around the entry `at` to at most so many columns; an entry stands in the
    same column in all.
    """
    grids = [np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in matrices]
    height, width = grids[0].shape
    centre = (0,) * (2 - len(at or ())) + tuple(at or ())
    down, across = span(height, centre[0], MOST_ROWS), span(width, centre[1], most)
    entries = [[entry(v, digits) for v in row[across]] for grid in grids for row in grid[down]]
    columns = [_column(column) for column in zip(*entries, strict=True)]
    aligned = [list(row) for row in zip(*columns, strict=True)]
    count, end = down.stop - down.start, " .. ]" if across.stop - across.start < width else " ]"
    return [
        _lines(aligned[start : start + count], end, np.ndim(matrices[0]))
        + ([f"(rows {down.start} to {down.stop - 1} of {height})"] if count < height else [])
        + ([f"(columns {across.start} to {across.stop - 1} of {width})"] if end != " ]" else [])
        for start in range(0, len(aligned), count)
    ]


def _lines(aligned: list[list[str]], end: str, axes: int) -> list[str]:
    """Return the rows of one matrix, or a vector, in brackets."""
    lines = ["[ " + "  ".join(row) + end for row in aligned]
    if axes == 2:
        lines = [("[" if i == 0 else " ") + line for i, line in enumerate(lines)]
        lines[-1] += "]"
    return lines


def _column(cells: tuple[str, ...]) -> list[str]:
    """Return entries that stand one over the other: their decimal points do."""
    before = max(len(cell.partition(".")[0]) for cell in cells)
    lined_up = [" " * (before - len(cell.partition(".")[0])) + cell for cell in cells]
    return [cell.ljust(max(map(len, lined_up))) for cell in lined_up]


def entry(value: float, digits: int) -> str:
    """Return one number with some decimals, fewer where that is all of it."""
    if value == 0:
        return "0"
    if not np.isfinite(value):
        return str(value)
    if 0 < abs(value) < 10.0**-digits or abs(value) >= 1e6:
        return f"{value:.{min(digits, 4)}g}"
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if float(text) == value else text


def span(count: int, centre: int, most: int) -> slice:
    """Return the part of a range of `count` to show: at most `most`, with `centre` in it."""
    if count <= most:
        return slice(0, count)
    start = min(max(centre - 1, 0), count - most)
    return slice(start, start + most)


def many(count: int, one: str, more: str = "") -> str:
    """Return a count of what may be thousands, and its noun."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
