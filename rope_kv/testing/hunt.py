"""A hunt: each property is searched again and again, for hours, with other cases every time."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from . import known_failures, repetition
from .budget import Budget
from .check import excuse_stands, recorded
from .coverage_guide import Guide
from .diagnosis import diagnosis
from .implementation import Implementation
from .profiles import Profile
from .property import Property
from .search import search
from .shown import shown
from .verdict import Diagnosis, Result

# The first turn of a property is short, so that each has had one soon; then they double, up to
# what the profile allows.
FIRST_TURN = 60
# An error of our own may be the machine's; one that comes so often is not looked for again.
MOST_ERRORS = 3
# So many guided turns that have seen no branch at all are enough to see that there is none.
BLIND_TURNS = 5
TIME_IS_UP = "the time is up"
INTERRUPTED = "interrupted"
NOTHING_LEFT = "nothing is left to search"


@dataclass
class Tally:
    """What has come of one property so far.

    One that `ended` is not searched any more: what breaks it would be found again and again, and
    what else may be wrong with it is for the next hunt, when that is mended.
    """

    of: Property
    turns: int = 0
    cases: int = 0
    seconds: float = 0.0
    worst: float | None = None
    errors: int = 0
    latest: Result | None = None

    @property
    def ended(self) -> bool:
        """Whether it has no turn any more."""
        if self.latest is None or self.latest.outcome in ("held", "not_run"):
            return False
        return self.latest.outcome != "error" or self.errors >= MOST_ERRORS

    @property
    def is_broken(self) -> bool:
        """Whether a counterexample was found; advice counts for nothing."""
        is_broken = self.latest is not None and self.latest.outcome == "broken"
        return is_broken and not self.of.advice

    def take(self, result: Result) -> None:
        """Add what a turn has come to."""
        self.turns += 1
        self.seconds += result.seconds
        self.errors += result.outcome == "error"
        if result.worst_ratio is not None:
            self.worst = max(self.worst or 0.0, result.worst_ratio)
        # A turn that was cut short does not make what held unknown, and a turn without a breach
        # does not make one unseen that a lower function excuses.
        is_known = self.latest is not None and (
            result.outcome == "not_run" or (result.outcome == "held" and bool(self.latest.because))
        )
        if not is_known:
            self.latest = result


class Standing(NamedTuple):
    """How a hunt stands; `left` is None where it has no end, `branches` where nobody counts."""

    passed: float
    left: float | None
    cases: int
    branches: int | None
    worst: float | None
    broken: int
    title: str


class Silence:
    """Who is told how a hunt goes on, and does nothing with it."""

    def is_due(self) -> bool:
        """Return whether it is time to say how it goes on; asked for every case."""
        return False

    def goes_on(self, standing: Standing) -> None:
        """Take note of how it stands."""

    def found(self, result: Result, found: Diagnosis | None, *, is_new: bool) -> None:
        """Take note of a broken property, and whether it says anything that is new."""

    def says(self, sentence: str) -> None:
        """Take note of what else there is to say."""

    def over(self) -> None:
        """Leave nothing behind."""


class Hunt:
    """The search of some properties of one implementation, until its time is up or it is stopped.

    With a `guide`, turns that take half of the time are guided by coverage: they try fewer cases
    in the same time, and where there is no new branch to be found, cases at random are worth more.
    """

    def __init__(
        self,
        impl: Implementation,
        properties: tuple[Property, ...],
        profile: Profile,
        *,
        record: Path,
        seconds: float = math.inf,
        guide: Guide | None = None,
        seen: Silence | None = None,
    ) -> None:
        self.tallies = tuple(Tally(prop) for prop in properties)
        self.over = ""
        self._impl = impl
        self._profile = profile
        self._record = record
        self._seconds = seconds
        self._guide = guide
        self._guided_turns = 0
        self._seconds_of = {False: 0.0, True: 0.0}
        self._seen = seen or Silence()
        self._started = self._end = time.monotonic()
        self._diagnosed: set[str] = set()

    def run(self) -> None:
        """Search until the time is up, `stop` is called, or nothing is left to search."""
        self._started = time.monotonic()
        self._end = self._started + self._seconds
        try:
            while not self.why_over():
                going_on = [tally for tally in self.tallies if not tally.ended]
                if not going_on:
                    self.over = NOTHING_LEFT
                for tally in going_on:
                    if self.why_over():
                        break
                    self._take_turn(tally)
        except KeyboardInterrupt:
            self.over = INTERRUPTED

    def stop(self) -> None:
        """End the hunt after the case that is being tried; may be called by a signal handler."""
        self.over = INTERRUPTED

    def why_over(self) -> str:
        """Return why nothing more is searched, or ""."""
        if not self.over and time.monotonic() > self._end:
            self.over = TIME_IS_UP
        return self.over

    def counts(self, tally: Tally) -> None:
        """Count a case, and now and then say how the hunt stands."""
        tally.cases += 1
        if self._seen.is_due():
            self._seen.goes_on(self.standing(tally.of.title))

    def standing(self, title: str = "") -> Standing:
        """Return how the hunt stands."""
        now = time.monotonic()
        ratios = [t.worst for t in self.tallies if t.worst is not None and not t.is_broken]
        return Standing(
            passed=now - self._started,
            left=max(0.0, self._end - now) if self._seconds < math.inf else None,
            cases=sum(tally.cases for tally in self.tallies),
            branches=len(self._guide.branches) if self._guide is not None else None,
            worst=max(ratios, default=None),
            broken=sum(tally.is_broken for tally in self.tallies),
            title=title,
        )

    def _take_turn(self, tally: Tally) -> None:
        prop, budget = tally.of, _Clock(self, tally)
        profile = self._profile_of(tally)
        started = time.monotonic()
        result = known_failures.judged(prop, self._impl, profile, budget)
        self._seconds_of[profile.is_guided] += time.monotonic() - started
        if not excuse_stands(result, [*self._others(tally), result]):
            again = search(prop, self._impl, profile, budget, excusing=False)
            result = again if again.outcome in ("broken", "error") else result.unexcused or again
        tally.take(result)
        if result.outcome == "broken":
            self._take_find(tally, result)

    def _profile_of(self, tally: Tally) -> Profile:
        """Return how long a property is searched in its next turn, and who draws the cases."""
        examples = min(FIRST_TURN << min(tally.turns, 16), self._profile.examples)
        profile = self._profile._replace(examples=examples)
        has_had_its_share = self._seconds_of[True] > self._seconds_of[False]
        if self._guide is None or tally.turns == 0 or has_had_its_share:
            return profile
        if self._guided_turns >= BLIND_TURNS and not self._guide.branches:
            self._guide = None
            self._seen.says("no branch of the code is seen, so coverage does not guide the hunt")
            return profile
        self._guided_turns += 1
        return profile._replace(backend=self._guide.backend)

    def _others(self, tally: Tally) -> list[Result]:
        """Return the results of the other properties, those that there are."""
        others = (other.latest for other in self.tallies if other is not tally)
        return [result for result in others if result is not None]

    def _take_find(self, tally: Tally, result: Result) -> None:
        """Keep the counterexample at once, then find out more about it."""
        result = self._kept(repetition.explained(result, self._impl))
        tally.latest = result
        known = [*self._others(tally), result]
        function, found = result.property.function, None
        if function not in self._diagnosed and not result.property.compares and not self.over:
            self._diagnosed.add(function)
            found = diagnosis(function, known, self._impl)
        self._seen.found(result, found, is_new=result in shown(known).in_full)

    def _kept(self, result: Result) -> Result:
        try:
            return recorded(result, self._record, self._impl)
        except OSError as error:
            self._seen.says(f"what was found cannot be kept in {self._record}: {error.strerror}")
            return result


class _Clock(Budget):
    """The budget of one turn: it lasts as long as the hunt does, and counts its cases."""

    def __init__(self, hunt: Hunt, tally: Tally) -> None:
        super().__init__()
        self._hunt = hunt
        self._tally = tally

    def spent(self) -> str:
        """Return why nothing more may be run, as a clause."""
        if reason := self._hunt.why_over() or super().spent():
            return reason
        self._hunt.counts(self._tally)
        return ""
