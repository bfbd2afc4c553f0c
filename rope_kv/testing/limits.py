"""The limits that an implementation declares: the numbers, widths and positions they allow."""

from __future__ import annotations

import math

import numpy as np

from .capabilities import Capabilities
from .cases import Case, Matrix
from .forms import dtype_of
from .library_cases import Scaling
from .scaling_bounds import is_well_conditioned

# Between these lies the largest number of rows in 16 bits, so that no product overflows.
LARGEST, SMALLEST = 4.0, 2.0**-4


class Limits:
    """The limits that are declared; `end` is the first position that is not there."""

    def __init__(self, declared: Capabilities) -> None:
        self.declared = declared
        self.end = declared.max_position or math.inf

    def scaling(self, scaling: Scaling, d: int, base: float) -> Scaling:
        """Return a scaling of d entries by a rule that is known; none where there is no such."""
        rule, half = scaling.rule, len(scaling.numbers) // 2
        if rule not in self.declared.scaling or (rule in ("ntk", "dynamic") and d < 4):
            return Scaling()
        if rule == "longrope":
            tables = scaling.numbers[:half], scaling.numbers[half:]
            numbers = (number for table in tables for number in (table * d)[: d // 2])
            return scaling._replace(numbers=tuple(numbers))
        counted = scaling._replace(length=scaling.length or 1)
        return scaling if is_well_conditioned(d, base, counted.mapping()) else Scaling()

    def width(self, width: int) -> int:
        """Return the next width that is allowed."""
        step = self.declared.width_multiple or 2
        return -(-max(width, self.declared.min_width or 2) // step) * step

    def matrix(self, rows: Matrix) -> Matrix:
        """Return rows whose numbers the precision holds exactly."""
        dtype = self.declared.dtype
        if dtype == "float64" or not rows:
            return rows
        numbers = np.array(rows)
        largest = np.abs(numbers).max()
        if dtype != "float32" and largest and not SMALLEST <= largest <= LARGEST:
            numbers = numbers * 2.0 ** (1 - math.frexp(largest)[1])
        exact = numbers.astype(dtype_of(dtype)).astype(np.float64)
        return tuple(tuple(float(value) for value in row) for row in exact)

    def rows(self, rows: Matrix, width: int = 0) -> Matrix:
        """Return rows of a width that is allowed, as the precision holds them."""
        width = width or self.width(max(map(len, rows), default=0))
        return self.matrix(tuple(row + (0.0,) * (width - len(row)) for row in rows))

    def place(self, position: int, end: float) -> int:
        """Return a position that is allowed on its own, and below an end."""
        if self.declared.positions != "any":
            position = abs(position)
        if abs(position) >= end:
            within = abs(position) % max(1, int(end))
            position = within if position > 0 else -within
        return position

    def term(self, position: int) -> int:
        """Return a position that is allowed, as is its sum with another one."""
        return self.place(position, self.end / 2)

    def terms(self, positions: tuple[int, ...]) -> tuple[int, ...]:
        """Return positions that are allowed together, as are their sums with others."""
        return self.places(positions, self.end / 2)

    def places(self, positions: tuple[int, ...], end: float = math.inf) -> tuple[int, ...]:
        """Return positions that are allowed together."""
        kind, end = self.declared.positions, min(end, self.end)
        if kind in ("any", "not negative") or not positions:
            return tuple(self.place(position, end) for position in positions)
        first = 0 if kind == "from zero" else self.place(positions[0], end)
        first = int(max(0, min(first, self.end - len(positions))))
        return tuple(range(first, first + len(positions)))

    def cut(self, case: Case) -> Case:
        """Return a case with no more rows than there are positions for them."""
        if "x" not in case._fields or len(case.x) <= self.end:
            return case
        if "positions" in case._fields and self.declared.positions in ("any", "not negative"):
            return case
        count = int(self.end)
        shorter = {
            name: getattr(case, name)[:count]
            for name in ("x", "y", "positions")
            if name in case._fields
        }
        for name, most in (("at", count - 1), ("length", max(1, count - 1))):
            if name in case._fields:
                shorter[name] = min(getattr(case, name), most)
        return case._replace(**shorter)
