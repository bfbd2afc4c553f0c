"""Measuring power: every property on every trap, as many at a time as there are cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed

from ..grading.crews import crew_for
from ..grading.work import versions
from ..testing.budget import Budget
from ..testing.cases import size
from ..testing.check import search_all
from ..testing.loading import load
from ..testing.profiles import PROFILES, leaving_no_files
from ..testing.property import all_properties
from ..traps import Trap, find_trap
from .table import Catch, Power

PROFILE = "grade"


class UnmeasuredError(RuntimeError):
    """A property could not be searched on a trap: rope_kv is at fault."""


def measured(
    traps: Sequence[Trap], jobs: int | None, progress: Callable[[int], None] | None = None
) -> Power:
    """Return the power table of some traps; `progress` is called with how many are done.

    UnmeasuredError where a search of one of them ended in an error.
    """
    found: dict[str, list[Catch]] = {}
    with crew_for(None, jobs) as crew:
        tasks = {crew.submit(catches, trap.name): trap.name for trap in traps}
        for task in as_completed(tasks):
            found[tasks[task]] = task.result()
            if progress is not None:
                progress(len(found))
    return Power(
        PROFILE,
        versions(),
        tuple(prop.name for prop in all_properties() if not prop.advice),
        tuple(trap.name for trap in traps),
        tuple(catch for trap in traps for catch in found[trap.name]),
    )


def catches(name: str) -> list[Catch]:
    """Return what each property finds of one trap: those that `check` would call broken.

    Advice is none of them: its breach fails nothing.
    """
    with leaving_no_files():
        results = search_all(load(find_trap(name).path), PROFILES[PROFILE], Budget())
    for result in results:
        if result.outcome in ("error", "not_run"):
            raise UnmeasuredError(f"{name}, {result.property.title}: {result.message}")
    return [
        Catch(
            result.property.name,
            name,
            result.found_after,
            0 if result.counterexample is None else size(result.counterexample)[0],
        )
        for result in results
        if result.outcome == "broken" and not result.property.advice
    ]
