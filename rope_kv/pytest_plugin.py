# ruff: noqa: E402 - numpy reads once, when it is loaded, how many threads it may use
"""The pytest plugin: which implementation is verified, and what a broken property looks like.

Load it with `-p rope_kv.pytest_plugin`. It touches only tests that are properties of rope_kv;
other tests, and their Hypothesis settings, stay as they are.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from . import __version__, options, threads

threads.use_one()

from .console import showable
from .reports import text
from .sandbox.process import SandboxError
from .testing import counterexample
from .testing.budget import Budget
from .testing.check import recorded, usual_time_limit
from .testing.diagnosis import confirmed, diagnosis
from .testing.implementation import Implementation
from .testing.known_failures import judged
from .testing.loading import LoadError, SpecError
from .testing.pair import Pair
from .testing.profiles import PROFILES, Profile, without_a_word
from .testing.property import Property, find_property, properties_of
from .testing.repetition import explained
from .testing.search import replay

if TYPE_CHECKING:
    from .testing.verdict import Diagnosis, Result

_IMPL = pytest.StashKey[Implementation]()
_BUDGET = pytest.StashKey[Budget]()
_FOUND = pytest.StashKey["dict[str, Diagnosis | None]"]()
_RESULTS = pytest.StashKey["list[Result]"]()

for _profile in PROFILES.values():
    # Only the name: --hypothesis-profile must know it, and other tests must notice nothing.
    # "ci" is Hypothesis's own, which it loads on a CI machine.
    if _profile.name != "ci":
        with without_a_word():
            settings.register_profile(_profile.name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --impl, --record, --no-record, and the options of isolation."""
    group = parser.getgroup("rope_kv")
    group.addoption(
        "--impl",
        default="rope_kv",
        metavar="IMPL",
        help="what to verify: file.py, file.py:name, module or module:name (default: rope_kv)",
    )
    group.addoption(
        "--record",
        type=Path,
        metavar="DIR",
        help="keep each smallest counterexample as a file in DIR "
        "(default: regressions/, where the current folder has one)",
    )
    group.addoption("--no-record", action="store_true", help="keep no counterexample")
    options.add_against(group.addoption)
    options.add_where(group.addoption)
    options.add_limits(group.addoption)


def pytest_configure(config: pytest.Config) -> None:
    """Load the implementation under test, once."""
    if config.getoption("--exact") and config.getoption("--against") is None:
        raise pytest.UsageError("--exact is for the comparison with an old version: add --against")
    try:
        impl = options.open_both(config.getoption("--impl"), config.option)
    except (SpecError, LoadError, SandboxError) as error:
        which = "--impl" if config.getoption("--against") is None else "--impl, --against"
        raise pytest.UsageError(f"{which}: {error}") from None
    config.stash[_IMPL] = impl
    config.add_cleanup(impl.close)
    limit = config.getoption("--time-limit")
    config.stash[_BUDGET] = Budget(limit or usual_time_limit(impl, _profile_of(config).name))
    config.stash[_FOUND], config.stash[_RESULTS] = {}, []
    config.pluginmanager.register(_Summary(config), "rope_kv summary")


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is verified."""
    spec, level = config.getoption("--impl"), config.stash[_IMPL].isolation
    if against := config.getoption("--against"):
        spec += f" against {against}"
    profile = _profile_of(config).name
    return f"rope_kv: {__version__}, {spec}, profile {profile}, {text.isolation(level)}"


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, obj: object
) -> list[pytest.Item] | None:
    """Collect no test that compares two versions, where there is only one."""
    found = find_property(obj) if inspect.isfunction(obj) else None
    is_of_two = found is not None and found.compares
    return [] if is_of_two and not isinstance(collector.config.stash[_IMPL], Pair) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what does not concern what the implementation declares."""
    shown = {prop.name for prop in properties_of(config.stash[_IMPL])}
    beyond = [
        item
        for item in items
        if (found := _property_of(item)) is not None and found.name not in shown
    ]
    if beyond:
        config.hook.pytest_deselected(items=beyond)
        items[:] = [item for item in items if item not in beyond]


def _property_of(item: pytest.Item) -> Property | None:
    """Return the property that a test searches, or of which it replays a stored case."""
    found = find_property(getattr(item, "obj", None))
    if found is None and (path := getattr(item, "callspec", None)) is not None:
        stored = path.params.get("path")
        is_stored = "replay_file" in getattr(item, "fixturenames", ())
        if is_stored and isinstance(stored, Path):
            with contextlib.suppress(counterexample.CounterexampleError):
                found = counterexample.load(stored).property
    return found


@pytest.fixture(scope="session")
def impl(request: pytest.FixtureRequest) -> Implementation:
    """Give the implementation under test."""
    return request.config.stash[_IMPL]


