"""The formulas of frequencies and rotations, and what people write in the place of their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .variants import Choices, Formula

Array = NDArray[np.float64]
Pair = tuple[Array, Array]


def _frequencies(
    d: int,
    base: float,
    exponent: Callable[[Array, int], Array] = lambda i, d: 2 * i / d,
    of: Callable[[float], float] = float,
    after: Callable[[Array], Array] = lambda theta: theta,
) -> Array:
    with np.errstate(all="ignore"):
        return after(of(base) ** -exponent(np.arange(d // 2, dtype=np.float64), d))


EXPONENTS: Choices = {
    "the exponent i/d in place of 2i/d": lambda i, d: i / d,
    "the exponent 2(i + 1)/d in place of 2i/d": lambda i, d: 2 * (i + 1) / d,
    "the exponent (2i + 1)/d in place of 2i/d": lambda i, d: (2 * i + 1) / d,
    "the exponent 4i/d in place of 2i/d": lambda i, d: 4 * i / d,
    "the exponent 2i/(d - 2) in place of 2i/d": lambda i, d: 2 * i / max(d - 2, 1),
    "the exponent 2i/(d + 2) in place of 2i/d": lambda i, d: 2 * i / (d + 2),
    "the exponent 2i in place of 2i/d": lambda i, d: 2 * i,
    "the opposite sign of the exponent": lambda i, d: -2 * i / d,
    "the square of the exponent": lambda i, d: (2 * i / d) ** 2,
    "the frequencies in reversed order": lambda i, d: 2 * i[::-1] / d,
    "the first frequency for every pair": lambda i, d: 0 * i,
}
BASES: Choices = {
    "the base 10000 whatever is given": lambda base: 10000.0,
    "twice the base": lambda base: 2 * base,
    "half the base": lambda base: base / 2,
    "the base plus one": lambda base: base + 1,
    "the base minus one": lambda base: base - 1,
    "e in place of the base": lambda base: np.e,
    "10 in place of the base": lambda base: 10.0,
}
_TIMES: Choices = {
    "every frequency doubled": lambda theta: 2 * theta,
    "every frequency halved": lambda theta: theta / 2,
    "every frequency times 2π": lambda theta: 2 * np.pi * theta,
    "every frequency divided by 2π": lambda theta: theta / (2 * np.pi),
    "every frequency times π": lambda theta: np.pi * theta,
    "the logarithm of every frequency": np.log,
    "one minus every frequency": lambda theta: 1 - theta,
}
FREQUENCIES = Formula(_frequencies, {"exponent": EXPONENTS, "of": BASES, "after": _TIMES})


def _adjacent(x: Array) -> Pair:
    return x[:, 0::2], x[:, 1::2]


def _halves(x: Array) -> Pair:
    half = x.shape[1] // 2
    return x[:, :half], x[:, half:]


def _mirrored(x: Array) -> Pair:
    half = x.shape[1] // 2
    return x[:, :half], x[:, half:][:, ::-1]


def _turned(a: Array, b: Array, cos: Array, sin: Array) -> Pair:
    return a * cos - b * sin, a * sin + b * cos


def rotated(
    x: Array,
    positions: Sequence[int],
    base: float,
    places: Callable[[Array], Array] = lambda p: p,
    exponent: Callable[[Array, int], Array] = lambda i, d: 2 * i / d,
    of: Callable[[float], float] = float,
    pairs: tuple[Callable[[Array], Pair], Callable[[Array], Pair]] = (_adjacent, _adjacent),
    turn: Callable[..., Pair] = _turned,
    after: Callable[[Array, Array], Array] = lambda rows, x: rows,
) -> Array:
    """Return the rotation of x (T, d), with what stands in the place of its parts."""
    p = places(np.array(positions, dtype=np.float64))
    with np.errstate(all="ignore"):
        angles = np.multiply.outer(p, _frequencies(x.shape[1], base, exponent, of))
        result = np.empty_like(x)
        first, second = pairs[1](result)
        first[...], second[...] = turn(*pairs[0](x), np.cos(angles), np.sin(angles))
        return after(result, x)


PLACES: Choices = {
    "the positions counted from one": lambda p: p + 1,
    "every position one too small": lambda p: p - 1,
    "position 0 for every row": lambda p: 0 * p,
    "the first position for every row": lambda p: 0 * p + p[0],
    "the last position for every row": lambda p: 0 * p + p[-1],
    "the positions 0, 1, 2, ... whatever is given": lambda p: np.arange(len(p), dtype=np.float64),
    "the positions counted from the first one": lambda p: p - p[0],
    "consecutive positions from the first one on": lambda p: p[0] + np.arange(len(p)),
    "the positions in reversed order": lambda p: p[::-1],
    "the positions in sorted order": np.sort,
    "the positions added up": np.cumsum,
    "the positions without their sign": np.abs,
    "every position doubled": lambda p: 2 * p,
    "every position halved": lambda p: p / 2,
    "every position halved and rounded down": lambda p: p // 2,
    "every position squared": lambda p: p * p,
    "the square root of every position": lambda p: np.sqrt(np.abs(p)),
    "the logarithm of one plus every position": lambda p: np.log1p(np.abs(p)),
}
_PAIRS: dict[str, Any] = {
    "the pairs (i, i + d/2)": (_halves, _halves),
    "the pairs (i, i + d/2), written as adjacent ones": (_halves, _adjacent),
    "adjacent pairs, written as (i, i + d/2)": (_adjacent, _halves),
    "the pairs (i, d - 1 - i)": (_mirrored, _mirrored),
}
_TURNS: Choices = {
    "the opposite direction": lambda a, b, c, s: (a * c + b * s, b * c - a * s),
    "sin and cos exchanged": lambda a, b, c, s: (a * s - b * c, a * c + b * s),
    "the two components exchanged afterwards": lambda a, b, c, s: (a * s + b * c, a * c - b * s),
    "a reflection in place of a turn": lambda a, b, c, s: (a * c + b * s, a * s - b * c),
    "plus in place of minus": lambda a, b, c, s: (a * c + b * s, a * s + b * c),
    "minus in place of plus": lambda a, b, c, s: (a * c - b * s, a * s - b * c),
    "the first component left out of the second": lambda a, b, c, s: (a * c - b * s, b * c),
    "the second component left out of the first": lambda a, b, c, s: (a * c, a * s + b * c),
    "the second component left as it was": lambda a, b, c, s: (a * c - b * s, b),
    "the first component left as it was": lambda a, b, c, s: (a, a * s + b * c),
    "cos alone, without sin": lambda a, b, c, s: (a * c, b * c),
}


def _last_pair_kept(rows: Array, x: Array) -> Array:
    return np.concatenate([rows[:, :-2], x[:, -2:]], axis=1)


def _first_pair_kept(rows: Array, x: Array) -> Array:
    return np.concatenate([x[:, :2], rows[:, 2:]], axis=1)


def _upper_half_kept(rows: Array, x: Array) -> Array:
    half = x.shape[1] // 4 * 2
    return np.concatenate([rows[:, :half], x[:, half:]], axis=1)


_AFTER: Choices = {
    "x added to the result": lambda rows, x: rows + x,
    "every number doubled": lambda rows, x: 2 * rows,
    "every number halved": lambda rows, x: rows / 2,
    "every number negated": lambda rows, x: -rows,
    "every number divided by the square root of d": lambda rows, x: rows / x.shape[1] ** 0.5,
    "every number times the square root of d": lambda rows, x: rows * x.shape[1] ** 0.5,
    "every row made one long": lambda rows, x: rows / np.linalg.norm(rows, axis=1, keepdims=True),
    "the rows in reversed order": lambda rows, x: rows[::-1],
    "the first row left as it was": lambda rows, x: np.concatenate([x[:1], rows[1:]]),
    "the last row left as it was": lambda rows, x: np.concatenate([rows[:-1], x[-1:]]),
    "the first pair left as it was": _first_pair_kept,
    "the last pair left as it was": _last_pair_kept,
    "the second half of the pairs left as they were": _upper_half_kept,
}
ROTATION = Formula(
    rotated,
    {
        "places": PLACES,
        "exponent": EXPONENTS,
        "of": BASES,
        "pairs": _PAIRS,
        "turn": _TURNS,
        "after": _AFTER,
    },
)
