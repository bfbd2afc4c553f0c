"""How the error of a rotation grows with its position, measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .answers import answered
from .cases import RotationCase
from .implementation import Implementation

# Fibonacci numbers: even on a logarithmic axis, and of no one's block size.
POSITIONS = (
    *(0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765),
    *(10946, 17711, 28657, 46368, 75025, 121393, 196418, 317811, 514229, 832040, 2**20),
)


class Precision(NamedTuple):
    """The largest error, in rounding bounds, of a row of ones that is turned to each position.

    Infinite where the answer is not finite, and not a number where there is none.
    """

    width: int
    base: float
    positions: tuple[int, ...]
    ratios: tuple[float, ...]


def precision(
    impl: Implementation, width: int, base: float, in_time: Callable[[], bool] = lambda: True
) -> Precision | None:
    """Return the errors at the positions that there is time for; None where no call returned."""
    ratios: list[float] = []
    for position in POSITIONS:
        if not in_time():
            break
        case = RotationCase(((1.0,) * width,), (position,), base)
        try:
            ratios.append(answered(impl, case).worst)
        except Exception:  # Of whatever kind: here is no one to be blamed for it.
            ratios.append(math.nan)
    if np.all(np.isnan(ratios)):
        return None
    return Precision(width, base, POSITIONS[: len(ratios)], tuple(ratios))
