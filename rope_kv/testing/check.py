"""check: every property, one implementation, one verdict; pytest is not needed."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from ..sandbox.choosing import Isolation, open_implementation
from ..sandbox.submission import Limits
from . import counterexample, known_failures, repetition
from .budget import Budget
from .cases import Case
from .implementation import Implementation
from .loading import LoadError
from .pair import Pair, named, paired_with
from .profiles import PROFILES, Profile
from .property import Property, properties_of
from .search import search
from .shown import shown
from .verdict import Diagnosis, Result, Verdict, word_for

TIME_LIMIT = 60.0  # seconds for one file of a class
Laws = Literal["all", "none"]
LAWS: tuple[str, ...] = get_args(Laws)


def check(
    implementation: Any,
    *,
    profile: str = "grade",
    record: str | Path | None = None,
    progress: Callable[[Result], None] | None = None,
    starting: Callable[[str], None] | None = None,
    isolation: Isolation = "auto",
    call_timeout: float = 2.0,
    time_limit: float | None = None,
    memory: int = 512,
    pictures: bool = False,
    exercise: bool = False,
    against: Any = None,
    exact: bool = False,
    laws: Laws = "all",
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
    starting : callable, optional
        Called with what starts: the title of each property, then what is done after them.
    isolation : "auto", "none", "isolated", "process", "kernel" or "bwrap"
        Where the code runs. By default a file runs in processes of its own, at the strongest
        level that works here, and anything else in this process. A level is reached or refused.
    call_timeout : seconds
        How long one call may take, where the code is isolated.
    time_limit : seconds, optional
        How long all may take; what was not run by then is NOT_RUN. By default 60, and 120 with an
        old version, where the code is isolated and the profile is not "hunt"; else no limit.
    memory : MB
        How much address space the code may have, where it is isolated.
    pictures : bool
        Whether to measure what the pictures of the HTML report show. They are drawn with
        matplotlib: pip install 'rope_kv[report]'.
    exercise : bool
        Whether to judge by the exercise alone, whatever is declared: who declares less, or fewer
        digits, is asked for less.
    against : str, path, module or object, optional
        An old version of the same code, named in the same ways or as "git:REV:path/to/file.py":
        the new one must give the same values, ask for the same projections, and refuse the same.
    exact : bool
        Whether the values must be those of the old version bit for bit, in dtype and shape too,
        instead of within the rounding bound.
    laws : "all" or "none"
        Whether the usual properties are checked, or the agreement with the old version alone.

    Raises
    ------
    SpecError
        Where there is no such file, module or attribute; where the old version cannot be loaded,
        or declares another layout or precision.
    SandboxError
        Where the isolation is not to be had on this machine.
    ValueError
        Where there is no such profile or isolation, or `exact` or `laws` without an old version.

    """
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, found {profile!r}")
    _expect_sense(against, exact, laws)
    started = time.perf_counter()
    try:
        limits = Limits(call_timeout, memory << 20)
        impl = open_implementation(implementation, isolation, limits, exercise=exercise)
        if against is not None:

            def old() -> Implementation:
                return open_implementation(against, isolation, limits, exercise=exercise)

            impl = paired_with(impl, old, exact=exact, spec=named(against))
    except LoadError as error:
        return unloaded(implementation, error, profile, time.perf_counter() - started)
    try:
        return judge(
            impl,
            profile=profile,
            record=record,
            progress=progress,
            starting=starting,
            time_limit=time_limit,
            pictures=pictures,
            laws=laws,
        )
    finally:
        impl.close()


def _expect_sense(against: Any, exact: bool, laws: str) -> None:
    """Raise ValueError where what is asked of an old version makes no sense."""
    if laws not in LAWS:
        raise ValueError(f"laws must be one of {', '.join(LAWS)}, found {laws!r}")
    for asked, what in ((exact, "exact=True"), (laws == "none", "laws='none'")):
        if asked and against is None:
            raise ValueError(f"{what} is for the comparison with an old version: give against")


def unloaded(implementation: Any, error: LoadError, profile: str, seconds: float = 0.0) -> Verdict:
    """Return the verdict on code that could not be loaded."""
    return Verdict(
        implementation=str(implementation),
        verdict="LOAD_ERROR",
        profile=profile,
        isolation=error.isolation,
        seconds=seconds,
        message=str(error),
    )


