"""What cases are made of: values, positions, widths, lengths, and how they are drawn.

Values are eighths, so that they are exact in every dtype, short on paper and never confused with
rounding. All numbers of a case come from one draw of bytes, a byte a number: as varied as a draw
for each number, shrunk as well (byte 0 is the simplest entry of its table), and many times faster.
"""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from hypothesis import strategies as st

from rope_kv.testing.cases import Matrix
from rope_kv.testing.profiles import reach

Number = TypeVar("Number", int, float)

# Simplest first: 0 and 1, then whole numbers, halves, quarters, eighths.
EIGHTHS = tuple(
    n / 8
    for n in sorted(range(-32, 33), key=lambda n: (n % 8 != 0, n % 4 != 0, n % 2 != 0, abs(n), -n))
)
WHOLE = tuple(float(n) for n in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5))
# So small that a softmax of their products gives every token a weight that shows.
GENTLE = (0.0, 1.0, -1.0, 0.5, -0.5)
# Some so large that the exponential of a product of two overflows.
LOUD = (0.0, 1.0, 40.0, -1.0, -40.0, 64.0)
NEAR = tuple(range(24))
SIGNED = tuple(sign * p for p in range(1, 24) for sign in (-1, 1))
# Both sides of the lengths at which tables end and small types overflow.
EDGES = tuple(p + step for p in (32, 64, 100, 128, 256) for step in (-1, 0, 1))
FAR = (
    *(1000, 100000, 1000001, 2**20 - 1, 2**20),
    *(2**k + step for k in range(9, 20) for step in (-1, 0, 1)),
)
FARTHEST = (*FAR, *(2**k + step for k in range(21, 32) for step in (-1, 0, 1)))
# The usual one, then powers of ten to check by hand, then what configurations really hold.
BASES = (10000, 100, 10, 500, 500000, 1000000, 1000001, 2, 2.5, 12345.75, 1, 0.5)

# Only rows this narrow are turned to far positions: a table of all of them must fit.
NARROW = 4
COUNTS = (1, 2, 3, 4, 5, 6, 2, 3)
WIDTHS = (2, 4, 6, 8, 4, 8, 10, 16, 32)
SEEDS = (0, 1, 2, 3)
ZERO_ROW = 240  # a row whose position is drawn by such a byte is all zeros: one in sixteen
LONGER_THAN_CONSTANTS = 51
# A factor that leaves single precision, but not double, short of digits.
FINE = 1 + 2.0**-40


def entries(data: bytes, table: tuple[Number, ...]) -> tuple[Number, ...]:
    """Return one entry of a table for each byte."""
    return tuple(table[byte % len(table)] for byte in data)


def matrix(data: bytes, width: int, table: tuple[float, ...] = EIGHTHS) -> Matrix:
    """Return rows of `width` numbers from a table, a byte a number.

    Each row is read from its end: bytes shrink towards zeros in front, so the simplest row that
    shows something reads 1, 0, 0, 0, and does so in every width.
    """
    values = entries(data, table)
    return tuple(values[start : start + width][::-1] for start in range(0, len(values), width))


def scaled(x: Matrix, scale: float) -> Matrix:
    """Return the rows times a number."""
    return x if scale == 1 else tuple(tuple(value * scale for value in row) for row in x)


@functools.cache
def some(size: int) -> st.SearchStrategy[bytes]:
    """Draw that many bytes.

    Hypothesis mixes in constants that it finds in the modules which are loaded: bytes of up to 50,
    and whole numbers from 100. Neither is drawn here, so that the cases depend on nothing else.
    The last of the bytes drawn are taken: where fewer are needed, those at the end stay.
    """
    drawn = max(size, LONGER_THAN_CONSTANTS)
    return st.binary(min_size=drawn, max_size=drawn).map(lambda data: data[drawn - size :])


@functools.cache
def from_7_to(largest: int) -> st.SearchStrategy[int]:
    """Draw a whole number."""
    return some(2).map(lambda data: 7 + int.from_bytes(data, "big") * (largest - 6) // 65536)


@functools.lru_cache(maxsize=None, typed=True)
def one_of(*values: Any) -> st.SearchStrategy[Any]:
    """Draw one of the values; the first is the simplest.

    Making a strategy costs more than drawing from it, so each is made once.
    """
    return st.sampled_from(values)


def widths(smallest: int = 2, largest: int = 32) -> st.SearchStrategy[int]:
    """Draw an even width."""
    return one_of(*(width for width in WIDTHS if smallest <= width <= largest))


def counts(smallest: int = 1) -> st.SearchStrategy[int]:
    """Draw how many rows; a few, and many in a long hunt."""
    few = tuple(count for count in COUNTS if count >= smallest)
    return one_of(*few, *(() if reach() == 1 else (9, 20, 50, 130)))
