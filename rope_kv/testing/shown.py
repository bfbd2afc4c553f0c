"""Which of the broken properties a report shows in full, and which only by their titles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .verdict import Result

SAME_REASONS = "for the same reasons:"
SAME_LAWS = "by the same laws, on other inputs:"
EARLIER_CALLS = "only after earlier calls:"
# How long a call took, or how often it had projected, says no more the second time.
NO_END = ("hang", "endless")


class Shown(NamedTuple):
    """The broken results in reading order: those shown in full, and of the others why not."""

    in_full: tuple[Result, ...]
    by_title: dict[str, tuple[Result, ...]]


def shown(results: Iterable[Result]) -> Shown:
    """Return what to show of the results that are broken; those that say nothing new by title."""
    broken = [result for result in results if result.outcome == "broken"]
    names = {result.property.name for result in broken}
    alone = {result.property.function for result in broken if result.replays}
    seen: set[tuple[str, str]] = set()
    in_full: list[Result] = []
    by_title: dict[str, tuple[Result, ...]] = {}
    for result in broken:
        prop = result.property
        kind = result.broken.kind if result.broken is not None else "raised"
        key = (prop.function, kind if kind in NO_END else result.message)
        if kind == "missing" and key in seen:
            continue
        if kind in ("raised", "unwritten", "type", *NO_END) and key in seen:
            reason = SAME_REASONS
        elif prop.widens in names:
            reason = SAME_LAWS
        elif not result.replays and prop.function in alone:
            reason = EARLIER_CALLS
        else:
            reason = ""
            in_full.append(result)
        if reason:
            by_title[reason] = (*by_title.get(reason, ()), result)
        seen.add(key)
    return Shown(tuple(in_full), by_title)
