"""Known failures: what an adapter says to be broken, each shown by stored cases.

A property that is known to fail is not searched: its stored cases are replayed, so that it never
flips by chance. While each of them breaks it, that fails nothing; once one holds, it is told.
"""

from __future__ import annotations

import difflib
import time
from dataclasses import replace
from pathlib import Path

from . import counterexample
from .budget import Budget
from .cases import Case
from .implementation import Implementation, InProcess
from .loading import LoadError
from .pair import Pair
from .profiles import Profile
from .property import Property, all_properties
from .search import replay, search
from .verdict import Result


def judged(
    prop: Property,
    impl: Implementation,
    profile: Profile,
    budget: Budget | None = None,
    first: tuple[Case, ...] = (),
) -> Result:
    """Return what a search for a counterexample finds; or "known", or "broken" where it is fixed.

    Where no case is stored, a known failure is searched like any other property. `first` are
    cases to try before any is drawn.
    """
    code = impl.new if isinstance(impl, Pair) else impl
    # Code that is not trusted, which runs isolated, cannot say what is to be passed over.
    if not isinstance(code, InProcess) or prop.name not in code.known_failures:
        return search(prop, impl, profile, budget, first=first)
    reason, paths = code.known_failures[prop.name], _stored(prop, code)
    if not paths:
        return search(prop, impl, profile, budget, first=first)
    started, known = time.perf_counter(), Result(prop, "not_checked")
    for path in paths:
        stored = counterexample.load(path)
        known = replay(prop, impl, stored.case, budget)
        if known.outcome == "held":
            message = f"known to fail ({reason}), but {path.name} holds: is it mended upstream?"
            known = replace(known, outcome="broken", message=message)
            break
        if known.outcome != "broken":
            break
        known = replace(known, outcome="known", message=reason, replays=True)
    return replace(known, seconds=time.perf_counter() - started)


def excusing(results: list[Result]) -> list[Result]:
    """Return the results, those held that are wrong only because of what is known to fail."""
    blamed = {result.because for result in results if result.because}
    unknown = {result.property.function for result in results if result.outcome == "broken"}
    passed_over = blamed - unknown - {r.property.function for r in results if r.because}
    return [
        replace(result, because=None, message=f"{result.message}, as is known")
        if result.because in passed_over
        else result
        for result in results
    ]


def expect_known_names(impl: InProcess) -> None:
    """Raise LoadError where what is known to fail is no property, or its cases cannot be read."""
    properties = {prop.name: prop for prop in all_properties()}
    for name, reason in impl.known_failures.items():
        if name not in properties:
            near = difflib.get_close_matches(str(name)[:80], properties, 1, 0.0)[0]
            raise LoadError(
                f"{impl.name} cannot be loaded: known_failures names {str(name)[:80]!r}, which is "
                f"no property: did you mean {near!r}?"
            )
        if not isinstance(reason, str) or not reason:
            raise LoadError(
                f"{impl.name} cannot be loaded: known_failures gives no reason for {name!r}: say "
                "in a sentence what is wrong, and in which version"
            )
        try:
            for path in _stored(properties[name], impl):
                counterexample.load(path)
        except counterexample.CounterexampleError as error:
            raise LoadError(f"{impl.name} cannot be loaded: {error}") from None


def _stored(prop: Property, impl: InProcess) -> list[Path]:
    folder = impl.known_cases
    if folder is None or not folder.is_dir():
        return []
    return sorted(folder.glob(f"{prop.name.replace('_', '-')}-????????.json"))
