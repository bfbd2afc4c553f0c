"""What each property costs: examples a second, beside the bare cost of the calls they make.

    python rope_kv/tests/benchmark_properties.py --exercise
    python rope_kv/tests/benchmark_properties.py --only "far positions" --rounds 9

A search is timed whole; then what it is made of, each by itself and for the same cases: what
Hypothesis takes to draw them, what the bodies of the property take, and what the calls of the
implementation take, made again with the arguments that were recorded and nothing around them.
All is CPU time, the least of some rounds. Those that make most of their calls come last.
"""

import argparse
import contextlib
import copy
import gc
import time
from typing import NamedTuple

import numpy as np
import timing

from rope_kv.testing import rehearsal, search
from rope_kv.testing.budget import Budget
from rope_kv.testing.check import _collecting_rarely
from rope_kv.testing.fitting import fitted
from rope_kv.testing.implementation import ATTRIBUTES, InProcess
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES, reaching
from rope_kv.testing.property import properties_of
from rope_kv.testing.trace import TracedDecoder

STARTING = ("start", "start_batch", "fork")
HEADING = ("property", "cases", "a second", "whole", "drawing", "bodies", "calls", "whole/calls")


class Called(NamedTuple):
    """A call that was made: of a function, or of a method of what the call at a place started."""

    function: str
    arguments: tuple
    named: dict
    place: int | None


class Recording(InProcess):
    """An implementation in this process that keeps a copy of each call before it is made."""

    def __init__(self, code, name):
        super().__init__(code, name)
        self.called = []
        self._started = []

    def _call(self, name, arguments, named, of=None):
        own = () if of is None else (of,)
        place = next((at for at, one in self._started for this in own if one is this), None)
        at = len(self.called)
        bare = tuple(map(_bare, arguments))
        self.called.append(Called(name, bare, copy.deepcopy(named), place))
        answer = super()._call(name, arguments, named, *own)
        if name in STARTING:
            self._started.append((at, answer))
        return answer

    def forget(self):
        """Forget all calls."""
        self.called, self._started = [], []


def _bare(argument):
    """Return a copy of an argument; of a decoder that records its calls, the one it stands for."""
    if isinstance(argument, TracedDecoder):
        return argument._decoder
    return copy.deepcopy(argument)


class Bare:
    """The calls that were recorded, made again; each time with arguments nobody has touched."""

    def __init__(self, code, called):
        self._code = code
        self._called = called

    def __call__(self):
        answers = []
        for name, arguments, named, place in self._called:
            function = getattr(self._code if place is None else answers[place], name)
            answer = None
            # What is beyond a limit is refused, and has to be.
            with contextlib.suppress(Exception), np.errstate(all="ignore"):
                is_value = name in ATTRIBUTES and not callable(function)
                answer = function if is_value else function(*arguments, **named)
            answers.append(answer)
        return answers


class Watched:
    """The body of a property that notes each case and tries none."""

    def __init__(self):
        self.cases = {}
        self.failures = {}

    def __call__(self, impl, case):
        self.cases[case] = None


def measured(prop, impl, profile, rounds):
    """Return the row of the table for one property, in seconds; None where it does not hold."""
    impl.forget()
    rehearsal._kept.clear()
    if search.search(prop, impl, profile).outcome != "held":
        return None
    declared = prop.declared_by(impl)
    cases = rehearsal.cases(rehearsal.key(prop, profile, declared))
    impl.forget()
    _bodies(prop, impl, cases, profile)
    plain = InProcess(impl._code, impl.name, capabilities=impl.capabilities)
    runs = {
        "whole": lambda: _whole(prop, plain, profile),
        "drawing": lambda: _drawn(prop, plain, profile),
        "bodies": lambda: _bodies(prop, plain, cases, profile),
        "calls": Bare(impl._code, impl.called),
    }
    _expect_same_cases(prop, plain, profile, cases)
    took = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            gc.collect()
            with _collecting_rarely():
                started = time.process_time()
                run()
                took[name].append(time.process_time() - started)
    return Row(prop.title, len(cases), *(min(each) for each in took.values()))


class Row(NamedTuple):
    """What the cases of a property take, in seconds of the CPU."""

    title: str
    cases: int
    whole: float
    drawing: float
    bodies: float
    calls: float

    def shown(self):
        """Return it as it stands in the table: times for each case."""
        parts = (self.whole, self.drawing, self.bodies, self.calls)
        return (
            self.title[:60],
            self.cases,
            f"{self.cases / self.whole:.0f}",
            *(timing.told(part / self.cases) for part in parts),
            f"{self.whole / self.calls:.1f}",
        )


def _whole(prop, impl, profile):
    rehearsal._kept.clear()
    search.search(prop, impl, profile, Budget())


def _drawn(prop, impl, profile):
    watched = Watched()
    with reaching(profile):
        search._draw(prop, watched, impl, profile)
    return watched.cases


def _bodies(prop, impl, cases, profile):
    with reaching(profile):
        for case in cases:
            prop.breach(impl, case)


def _expect_same_cases(prop, impl, profile, cases):
    """Raise AssertionError where what is timed by itself is not what the search did."""
    explicit = [fitted(case, prop.declared_by(impl)) for case in prop.examples]
    drawn = [*explicit, *_drawn(prop, impl, profile)]
    assert list(dict.fromkeys(drawn)) == list(cases), prop.name


def total(rows):
    """Return the row that all others add up to."""
    return Row("all of them", *(sum(part) for part in list(zip(*rows, strict=True))[1:]))


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impl", default="rope_kv", help="a module or a file, run in process")
    parser.add_argument("--exercise", action="store_true", help="the exercise alone")
    parser.add_argument("--only", default="", metavar="WORD", help="those whose name has WORD")
    parser.add_argument("--profile", choices=("grade", "ci"), default="grade")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    impl = Recording(load(given.impl)._code, given.impl)
    if given.exercise:
        impl.declare_nothing()
    rows = []
    for prop in properties_of(impl):
        if given.only in prop.title and not prop.unmet(impl):
            row = measured(prop, impl, PROFILES[given.profile], given.rounds)
            if row is None:
                print(f"left out, since it does not hold: {prop.title}")
            else:
                rows.append(row)
    rows.sort(key=lambda row: row.whole / row.calls, reverse=True)
    print(timing.table(HEADING, [row.shown() for row in (*rows, total(rows))]))
    for name in ("drawing", "bodies"):
        rows.sort(key=lambda row: getattr(row, name), reverse=True)
        print(f"\nmost time for {name}, of all cases:")
        for row in rows[:10]:
            print(f"  {timing.told(getattr(row, name)):>8}  {row.title}")


if __name__ == "__main__":
    main()
