"""Right answers with something else in the place of one part of the formula, or of two.

A small language of mistakes: each part of a formula has a list of others that people write, in
the words that a report uses. `equals` searches it for what explains some answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Choices = Mapping[str, Callable[..., Any]]
# How far an explanation may be from an answer, to the largest number in it.
EXPLAINED = 1e-9


class Formula(NamedTuple):
    """A formula: how it is computed, and for each part of it what people write in its place."""

    compute: Callable[..., Array]
    parts: Mapping[str, Choices]


def equals(formula: Formula, answers: Sequence[tuple[tuple[Any, ...], Array]]) -> str:
    """Return how the formula must be changed to give all answers, in words; "" for no way.

    `answers` are arguments and what was returned for them.
    """
    for phrase, changed in _changes(formula.parts):
        if all(_is_explained(formula.compute(*given, **changed), seen) for given, seen in answers):
            return phrase
    return ""


def _changes(parts: Mapping[str, Choices]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each change of one part, then of two: in words, and what stands in for the part."""
    for count in (1, 2):
        for names in itertools.combinations(parts, count):
            for choice in itertools.product(*(parts[name].items() for name in names)):
                phrase = " and ".join(words for words, _ in choice)
                yield phrase, {name: made for name, (_, made) in zip(names, choice, strict=True)}


def _is_explained(computed: Array, seen: Array) -> bool:
    if computed.shape != seen.shape:
        return False
    finite = np.isfinite(seen)
    apart = np.abs(computed - seen)[finite].max(initial=0)
    largest = np.abs(seen)[finite].max(initial=1e-6)
    return np.array_equal(finite, np.isfinite(computed)) and bool(apart <= EXPLAINED * largest)
