"""Whether a failure comes again: alone, after the same calls, or by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .cases import Case, size
from .comparison import COSTLY, Broken
from .implementation import Implementation
from .loading import LoadError
from .property import Property
from .verdict import Result

# How many of the smallest failing cases are tried before a failure is said to depend on history.
REPLAYS = 5


class Again(NamedTuple):
    """A case that fails, whether it does so `alone`, and whether it does so `by_chance`."""

    case: Case
    alone: bool
    by_chance: bool = False


def alone(prop: Property, impl: Implementation, failures: Mapping[Case, Broken]) -> Again:
    """Return the smallest case that fails with nothing called before it; else the smallest."""
    smallest = sorted(failures, key=size)
    if failures[smallest[0]].kind in COSTLY:
        del smallest[1:]
    for case in smallest[:REPLAYS]:
        first = breach(prop, impl, (case,), seed=0)
        if first is not None:
            second = breach(prop, impl, (case,), seed=1)
            return Again(case, alone=True, by_chance=not _same(first, second))
    return Again(smallest[0], alone=False)


def explained(result: Result, impl: Implementation) -> Result:
    """Return the result with the earlier cases that its counterexample needs, or `by_chance`."""
    if result.replays or result.counterexample is None:
        return result
    prop, case, before = result.property, result.counterexample, result.before
    if breach(prop, impl, (*before, case)) is None:
        return replace(result, by_chance=True)
    return replace(result, history=_shortest(prop, impl, before, case))


def _shortest(
    prop: Property, impl: Implementation, history: tuple[Case, ...], case: Case
) -> tuple[Case, ...]:
    """Return the last cases of a history after which a case fails, as few as can be told soon."""
    length = 1
    while length < len(history):
        if breach(prop, impl, (*history[-length:], case)) is not None:
            return history[-length:]
        length *= 2
    return history


def breach(
    prop: Property, impl: Implementation, cases: Sequence[Case], seed: int = 0
) -> Broken | None:
    """Return what the last of some cases breaks when they are run in a row, or None."""
    broken = None
    try:
        with impl.restarted(seed) as restarted:
            for case in cases:
                broken = prop.breach(restarted, case)
    except LoadError as error:
        return Broken(str(error), "raised")
    except Broken as late:
        return broken or late
    return broken


def _same(one: Broken, other: Broken | None) -> bool:
    """Return whether two breaches show the same."""
    if other is None or (one.kind, one.sentence) != (other.kind, other.sentence):
        return False
    if one.yours is None or other.yours is None:
        return one.yours is other.yours
    return np.array_equal(one.yours, other.yours, equal_nan=True)
