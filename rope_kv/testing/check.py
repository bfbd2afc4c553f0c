"""check: every property, one implementation, one verdict; pytest is not needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import counterexample
from .implementation import Implementation, InProcess
from .loading import LoadError, load
from .profiles import PROFILES
from .property import all_properties
from .search import search
from .verdict import Result, Verdict, word_for


def check(
    implementation: Any,
    *,
    profile: str = "grade",
    record: str | Path | None = None,
    progress: Callable[[Result], None] | None = None,
) -> Verdict:
    """Return the verdict on an implementation.

    Parameters
    ----------
    implementation : str, path, module or object
        "file.py", "file.py:name", "module", "module:name", or anything that has the functions
        of the contract.
    profile : "grade", "dev", "ci" or "hunt"
        How long to search. `grade` draws the same cases for every implementation.
    record : folder, optional
        Where to keep a file for each smallest counterexample. By default none is kept; only
        Hypothesis itself may leave its cache, a folder .hypothesis, where the program runs.
    progress : callable, optional
        Called with each property's result as soon as it is there.

    Raises
    ------
    SpecError
        Where there is no such file, module or attribute.
    ValueError
        Where there is no such profile.

    """
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, found {profile!r}")
    started = time.perf_counter()
    try:
        impl = implementation if isinstance(implementation, InProcess) else load(implementation)
    except LoadError as error:
        return Verdict(
            implementation=str(implementation),
            verdict="LOAD_ERROR",
            profile=profile,
            seconds=time.perf_counter() - started,
            message=str(error),
        )
    searched = []
    for prop in all_properties():
        searched.append(search(prop, impl, PROFILES[profile]))
        if progress is not None:
            progress(searched[-1])
    results = [
        result
        if excuse_stands(result, searched)
        else search(result.property, impl, PROFILES[profile], excusing=False)
        for result in searched
    ]
    if record is not None:
        results = [recorded(result, Path(record), impl) for result in results]
    return Verdict(
        implementation=impl.name,
        verdict=word_for(tuple(results)),
        profile=profile,
        seconds=time.perf_counter() - started,
        missing=impl.missing,
        results=tuple(results),
    )


def excuse_stands(result: Result, results: list[Result]) -> bool:
    """Return whether the function that a result blames is itself known to be wrong."""
    if result.because is None:
        return True
    return any(
        other.property.function == result.because and (other.outcome == "broken" or other.because)
        for other in results
    )


def recorded(result: Result, directory: Path, impl: Implementation) -> Result:
    """Return the result with its counterexample kept as a file, where it has one that replays."""
    if result.counterexample is None or not result.replays or result.property.advice:
        return result
    if result.broken is not None and result.broken.kind in ("missing", "unwritten"):
        return result  # No case is needed to show that a function is not there.
    why = result.message or result.property.title + " does not hold"
    path = counterexample.save(
        directory, result.property, result.counterexample, why, against=impl.name
    )
    return replace(result, saved_as=str(path))
