"""What came out: a result for each property, and the verdict on the whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from ..traps import Trap
from .cases import Case
from .comparison import Broken
from .implementation import FUNCTIONS, PARTS
from .property import Property

if TYPE_CHECKING:
    from .scene import Scene

Outcome = Literal["held", "broken", "known", "not_checked", "not_run", "error"]
Word = Literal[
    "PASS", "FAIL", "CRASH", "TIMEOUT", "PROTOCOL", "LOAD_ERROR", "NOT_RUN", "GRADER_ERROR"
]


@dataclass(frozen=True)
class Result:
    """What a search for a counterexample to one property found.

    A property that is "known" to fail was not searched: its stored cases break it as before.
    `found_after` is how many of the `examples` it took until one was broken; 0 where none was.
    `worst_ratio` is the largest error seen, in rounding bounds; None where nothing was measured
    or it is not finite. `counterexample` is the smallest case that breaks the property, `broken`
    what it showed; `worst_case` the one with the largest error. `because` names a lower function
    whose mistake explains every breach that was seen, and `unexcused` is what the first of them
    comes to if it does not. Where the counterexample alone is answered
    rightly, it does not replay: `before` are the cases that came before it in the search, and
    `history` those of them after which it is answered wrongly again. Where the same calls are
    answered now so and now otherwise, it is `by_chance`. `scene` is what there is to look
    at, where pictures were asked for. `against` is how the old version was named, where that is
    needed to replay what was kept.
    """

    property: Property
    outcome: Outcome
    examples: int = 0
    worst_ratio: float | None = None
    seconds: float = 0.0
    counterexample: Case | None = None
    broken: Broken | None = None
    worst_case: Case | None = None
    worst_broken: Broken | None = None
    message: str = ""
    because: str | None = None
    unexcused: Result | None = field(default=None, repr=False)
    replays: bool = True
    before: tuple[Case, ...] = field(default=(), repr=False)
    history: tuple[Case, ...] = ()
    by_chance: bool = False
    found_after: int = 0
    saved_as: str | None = None
    against: str = ""
    scene: Scene | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Diagnosis:
    """What the mistake in one function is.

    `looks_like` are the traps that behave like it wherever both were tried: one, or several that
    nothing tells apart, or none. `measured` says in plain sentences what was found out about the
    mistake where no trap is like it.
    """

    function: str
    looks_like: tuple[Trap, ...] = ()
    measured: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What `check` says about an implementation; only PASS is a pass.

    `against` is how the old version that it was compared with was named, "" where there was none.
    """

    implementation: str
    verdict: Word
    profile: str
    isolation: str = "none"
    seconds: float = 0.0
    results: tuple[Result, ...] = field(default=(), repr=False)
    message: str = ""
    diagnoses: tuple[Diagnosis, ...] = field(default=(), repr=False)
    against: str = ""

    def __bool__(self) -> bool:
        return self.verdict == "PASS"

    def __str__(self) -> str:
        from ..reports import text

        return text.report(self)

    def __repr__(self) -> str:
        from ..reports import sentences

        return f"<{self.verdict} {self.implementation}: {sentences.counts_against(self)}>"

    def _repr_html_(self) -> str:
        from ..reports import html

        return html.fragment(self)

    @property
    def functions(self) -> dict[str, str]:
        """Each function: "held", "known", "broken", "missing", "not_run" or "not_checked".

        Those of the exercise, and what else is declared. Where all holds but what is known to
        fail, it is "known".
        """
        states = {name: self._state(name) for name in PARTS}
        return {
            name: state
            for name, state in states.items()
            if name in FUNCTIONS or state != "not_checked"
        }

    def _state(self, name: str) -> str:
        results = [
            result
            for result in self.results
            if result.property.function == name and not result.property.advice
        ]
        outcomes = {result.outcome for result in results}
        if any(result.broken and result.broken.kind == "missing" for result in results):
            return "missing"
        if "broken" in outcomes:
            return "broken"
        if outcomes <= {"not_checked"} and (outcomes or name not in FUNCTIONS):
            return "not_checked"
        if not outcomes or not outcomes <= {"held", "known", "not_checked"}:
            return "not_run"
        return "known" if "known" in outcomes else "held"

    def without_times(self) -> Verdict:
        """Return the verdict as it is whenever and wherever it is come to."""
        results = tuple(replace(result, seconds=0.0) for result in self.results)
        return replace(self, seconds=0.0, results=results)

    def diagnosis(self, function: str) -> Diagnosis | None:
        """Return what is said of the mistake in a function, or None."""
        return next((found for found in self.diagnoses if found.function == function), None)

    def with_outcome(self, outcome: Outcome) -> tuple[Result, ...]:
        """Return the results of that outcome, in reading order; advice is not among them."""
        return tuple(
            result
            for result in self.results
            if result.outcome == outcome and not result.property.advice
        )


# What the broken properties show, the gravest first.
_WORDS: tuple[tuple[str, Word], ...] = (
    ("protocol", "PROTOCOL"),
    ("attack", "CRASH"),
    ("crash", "CRASH"),
    ("hang", "TIMEOUT"),
)


def word_for(results: tuple[Result, ...]) -> Word:
    """Return the verdict that the results add up to."""
    judged = [result for result in results if not result.property.advice]
    outcomes = {result.outcome for result in judged}
    if "error" in outcomes:
        return "GRADER_ERROR"
    if "broken" in outcomes or any(result.because for result in judged):
        kinds = {result.broken.kind for result in judged if result.broken is not None}
        return next((word for kind, word in _WORDS if kind in kinds), "FAIL")
    return "PASS" if outcomes & {"held", "known"} and "not_run" not in outcomes else "NOT_RUN"