@pytest.fixture
def replay_file(request: pytest.FixtureRequest, impl: Implementation) -> Callable[[Path], None]:
    """Give the function that replays a stored counterexample against the implementation."""

    def replay_one(path: Path) -> None:
        try:
            stored = counterexample.load(path)
        except counterexample.CounterexampleError as error:
            pytest.fail(str(error), pytrace=False)
        budget = request.config.stash[_BUDGET]
        _conclude(request.node, replay(stored.property, impl, stored.case, budget))

    return replay_one


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Search for a counterexample, where the test is a property."""
    found = find_property(pyfuncitem.obj)
    if found is None:
        return None
    config = pyfuncitem.config
    result = judged(found, config.stash[_IMPL], _profile_of(config), config.stash[_BUDGET])
    result = explained(result, config.stash[_IMPL])
    record = counterexample.where_to_record(
        config.getoption("--record"), config.getoption("--no-record")
    )
    if record is not None:
        result = recorded(result, record, config.stash[_IMPL])
    _conclude(pyfuncitem, result)
    return True


def _conclude(item: pytest.Item, result: Result) -> None:
    """Pass or fail a test by the result of its property."""
    shown = text.failure(result, item.config.getoption("--impl"), _diagnosis(item.config, result))
    # Not sys.stdout: that is pytest's while a test runs.
    shown = showable(shown, sys.__stdout__)
    item.user_properties.append(
        (
            "rope_kv",
            {
                "function": result.property.function,
                "outcome": result.outcome,
                "advice": shown if result.property.advice else None,
                "because": result.because,
                "worst_ratio": result.worst_ratio,
                "saved_as": result.saved_as,
            },
        )
    )
    if result.outcome == "error":
        pytest.fail(f"a fault of rope_kv: {result.message}", pytrace=False)
    if result.property.advice:
        return
    if result.outcome == "broken":
        pytest.fail(shown, pytrace=False)
    if result.outcome == "not_run":
        pytest.fail(f"not run, which is no pass: {result.message}", pytrace=False)
    if result.outcome == "known":
        pytest.xfail(f"known to fail: {result.message}")
    if result.outcome == "not_checked":
        pytest.skip(f"not checked: {result.message}")


def _diagnosis(config: pytest.Config, result: Result) -> Diagnosis | None:
    """Return what the mistake in a function is, found out with the first property that it breaks.

    The others only confirm it: each would find out the same again.
    """
    impl, function = config.stash[_IMPL], result.property.function
    results, known = config.stash[_RESULTS], config.stash[_FOUND]
    results.append(result)
    if result.outcome != "broken" or result.property.advice or result.property.compares:
        return None
    if function not in known:
        known[function] = diagnosis(function, results, impl)
        return known[function]
    found = known[function]
    return found if found and confirmed(found, results, impl) else None


def _also(count: int, what: str) -> str:
    return f", {count} {what}" if count else ""


def _profile_of(config: pytest.Config) -> Profile:
    """Return the profile named with --hypothesis-profile; else ci on a CI machine, else dev."""
    named = config.getoption("--hypothesis-profile", None)
    if named in PROFILES:
        return PROFILES[named]
    return PROFILES["ci" if os.environ.get("CI") else "dev"]


class _Summary:
    """What the properties of a session came to; with pytest-xdist, where the reports arrive."""

    def __init__(self, config: pytest.Config) -> None:
        self._impl = config.getoption("--impl")
        self._is_worker = hasattr(config, "workerinput")
        self._facts: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of one property."""
        if report.when == "call":
            for name, facts in report.user_properties:
                if name == "rope_kv" and isinstance(facts, dict):
                    self._facts.append(facts)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a session that blames a function which it did not see to break."""
        if self._unfounded() and not self._is_worker and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the last lines."""
        if not self._facts:
            return
        terminalreporter.section("rope_kv")
        for line in self._lines():
            terminalreporter.write_line(line)

    def _lines(self) -> Iterator[str]:
        outcomes = Counter(facts["outcome"] for facts in self._facts if not facts["advice"])
        worst = max(
            (f["worst_ratio"] or 0 for f in self._facts if f["outcome"] == "held"), default=0
        )
        yield (
            f"{self._impl}: {outcomes['held']} held, {outcomes['broken']} broken"
            f"{_also(outcomes['known'], 'known to fail')}"
            f"{_also(outcomes['not_run'], 'not run')}"
            f"{_also(outcomes['not_checked'], 'not checked')}; "
            f"largest error of what held: {worst:.2g} of its rounding bound"
        )
        for function, lower in sorted(self._excused()):
            yield f"{function} is wrong only because {lower} is"
        for lower in self._unfounded():
            yield f"FAILED: no property of {lower} was run that shows what is wrong with it"
        for facts in self._facts:
            if facts["saved_as"]:
                yield f"kept {facts['saved_as']}"
            if facts["advice"] and facts["outcome"] == "broken":
                yield facts["advice"]

    def _excused(self) -> set[tuple[str, str]]:
        return {(f["function"], f["because"]) for f in self._facts if f["because"]}

    def _unfounded(self) -> set[str]:
        """Return the functions that are blamed and of which nothing was seen to be wrong."""
        broken = {f["function"] for f in self._facts if f["outcome"] == "broken"}
        return {lower for _, lower in self._excused()} - broken - {f for f, _ in self._excused()}
