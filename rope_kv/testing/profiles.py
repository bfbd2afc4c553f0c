"""Profiles: how long a search goes on, and how far it reaches."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import HypothesisWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.database import ExampleDatabase

# Who draws the cases where nothing else is said: Hypothesis itself.
HYPOTHESIS = "hypothesis"


class Profile(NamedTuple):
    """How a property is searched.

    `examples` is for a property of ordinary cost. After the first failure at most `attempts`
    more cases are tried to find a smaller one, fewer where they are long: a wrong implementation
    is not worth minutes. `patience` ends that in seconds, for code so slow that the number of
    attempts does not; only then may the smallest case depend on the machine. `reach` multiplies
    lengths and positions. Where it is `random`, what was found is kept in a `database`, that of
    Hypothesis where none is named, and cases may be drawn by another `backend`.
    """

    name: str
    examples: int
    attempts: int
    patience: float
    reach: int = 1
    random: bool = False
    database: ExampleDatabase | None = None
    backend: str = HYPOTHESIS

    @property
    def is_guided(self) -> bool:
        """Whether cases are drawn by what earlier ones have shown of the code."""
        return self.backend != HYPOTHESIS

    def settings(self, share: float) -> settings:
        """Return the Hypothesis settings of a property that costs 1/share of an ordinary one."""
        shared: dict[str, Any] = {
            "max_examples": max(1, round(self.examples * share)),
            "deadline": None,  # A verdict must not depend on how busy the machine is.
            "print_blob": False,
            "report_multiple_bugs": False,
            "phases": (Phase.reuse, Phase.generate, Phase.shrink),
            "suppress_health_check": list(HealthCheck),
            "verbosity": Verbosity.quiet,
        }
        if not self.random:
            return settings(**shared, derandomize=True, database=None)
        kept_in = self.database
        shared["database"] = _usual_database() if kept_in is None else kept_in
        return settings(**shared, backend=self.backend)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("grade", examples=60, attempts=150, patience=4.0),
        Profile("dev", examples=60, attempts=300, patience=4.0, random=True),
        Profile("ci", examples=200, attempts=300, patience=4.0),
        Profile("hunt", examples=3000, attempts=2000, patience=60.0, reach=8, random=True),
    )
}


@contextmanager
def without_a_word() -> Iterator[None]:
    """Let Hypothesis keep its examples in memory where the current folder is read-only.

    It would warn of that for each property, and nothing can be done about it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)
        yield


def _usual_database() -> ExampleDatabase | None:
    with without_a_word():
        return settings().database


_reach: ContextVar[int] = ContextVar("reach", default=1)


def reach() -> int:
    """Return the reach of the search that is going on: 1, or more in a long hunt."""
    return _reach.get()


@contextmanager
def leaving_no_files() -> Iterator[None]:
    """Keep Hypothesis from leaving a folder behind, where a profile uses nothing of it.

    It gives up on a folder that cannot be made, without a word.
    """
    set_hypothesis_home_dir(Path(os.devnull) / "hypothesis")
    try:
        yield
    finally:
        set_hypothesis_home_dir(None)


@contextmanager
def reaching(profile: Profile) -> Iterator[None]:
    """Make `reach` answer for this profile inside the block."""
    token = _reach.set(profile.reach)
    try:
        yield
    finally:
        _reach.reset(token)
