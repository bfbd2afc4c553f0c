"""Searching for the smallest case that breaks a property."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis.errors import HypothesisException

from . import blame, rehearsal, repetition
from .budget import Budget
from .capabilities import NOTHING_DECLARED
from .cases import Case, size
from .comparison import COSTLY, ENDING, Broken, IncomparableError, Meter, measuring
from .fitting import fitted
from .implementation import Implementation
from .loading import LoadError
from .profiles import Profile, reaching
from .property import Property
from .verdict import Result

# How many earlier cases are repeated to find out whose memory a failure depends on: what is
# remembered wrongly is mostly remembered from the start.
HISTORY = 200
# How often that is found out in one search; then it is taken to be so again.
HISTORIES = 2
# A case of as many numbers as this costs two attempts.
AS_LONG_AS_TWO = 512
# So many breaches that end a process, and are those of a lower function, are enough to see.
ENOUGH_EXCUSED = 5
# So many costly breaches spend all attempts.
ALL_ATTEMPTS = 5


class _EnoughError(BaseException):
    """Ends a search that has found a failure and spent its attempts; no mistake of anyone.

    A BaseException, since Hypothesis takes every Exception for a failure of the test.
    """


class _Watch:
    """The body of a property, watched: it counts, remembers failures and ends a long search."""

    def __init__(
        self, searched: Property, profile: Profile, budget: Budget, excusing: bool = True
    ) -> None:
        self.property = searched
        self._profile = profile
        self._budget = budget
        self._excusing = excusing
        self._deadline = math.inf
        self.tried: dict[Case, Broken | None] = {}
        self.failures: dict[Case, Broken] = {}
        self.excused: dict[Case, Broken] = {}
        self.excuses: Counter[str] = Counter()
        self.cut_short = ""
        self._attempts = 0.0
        self._memories: list[bool] = []

    def __call__(self, impl: Implementation, case: Case) -> None:
        # Who is guided by coverage asks again, to see whether a case takes the same branches.
        if case not in self.tried or (self._profile.is_guided and self.tried[case] is None):
            self.tried[case] = self._try(impl, case)
        broken = self.tried[case]
        if broken is not None:
            # One line raises for all, since Hypothesis tells failures apart by where they arise.
            raise Broken(broken.sentence, broken.kind)

    def all_hold(self, impl: Implementation, cases: tuple[Case, ...]) -> bool:
        """Return whether there are cases and all of them hold; none is tried after one fails."""
        with contextlib.suppress(Broken):
            for case in cases:
                self(impl, case)
        return bool(cases) and not self.failures

    def _try(self, impl: Implementation, case: Case) -> Broken | None:
        if reason := self._budget.spent():
            self.cut_short = reason
            raise _EnoughError
        if self.failures:
            self._attempts += 1 + size(case)[0] / AS_LONG_AS_TWO
            if self._attempts > self._profile.attempts or time.monotonic() > self._deadline:
                raise _EnoughError
        broken = self.property.breach(impl, case)
        if broken is None:
            return None
        self._budget.take(broken.kind)
        if broken.kind in COSTLY:
            self._attempts += self._profile.attempts / ALL_ATTEMPTS
        if self._is_excused(impl, case, broken):
            self.excused.setdefault(case, broken)
            if broken.kind in ENDING and len(self.excused) >= ENOUGH_EXCUSED:
                raise _EnoughError
            return None
        if not self.failures:
            self._deadline = time.monotonic() + self._profile.patience
        self.failures[case] = broken
        return broken

    def _is_excused(self, impl: Implementation, case: Case, broken: Broken) -> bool:
        if not self._excusing:
            return False

        def lower_remembers() -> bool:
            if len(self._memories) < HISTORIES:
                history = tuple(self.tried)[:HISTORY]
                found = blame.remembers_wrongly(impl, self.property, case, history)
                self._memories.append(found)
            return self._memories[-1]

        culprit = blame.culprit(impl, self.property, case, broken.kind, lower_remembers)
        if culprit is not None:
            self.excuses[culprit] += 1
        return culprit is not None


def search(
    searched: Property,
    impl: Implementation,
    profile: Profile,
    budget: Budget | None = None,
    *,
    excusing: bool = True,
    first: tuple[Case, ...] = (),
) -> Result:
    """Return what a search for a counterexample finds: held, broken, not_run or error.

    It is not_run where the budget ended it before there was a counterexample. Where `excusing`,
    a breach that a wrong lower function explains is none of this property. `first` are cases to
    try before any is drawn.
    """
    watch = _Watch(searched, profile, budget or Budget(), excusing)
    return _judged(impl, watch, lambda fresh: _run(searched, watch, fresh, profile, first))


def replay(
    searched: Property, impl: Implementation, case: Case, budget: Budget | None = None
) -> Result:
    """Return whether one case breaks a property: held, broken, not_run or error."""
    profile = Profile("replay", examples=1, attempts=0, patience=0.0)
    watch = _Watch(searched, profile, budget or Budget())
    return _judged(
        impl, watch, lambda fresh: watch(fresh, fitted(case, searched.declared_by(impl)))
    )


def _judged(impl: Implementation, watch: _Watch, run: Callable[[Implementation], None]) -> Result:
    """Return the result of a run that is watched, on the implementation with no memory.

    Where what the property needs is not declared, nothing is run: it is not_checked.
    """
    if lacking := watch.property.unmet(impl):
        return Result(watch.property, "not_checked", message=lacking)
    started = time.perf_counter()
    with measuring() as meter:
        try:
            with contextlib.suppress(Broken, _EnoughError):
                run(impl.fresh())
            result = _result(watch, impl, meter)
        except IncomparableError as error:
            result = Result(watch.property, "not_checked", message=str(error))
        except LoadError as error:
            result = Result(watch.property, "broken", message=str(error))
        except Exception as error:
            # Whatever else is raised is not the implementation's: those come as Broken.
            result = Result(watch.property, "error", message=f"{type(error).__name__}: {error}")
    return replace(result, seconds=time.perf_counter() - started)


def _run(
    searched: Property,
    watch: _Watch,
    impl: Implementation,
    profile: Profile,
    first: tuple[Case, ...],
) -> None:
    declared = searched.declared_by(impl)
    this = rehearsal.key(searched, profile, declared, first)
    with reaching(profile):
        for case in (*first, *searched.examples):
            with contextlib.suppress(Broken):
                watch(impl, fitted(case, declared))
        if not watch.failures and watch.all_hold(impl, rehearsal.cases(this)):
            return
        _draw(searched, watch, impl, profile)
    if not watch.failures:
        rehearsal.keep(this, tuple(watch.tried))


def _draw(searched: Property, watch: _Watch, impl: Implementation, profile: Profile) -> None:
    """Have Hypothesis draw cases, and smaller ones once one fails."""
    declared = searched.declared_by(impl)

    @functools.wraps(searched.body)
    def body(impl: Implementation, case: Case) -> None:
        watch(impl, case)

    strategy = searched.strategy
    if declared != NOTHING_DECLARED:
        strategy = strategy.map(lambda case: fitted(case, declared))
    test = profile.settings(searched.share)(given(case=strategy)(body))
    try:
        test(impl)
    except HypothesisException:
        # A failure that does not come back is still a failure, and is in watch.failures.
        if not watch.failures:
            raise


def _result(watch: _Watch, impl: Implementation, meter: Meter) -> Result:
    searched, count = watch.property, len(watch.tried)
    worst = meter.worst if meter.worst is not None and math.isfinite(meter.worst) else None
    if not watch.failures:
        if watch.cut_short:
            return Result(searched, "not_run", count, worst, message=watch.cut_short)
        if not watch.excuses:
            return Result(searched, "held", count, worst)
        because = watch.excuses.most_common(1)[0][0]
        message = f"wrong only because {because} is"
        tried, (case, broken) = tuple(watch.tried), next(iter(watch.excused.items()))
        unexcused = Result(
            searched,
            "broken",
            count,
            counterexample=case,
            broken=broken,
            message=_sentence(broken),
            replays=False,
            before=tried[: tried.index(case)] if case in watch.tried else tried,
        )
        return Result(
            searched, "held", count, message=message, because=because, unexcused=unexcused
        )
    again = repetition.alone(searched, impl, watch.failures)
    broken = watch.failures[again.case]
    tried = tuple(watch.tried)
    before = () if again.alone else tried[: tried.index(again.case)]
    may_be_the_machine = broken.kind in ("hang", "attack", "crash") and not again.alone
    if may_be_the_machine and repetition.breach(searched, impl, (*before, again.case)) is None:
        # Nothing is accused of a delay, or of an end, that came once.
        return Result(searched, "not_run", count, worst, message=f"once, {broken.sentence}")
    wrongest = max(watch.failures, key=lambda case: watch.failures[case].ratio or 0.0)
    return Result(
        searched,
        "broken",
        count,
        worst,
        counterexample=again.case,
        broken=broken,
        worst_case=wrongest,
        worst_broken=watch.failures[wrongest],
        message=_sentence(broken),
        replays=again.alone,
        before=before,
        by_chance=again.by_chance,
        found_after=tried.index(next(iter(watch.failures))) + 1,
    )


def _sentence(broken: Broken) -> str:
    """Return what a breach shows, in words."""
    return broken.sentence or f"the error is {broken.ratio or 0:.3g} times the rounding bound"
