"""Programs of sessions and batches, done by an old and a new version, a step in turn, compared.

A session of either is refused, cropped, forked and fed as the other is: where one refuses, the
other must, and both go on as they were. That holds for a ring that may refuse to go back, too: who
uses it relies on one or the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import free_bounds, programs
from .agreement import Returned, agreed, expect_same, paired, precision
from .bounds import TINY
from .cases import Matrix, array
from .implementation import Implementation
from .library_cases import FILLS, BatchCase, BatchStep, ProgramCase, Step, session_name
from .pair import Pair
from .same_calls import Decoders, expect_same_rows, forget_calls

Array = NDArray[np.float64]


class Two(NamedTuple):
    """What an old and a new version have started, and the tokens that both have seen."""

    old: Any
    new: Any
    history: Matrix = ()

    def each(self, call: Callable[[Any], Any], what: str) -> Returned | None:
        """Return what a call of each answers; None where both refuse."""
        return agreed(lambda: call(self.new), lambda: call(self.old), what)


def expect_program(impl: Implementation, case: ProgramCase) -> None:
    """Compare all that a program returns, what it projects, refuses, and calls its length."""
    _Program(paired(impl), case).run()


class _Program:
    """A program that both versions do; a session that both refused to start is None."""

    def __init__(self, pair: Pair, case: ProgramCase) -> None:
        self._pair = pair
        self._case = case
        self._decoders = _decoders(pair, case)
        self._within = _Within(pair, case.setup.decoder())
        self._sessions = [self._started(case.capacity)]

    def run(self) -> None:
        """Do all steps."""
        for count, step in enumerate(self._case.steps, start=1):
            # What was projected before a call was refused is nobody's business.
            forget_calls(self._decoders)
            both = self._sessions[step.session]
            if step.op == "start":
                self._sessions.append(self._started(step.number))
            elif both is None:
                if step.op == "fork":
                    self._sessions.append(None)
            elif step.op == "fork":
                forks = both.each(lambda one: one.fork(), "fork()")
                self._sessions.append(forks and Two(*forks, both.history))
                expect_same_rows(self._decoders)
            elif step.op == "feed":
                self._feed(both, step, count)
            else:
                self._change(both, step)
            self._expect_lengths(count)

    def _started(self, capacity: int) -> Two | None:
        old, new = self._decoders
        begun = agreed(
            lambda: programs.start(self._pair.new, new, capacity),
            lambda: programs.start(self._pair.old, old, capacity),
            "start",
        )
        return begun and Two(*begun)

    def _feed(self, both: Two, step: Step, count: int) -> None:
        setup, history = self._case.setup, both.history + step.rows

        def fed(one: Any) -> Any:
            return one.feed(programs.given(self._pair, step.rows, setup))

        returned = both.each(fed, f"feed of step {count}")
        if returned is None:
            return
        name = session_name(step.session)
        saying = f"what {name} returned in step {count} differs"
        saying = saying if len(self._case.steps) > 1 else ""
        within = self._within.of(history, len(step.rows))
        expect_same(self._pair, returned, "feed", within, saying)
        expect_same_rows(self._decoders)
        self._sessions[step.session] = both._replace(history=history)

    def _change(self, both: Two, step: Step) -> None:
        """Crop, reset or fill; what both refuse changes nothing."""
        arguments: dict[str, tuple[Any, ...]] = {
            "crop": (step.number,),
            "fill_unused": (FILLS[step.number % len(FILLS)],),
        }
        given = arguments.get(step.op, ())
        what = f"{step.op}({', '.join(map(str, given))})"
        done = both.each(lambda one: getattr(one, step.op)(*given), what)
        if done is None:
            return
        expect_same_rows(self._decoders)
        if step.op != "fill_unused":
            kept = both.history[: step.number] if step.op == "crop" else ()
            self._sessions[step.session] = both._replace(history=kept)

    def _expect_lengths(self, count: int) -> None:
        if not self._pair.common.length:
            return
        for both in filter(None, self._sessions):
            returned = both.each(lambda one: one.length, "length")
            saying = f"length differs after step {count}"
            expect_same(self._pair, returned, "length", np.array(TINY), saying)


def expect_batch(impl: Implementation, case: BatchCase) -> None:
    """Compare all that a batch returns, row by row, and what it projects and refuses."""
    pair = paired(impl)
    decoders, within = _decoders(pair, case), _Within(pair, case.setup.decoder())
    old, new = decoders
    begun = agreed(
        lambda: pair.new.start_batch(new, case.size, **case.padding()),
        lambda: pair.old.start_batch(old, case.size, **case.padding()),
        "start_batch",
    )
    if begun is None:
        return
    both = Two(*begun)
    histories: list[Matrix] = [()] * case.size
    for count, step in enumerate(case.steps, start=1):
        forget_calls(decoders)
        returned = both.each(partial(_done, pair, case, step), f"{step.op} of step {count}")
        if returned is None:
            continue
        if step.op != "feed":
            histories = [histories[index] for index in step.indices]
            continue
        histories = [seen + rows for seen, rows in zip(histories, step.rows, strict=True)]
        _expect_parts(pair, returned, step.rows, histories, within, count)
        expect_same_rows(decoders, of_a_batch=True)


def _done(pair: Pair, case: BatchCase, step: BatchStep, batch: Any) -> Any:
    """Return what a step of a batch of either version returns."""
    if step.op == "feed":
        return batch.feed([programs.given(pair, rows, case.setup) for rows in step.rows])
    return getattr(batch, step.op)(list(step.indices))


def _expect_parts(
    pair: Pair,
    returned: Returned,
    fed: Iterable[Matrix],
    histories: list[Matrix],
    within: _Within,
    count: int,
) -> None:
    """Compare what a batch returned for each of its rows."""
    each = zip(
        fed, histories, *(programs.parts(one, len(histories)) for one in returned), strict=True
    )
    for b, (rows, history, old, new) in enumerate(each):
        saying = f"row {b} of what step {count} returned differs"
        expect_same(pair, (old, new), "feed", within.of(history, len(rows)), saying)


class _Within:
    """The bounds of what decoders answer, by the tokens that were seen."""

    def __init__(self, pair: Pair, decoder: Any) -> None:
        self._precision = precision(pair)
        self._decoder = decoder
        self._known: dict[Matrix, Array] = {}

    def of(self, history: Matrix, count: int) -> Array:
        """Return the bound (count, D) of the last tokens of a history."""
        if not count:
            return np.full((0, self._decoder.width), TINY)
        if history not in self._known:
            self._known[history] = free_bounds.decoding(
                array(history), self._decoder, self._precision
            )
        return self._known[history][-count:]


def _decoders(pair: Pair, case: ProgramCase | BatchCase) -> Decoders:
    return programs.decoder_of(pair.old, case.setup), programs.decoder_of(pair.new, case.setup)
