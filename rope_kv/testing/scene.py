"""What the pictures of a broken property show, measured while the implementation is open.

Nothing here judges, and nothing here fails: what cannot be measured is not shown.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import calls
from .answers import answered
from .attention import Attention, attention
from .budget import Budget
from .cases import (
    Case,
    DecodeCallsCase,
    DecodeCase,
    LinearCase,
    RotationCallsCase,
    RotationCase,
    array,
)
from .comparison import ENDING, Broken, Kind
from .implementation import Implementation
from .precision import Precision, precision
from .trace import TracedDecoder

if TYPE_CHECKING:
    from .verdict import Result

Array = NDArray[np.float64]
Part = TypeVar("Part")
# Results of one function that have a scene, and seconds for all of them: nobody looks at more.
MOST_SCENES = 6
SECONDS = 0.3


class Turn(NamedTuple):
    """One rotation that is wrong: its case, and the rows (T, d) as they should be and are."""

    case: RotationCase
    expected: Array
    yours: Array


class Projection(NamedTuple):
    """One call of a projection: its name, and the shape of the rows it was given."""

    name: str
    shape: tuple[int, ...]

    @property
    def row_count(self) -> int:
        """How many rows it was given; a vector is one."""
        return self.shape[0] if len(self.shape) == 2 else 1


class Work(NamedTuple):
    """The projections of one decode, in the order they came."""

    case: DecodeCase
    projections: tuple[Projection, ...]

    def rows(self, name: str) -> list[int]:
        """Return how many rows each call of one projection was given, in order."""
        return [call.row_count for call in self.projections if call.name == name]

    @property
    def is_one_row_a_step(self) -> bool:
        """Whether q, k and v were given one row at a time, and each row once."""
        steps, width = len(self.case.x), len(self.case.x[0])
        usual = [(1, width)] * steps
        return (
            sum(self.rows("project_out")) == steps
            and not self.rows("forward_full")
            and all(
                [shape for called, shape in self.projections if called == name] == usual
                for name in ("project_q", "project_k", "project_v")
            )
        )


class Scene(NamedTuple):
    """What there is to look at in one broken property; each part may be missing."""

    turn: Turn | None = None
    precision: Precision | None = None
    attention: Attention | None = None
    work: Work | None = None


class _Clock:
    """Says whether there is time left: of the seconds for scenes, and of the budget for all."""

    def __init__(self, budget: Budget) -> None:
        self._end = time.monotonic() + SECONDS
        self._budget = budget

    def __call__(self) -> bool:
        return time.monotonic() < self._end and not self._budget.spent()


def with_scenes(
    results: Sequence[Result], in_full: Sequence[Result], impl: Implementation, budget: Budget
) -> list[Result]:
    """Return the results, of which the first few `in_full` of each function have their scene."""
    scenes: dict[str, Scene] = {}
    for function in dict.fromkeys(result.property.function for result in in_full):
        # There are pictures of what is wrong, and none of what was otherwise.
        some = [
            result
            for result in in_full
            if result.property.function == function and not result.property.compares
        ]
        in_time = _Clock(budget)
        for result in some[:MOST_SCENES]:
            scenes[result.property.name] = scene(
                impl, result, in_time, with_precision=result is some[0]
            )
    return [replace(result, scene=scenes.get(result.property.name)) for result in results]


def scene(
    impl: Implementation,
    result: Result,
    in_time: Callable[[], bool] = lambda: True,
    *,
    with_precision: bool = True,
) -> Scene:
    """Return what there is to look at in a broken result, as far as it can be measured in time."""
    kind = result.broken.kind if result.broken is not None else "raised"
    case, function = result.counterexample, result.property.function
    if not impl.capabilities.is_plain:
        return Scene()
    if case is None or not result.replays or kind in (*ENDING, "missing"):
        return Scene()
    with np.errstate(all="ignore"):
        if function == "apply_rope":
            return Scene(
                turn=_first(_rotations(case), lambda one: _turn(impl, one), in_time),
                precision=_precision(impl, case, in_time) if with_precision else None,
            )
        if function == "decode_incremental":
            return Scene(
                attention=_first(
                    _decodes(case), lambda one: _attention(impl, one, in_time), in_time
                ),
                work=_first(_decodes(case), lambda one: _work(impl, one, kind), in_time),
            )
    return Scene()


def _first(
    cases: Iterable[Case], measure: Callable[[Case], Part | None], in_time: Callable[[], bool]
) -> Part | None:
    """Return the first thing that measuring a case gives, or None."""
    for case in cases:
        if not in_time():
            break
        try:
            measured = measure(case)
        except Exception:
            # Of whatever kind: a verdict is not to be lost for the sake of a picture.
            continue
        if measured is not None:
            return measured
    return None


def _rotations(case: Case) -> tuple[RotationCase, ...]:
    """Return the rotations that a case asks for, as plain calls."""
    if isinstance(case, RotationCase):
        return (case,)
    if isinstance(case, RotationCallsCase):
        return (case.first, *case.others)
    if isinstance(case, LinearCase):
        return tuple(RotationCase(x, case.positions, case.base) for x in (case.x, case.y))
    return case.rotations() if hasattr(case, "rotations") else ()


def _decodes(case: Case) -> tuple[DecodeCase, ...]:
    """Return the decodes that a case asks for, as plain calls."""
    if isinstance(case, DecodeCase):
        return (case,)
    if isinstance(case, DecodeCallsCase):
        return (case.first, *case.others)
    return case.decodes() if hasattr(case, "decodes") else ()


def _turn(impl: Implementation, case: RotationCase) -> Turn | None:
    answer = answered(impl, case)
    if answer.numbers is None or answer.is_right:
        return None
    return Turn(case, answer.right, answer.numbers)


def _precision(impl: Implementation, case: Case, in_time: Callable[[], bool]) -> Precision | None:
    """Return the errors of a row that is as wide as those of a case."""
    for rotation in _rotations(case):
        return precision(impl, len(rotation.x[0]), rotation.base, in_time)
    return None


def _attention(
    impl: Implementation, case: DecodeCase, in_time: Callable[[], bool]
) -> Attention | None:
    answer = answered(impl, case)
    if answer.numbers is None or answer.is_right:
        return None
    return attention(impl, case, answer.numbers, in_time)


def _work(impl: Implementation, case: DecodeCase, kind: Kind) -> Work | None:
    """Return the calls of a decode, also of one that raises, where there is something to see."""
    decoder = TracedDecoder(case.decoder())
    with contextlib.suppress(Broken):
        calls.decode_with(impl.fresh(), decoder, array(case.x))
    work = Work(case, tuple(Projection(call.name, call.rows.shape) for call in decoder.calls))
    return work if kind == "calls" or not work.is_one_row_a_step else None
