"""Searching for the smallest case that breaks a property."""

from __future__ import annotations

import functools
import math
import time
from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis.errors import HypothesisException

from . import blame
from .cases import Case, size
from .comparison import Broken, Meter, measuring
from .implementation import Implementation, LoadError
from .profiles import Profile, reaching
from .property import Property
from .verdict import Result

# How many of the smallest failing cases are tried before a failure is said to depend on history.
REPLAYS = 5


class _EnoughError(BaseException):
    """Ends a search that has found a failure and spent its attempts; no mistake of anyone.

    A BaseException, since Hypothesis takes every Exception for a failure of the test.
    """


class _Watch:
    """The body of a property, watched: it counts, remembers failures and ends a long search."""

    def __init__(self, searched: Property, profile: Profile, excusing: bool = True) -> None:
        self._property = searched
        self._profile = profile
        self._excusing = excusing
        self._held: set[Case] = set()
        self._deadline = math.inf
        self.failures: dict[Case, Broken] = {}
        self.excuses: Counter[str] = Counter()
        self.calls = 0
        self.calls_at_failure = 0

    def __call__(self, impl: Implementation, case: Case) -> None:
        broken = self.failures.get(case)
        if broken is None and case not in self._held:
            broken = self._try(impl, case)
        if broken is not None:
            # One line raises for all, since Hypothesis tells failures apart by where they arise.
            raise Broken(broken.sentence, broken.kind)

    def _try(self, impl: Implementation, case: Case) -> Broken | None:
        if self.failures and (
            self.calls - self.calls_at_failure >= self._profile.attempts
            or time.monotonic() > self._deadline
        ):
            raise _EnoughError
        self.calls += 1
        try:
            self._property.body(impl, case)
        except Broken as broken:
            culprit = None
            if self._excusing:
                culprit = blame.culprit(impl, self._property, case)
            if culprit is None:
                if not self.failures:
                    self.calls_at_failure = self.calls
                    self._deadline = time.monotonic() + self._profile.patience
                self.failures[case] = broken
                return broken
            self.excuses[culprit] += 1
        self._held.add(case)
        return None


def search(
    searched: Property, impl: Implementation, profile: Profile, *, excusing: bool = True
) -> Result:
    """Return what a search for a counterexample finds: held, broken, or error.

    Where `excusing`, a breach that a wrong lower function explains is none of this property.
    """
    started = time.perf_counter()
    watch = _Watch(searched, profile, excusing)
    with measuring() as meter:
        try:
            impl = impl.fresh()
            _run(searched, watch, impl, profile)
            result = _result(searched, impl, watch, meter)
        except LoadError as error:
            result = Result(searched, "broken", message=str(error))
        except Exception as error:
            result = Result(searched, "error", message=f"{type(error).__name__}: {error}")
    return _timed(result, time.perf_counter() - started)


def replay(searched: Property, impl: Implementation, case: Case) -> Result:
    """Return whether one case breaks a property: held, broken, or error."""
    started = time.perf_counter()
    watch = _Watch(searched, Profile("replay", examples=1, attempts=0, patience=0.0))
    with measuring() as meter:
        try:
            watch(impl.fresh(), case)
        except Broken:
            pass
        except Exception as error:
            result = Result(searched, "error", message=f"{type(error).__name__}: {error}")
            return _timed(result, time.perf_counter() - started)
    return _timed(_result(searched, impl, watch, meter), time.perf_counter() - started)


def _run(searched: Property, watch: _Watch, impl: Implementation, profile: Profile) -> None:
    @functools.wraps(searched.body)
    def body(impl: Implementation, case: Case) -> None:
        watch(impl, case)

    test = profile.settings(searched.share)(given(case=searched.strategy)(body))
    try:
        with reaching(profile):
            for case in searched.examples:
                try:
                    watch(impl, case)
                except Broken:
                    continue
            test(impl)
    except (Broken, _EnoughError):
        pass
    except HypothesisException:
        # A failure that does not come back is still a failure, and is in watch.failures.
        if not watch.failures:
            raise


def _result(searched: Property, impl: Implementation, watch: _Watch, meter: Meter) -> Result:
    worst = meter.worst if meter.worst is not None and math.isfinite(meter.worst) else None
    if not watch.failures:
        if not watch.excuses:
            return Result(searched, "held", watch.calls, worst)
        because = watch.excuses.most_common(1)[0][0]
        message = f"wrong only because {because} is"
        return Result(searched, "held", watch.calls, message=message, because=because)
    smallest = sorted(watch.failures, key=size)
    replays = [case for case in smallest[:REPLAYS] if _fails_alone(searched, impl, case)][:1]
    chosen = (replays or smallest)[0]
    broken = watch.failures[chosen]
    wrongest = max(smallest, key=lambda case: watch.failures[case].ratio or 0.0)
    return Result(
        searched,
        "broken",
        watch.calls,
        worst,
        counterexample=chosen,
        broken=broken,
        worst_case=wrongest,
        worst_broken=watch.failures[wrongest],
        message=broken.sentence or f"the error is {broken.ratio:.3g} times the rounding bound",
        replays=bool(replays),
    )


def _fails_alone(searched: Property, impl: Implementation, case: Case) -> bool:
    """Return whether a case breaks the property by itself, with nothing called before it."""
    try:
        searched.body(impl.fresh(), case)
    except Broken:
        return True
    return False


def _timed(result: Result, seconds: float) -> Result:
    return replace(result, seconds=seconds)
