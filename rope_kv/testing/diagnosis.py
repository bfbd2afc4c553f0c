"""What the mistake is: which known wrong implementation does the same, or else what is measured.

A trap is first run on the counterexample that it names as its own, and so is the implementation.
Those that do the same are run on all that broke the implementation, and on fixed probes: every
stored counterexample. What still does the same is named.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..traps import Trap, all_traps
from . import counterexample
from .blame import RESTS_ON, corrected
from .capabilities import Capabilities
from .cases import size
from .comparison import CLEARLY, ENDING, Broken
from .fitting import fitted
from .implementation import FUNCTIONS, Implementation, InProcess
from .likeness import alike, nearly_alike
from .loading import LoadError, load
from .measurement import measured
from .observation import Observation, Probe, observed
from .verdict import Diagnosis, Result

# After more earlier cases than this a failure is no probe.
LONGEST_HISTORY = 16
# A mistake of a lower function is looked for in a case of no more numbers than this.
SHORT = 128
# What shows only that there is nothing to compare.
_NOTHING = (*ENDING, "missing", "unwritten")


def diagnoses(results: Sequence[Result], impl: Implementation) -> tuple[Diagnosis, ...]:
    """Return what the mistake in each broken function is, where anything can be said."""
    broken = dict.fromkeys(
        result.property.function
        for result in results
        if result.outcome == "broken" and not _says_nothing(result)
    )
    found = (diagnosis(function, results, impl) for function in broken)
    return tuple(one for one in found if one is not None)


def diagnosis(function: str, results: Sequence[Result], impl: Implementation) -> Diagnosis | None:
    """Return what the mistake in a broken function is, or None where nothing can be said.

    `results` are those of any functions that are known. Where a function that this one rests on
    is wrong as well, a right one stands in for it.
    """
    mistakes = [
        result
        for result in results
        if result.property.function == function
        and result.outcome == "broken"
        and not _says_nothing(result)
        and result.broken is not None
        and result.broken.kind not in _NOTHING
    ]
    if not mistakes:
        return None
    with contextlib.suppress(Broken, LoadError):
        alone = _alone(function, results, impl)
        traps = likely(function, mistakes, alone)
        said = () if traps else measured(function, mistakes, alone)
        return Diagnosis(function, traps, said) if traps or said else None
    return None


def _says_nothing(result: Result) -> bool:
    """Return whether a result shows no mistake: advice, or what an old version does otherwise."""
    return result.property.advice or result.property.compares


def confirmed(found: Diagnosis, results: Sequence[Result], impl: Implementation) -> bool:
    """Return whether the last of some results is what the diagnosis of its function says."""
    with contextlib.suppress(Broken, LoadError):
        alone = _alone(found.function, results, impl)
        return all(
            both is not None and alike(observed(alone, both), _known(trap, both))
            for probe in _own(results[-1:])
            for trap in found.looks_like
            for both in (_for_both(probe, impl.capabilities, _code(trap).capabilities),)
        )
    return False


def likely(function: str, mistakes: Sequence[Result], impl: Implementation) -> tuple[Trap, ...]:
    """Return the trap that does what an implementation does, or those that nothing tells apart.

    A trap of a lower function is tried as well, since its mistake may be made in `function` anew;
    but one of `function` itself is named rather.
    """
    own = _own(mistakes)
    if not own:
        return ()
    seen = functools.cache(lambda probe: observed(impl, probe))
    for same in (alike, nearly_alike):
        suspects = _doing(same, seen, function, own, impl.capabilities)
        nearest = [trap for trap in suspects if trap.function == function] or suspects
        # One that can do all that was asked says more than one that was asked a part of it.
        nearest = [trap for trap in nearest if _takes(trap, own, impl.capabilities)] or nearest
        if nearest and _is_one_mistake(nearest):
            return tuple(nearest)
    return ()


def _doing(
    same: Callable[[Observation, Observation], bool],
    seen: Callable[[Probe], Observation],
    function: str,
    own: Sequence[Probe],
    declared: Capabilities,
) -> list[Trap]:
    """Return the traps that do the same as what is seen of an implementation, on all probes.

    Where an implementation declares more than a trap, or less, they are compared in what both do.
    """

    def may_be(trap: Trap, probe: Probe, *, is_first: bool = False) -> bool:
        both = _for_both(probe, declared, _code(trap).capabilities)
        # Where the mistake is in `function` here and in another one there, that says nothing.
        if both is None or (trap.function != function and others(both)):
            return not is_first
        if is_first and not _does_harm(seen(both)):
            return False
        return same(seen(both), _known(trap, both))

    def others(probe: Probe) -> set[str]:
        return {answer.function for answer in seen(probe).answers} - {function}

    suspects = [
        trap
        for trap, first in _suspects(function, own[0])
        if declared.writes_like(_code(trap).capabilities) and may_be(trap, first, is_first=True)
    ]
    for probe in (*own, *_fixed(function)):
        suspects = [trap for trap in suspects if may_be(trap, probe)]
        if not suspects:
            break
    return suspects


def _for_both(probe: Probe, one: Capabilities, other: Capabilities) -> Probe | None:
    """Return the probe within the limits of two implementations; None where one lacks a part."""
    if probe.property.lacking(one) or probe.property.lacking(other):
        return None
    return probe._replace(cases=tuple(fitted(fitted(case, one), other) for case in probe.cases))


def _takes(trap: Trap, probes: Sequence[Probe], declared: Capabilities) -> bool:
    """Return whether a trap can be put to probes as an implementation was."""
    return all(
        _for_both(probe, declared, _code(trap).capabilities)
        == _for_both(probe, declared, declared)
        for probe in probes
    )


def _does_harm(seen: Observation) -> bool:
    """Return whether anything is wrong: every trap does harm when it is first probed."""
    return seen.broken is not None or any(answer.changed for answer in seen.answers)


def _is_one_mistake(traps: Sequence[Trap]) -> bool:
    """Return whether traps are one, or some that are documented to do the same."""
    return all(
        other.name in trap.same_as for trap in traps for other in traps if other is not trap
    )


def _suspects(function: str, smallest: Probe) -> Iterator[tuple[Trap, Probe]]:
    """Yield each trap that a mistake may be like, and what it is probed with first."""
    below = FUNCTIONS[: FUNCTIONS.index(function)] if function in FUNCTIONS else ("apply_rope",)
    is_short = size(smallest.cases[-1])[0] <= SHORT
    for trap in _traps():
        if trap.function == function:
            yield trap, _probe(counterexample.brought_along() / trap.shown_by)
        elif trap.function in below and is_short:
            yield trap, smallest


def _alone(function: str, results: Sequence[Result], impl: Implementation) -> Implementation:
    """Return an implementation in which nothing that `function` rests on is wrong."""
    lower = RESTS_ON.get(function)
    is_wrong = any(
        result.property.function == lower and (result.outcome == "broken" or result.because)
        for result in results
    )
    return corrected(impl, function) if is_wrong else impl


def _own(mistakes: Sequence[Result]) -> list[Probe]:
    """Return the cases that broke the implementation, the smallest and the worst of each law."""
    # What is hardly larger than its bound says more of a style than of a mistake.
    clear = [result for result in mistakes if _is_clear(result)]
    probes: dict[Probe, None] = {}
    for result in clear or mistakes:
        if result.by_chance or len(result.history) > LONGEST_HISTORY:
            continue
        if result.replays or result.history:
            cases = (*result.history, result.counterexample)
            probes[Probe(result.property, cases)] = None
        if result.replays and result.worst_case is not None:
            probes[Probe(result.property, (result.worst_case,))] = None
    return sorted(probes, key=lambda probe: size(probe.cases[-1]))


def _is_clear(result: Result) -> bool:
    ratio = result.broken.ratio if result.broken is not None else None
    return ratio is None or ratio > CLEARLY


@functools.cache
def _fixed(function: str) -> tuple[Probe, ...]:
    """Return the probes that every implementation is put to: the stored counterexamples."""
    probes = map(_probe, counterexample.files_in([counterexample.brought_along()]))
    chosen = [probe for probe in probes if probe.property.function == function]
    return tuple(sorted(chosen, key=lambda probe: size(probe.cases[0])))


@functools.cache
def _probe(path: Path) -> Probe:
    found = counterexample.load(path)
    return Probe(found.property, (found.case,))


@functools.cache
def _traps() -> tuple[Trap, ...]:
    return all_traps()


@functools.lru_cache(maxsize=8192)
def _known(trap: Trap, probe: Probe) -> Observation:
    """Return what a trap does when it is probed."""
    return observed(_code(trap), probe)


@functools.cache
def _code(trap: Trap) -> InProcess:
    return load(trap.path)