def judge(
    impl: Implementation,
    *,
    profile: str = "grade",
    record: str | Path | None = None,
    progress: Callable[[Result], None] | None = None,
    starting: Callable[[str], None] | None = None,
    time_limit: float | None = None,
    pictures: bool = False,
    laws: str = "all",
    first: Mapping[str, tuple[Case, ...]] = {},
) -> Verdict:
    """Return the verdict on an implementation that is open, or on a `Pair`; see `check`.

    `first` are cases to try before any is drawn, by the name of their property.
    """
    started = time.perf_counter()
    budget = Budget(time_limit if time_limit is not None else usual_time_limit(impl, profile))
    says = starting or (lambda what: None)
    results = search_all(impl, PROFILES[profile], budget, says, progress, laws, first)
    alone = {r.property.function for r in results if r.outcome == "broken" and r.replays}
    results = known_failures.excusing(results)
    results = [
        result if result.property.function in alone else repetition.explained(result, impl)
        for result in results
    ]
    if pictures:
        from .scene import with_scenes

        results = with_scenes(results, shown(results).in_full, impl, budget)
    if record is not None:
        results = [recorded(result, Path(record), impl) for result in results]
    return Verdict(
        implementation=impl.name,
        verdict=word_for(tuple(results)),
        profile=profile,
        isolation=impl.isolation,
        seconds=time.perf_counter() - started,
        results=tuple(results),
        diagnoses=_diagnoses(results, impl),
        against=impl.spec if isinstance(impl, Pair) else "",
    )


def search_all(
    impl: Implementation,
    profile: Profile,
    budget: Budget,
    starting: Callable[[str], None] = lambda what: None,
    progress: Callable[[Result], None] | None = None,
    laws: str = "all",
    first: Mapping[str, tuple[Case, ...]] = {},
) -> list[Result]:
    """Return what is found of each property that an implementation is shown, in reading order."""
    found = []
    with _collecting_rarely():
        for prop in properties_of(impl, laws):
            starting(prop.title)
            cases = first.get(prop.name, ())
            found.append(known_failures.judged(prop, impl, profile, budget, cases))
            if progress is not None:
                progress(found[-1])
    starting("a second look at what is broken")
    return without_false_excuses(
        found,
        lambda prop: search(
            prop, impl, profile, budget, excusing=False, first=first.get(prop.name, ())
        ),
    )


def _diagnoses(results: list[Result], impl: Implementation) -> tuple[Diagnosis, ...]:
    """Return what the mistakes are; what finds that out is imported where there are some."""
    if not any(result.outcome == "broken" for result in results):
        return ()
    from .diagnosis import diagnoses

    return diagnoses(results, impl)


@contextlib.contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Look for garbage in cycles rarely: a search makes little, and a tenth of it was looking."""
    usual = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def usual_time_limit(impl: Implementation, profile: str) -> float | None:
    """Return how many seconds a check may take where nothing else is said, or None."""
    if impl.isolation == "none" or profile == "hunt":
        return None
    return 2 * TIME_LIMIT if isinstance(impl, Pair) else TIME_LIMIT


def without_false_excuses(
    results: list[Result], again: Callable[[Property], Result]
) -> list[Result]:
    """Return the results, those searched `again` whose excuse points at no mistake.

    What was seen once stays seen: where the second search finds nothing, the first breach counts.
    """
    while fallen := [result for result in results if not excuse_stands(result, results)]:
        for result in fallen:
            found = again(result.property)
            if found.outcome not in ("broken", "error") and result.unexcused is not None:
                found = result.unexcused
            results = [found if one is result else one for one in results]
    return results


def excuse_stands(result: Result, results: list[Result]) -> bool:
    """Return whether the function that a result blames is itself known to be wrong."""
    if result.because is None:
        return True
    return any(
        other.property.function == result.because
        and (other.outcome in ("broken", "known") or other.because)
        for other in results
    )


def recorded(result: Result, directory: Path, impl: Implementation) -> Result:
    """Return the result with its counterexample kept as a file, where it has one that replays."""
    if not is_worth_keeping(result):
        return result
    path = counterexample.save(
        directory, result.property, result.counterexample, why_kept(result), against=impl.name
    )
    against = impl.spec if result.property.compares and isinstance(impl, Pair) else ""
    return replace(result, saved_as=str(path), against=against)


def is_worth_keeping(result: Result) -> bool:
    """Return whether a result has a counterexample that shows the mistake when replayed."""
    if result.counterexample is None or not result.replays or result.property.advice:
        return False
    # No case is needed to show that a function is not there.
    return result.broken is None or result.broken.kind not in ("missing", "unwritten")


def why_kept(result: Result) -> str:
    """Return the sentence that is kept with a counterexample."""
    return result.message or result.property.title + " does not hold"
