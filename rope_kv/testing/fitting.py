"""Fitting a case to what an implementation declares: nothing is asked that it does not take.

A case is changed as little as it can be, so that it shrinks as before. An implementation that
declares nothing gets every case as it was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .capabilities import NOTHING_DECLARED, Capabilities
from .cases import Case, Matrix, Row
from .library_cases import (
    BatchCase,
    LimitCase,
    LongerCase,
    NarrowWindowCase,
    PartialRotationCase,
    ProgramCase,
    ScaledFrequencyCase,
    Scaling,
    Setup,
    WidthCase,
    longest,
)
from .limits import Limits

# All positions from 0 on are drawn beyond an end that is no later than this.
SHORT = 512


def fitted(case: Case, declared: Capabilities) -> Case:
    """Return the case, or the most similar one that lies within the limits declared."""
    return case if declared == NOTHING_DECLARED else _Fit(declared).case(case)


class _Fit(Limits):
    """What each kind of case becomes within the limits of an implementation."""

    def case(self, case: Case) -> Case:
        if isinstance(case, Setup):
            return self.setup(case)
        if isinstance(case, ProgramCase):
            return self.program(case)
        if isinstance(case, BatchCase):
            return self.batch(case)
        if isinstance(case, LimitCase):
            return self.beyond(case)
        if isinstance(case, LongerCase):
            count = int(self.end) + case.more
            return case._replace(x=(self.rows(case.x) * count)[:count])
        if isinstance(case, ScaledFrequencyCase):
            d = self.width(case.d)
            return case._replace(d=d, scaling=self.scaling(case.scaling, d, case.base))
        if isinstance(case, PartialRotationCase):
            return self.partial(case)
        if isinstance(case, WidthCase):
            return self.misfit(case)
        if isinstance(case, NarrowWindowCase):
            return self.narrow(case)
        if "setup" in case._fields:
            return self.decoding(case)
        changed = {name: self._field(name, value) for name, value in case._asdict().items()}
        return self.cut(case._replace(**changed))

    def setup(self, setup: Setup) -> Setup:
        """Return a decoder that is followed in all that it is made with."""
        declared = self.declared
        if not declared.heads:
            setup = setup._replace(heads=1, kv_heads=1, head_dim=0)
        if not declared.window:
            setup = setup._replace(window=0)
        elif setup.window:
            setup = setup._replace(window=max(setup.window, declared.min_window or 1))
        if not declared.sinks:
            setup = setup._replace(sinks=0)
        if setup.scaling.rule not in declared.scaling:
            setup = setup._replace(scaling=Scaling())
        turned = setup.rotary_dim if declared.rotary_dim else 0
        turned = self.width(turned) if turned else 0
        # Something is left beside what is turned, and some rules are for two pairs at least.
        least = turned + 1 if turned else 4 if setup.scaling.rule else 2
        own = setup.head_dim or setup.width // setup.heads
        head_dim = self.width(max(own, least))
        width = self.width(setup.width) if declared.heads else head_dim
        if not declared.heads:
            own = head_dim = 0
        elif width == setup.width and head_dim == own:
            head_dim = setup.head_dim
        return setup._replace(
            width=width,
            head_dim=head_dim,
            rotary_dim=turned,
            scaling=self.scaling(setup.scaling, turned or head_dim or own or width, setup.base),
        )

    def decoding(self, case: Case) -> Case:
        """Return rows to decode, as wide as the decoder that can be had."""
        setup = case.setup
        if not self.declared.sessions:
            # What is there is a function of the exercise, which knows of nothing else.
            setup = Setup(setup.width, setup.base, setup.seed)
        setup = self.setup(setup)
        changed = {"setup": setup, "x": self.rows(case.x, setup.width)}
        if "row" in case._fields:
            (changed["row"],) = self.rows((case.row,), setup.width)
        return self.cut(case._replace(**changed))

    def narrow(self, case: NarrowWindowCase) -> Case:
        """Return rows under a window below the least that is declared."""
        window = min(case.setup.window, max(1, (self.declared.min_window or 2) - 1))
        fitted = self.decoding(case)
        return fitted._replace(setup=fitted.setup._replace(window=window))

    def misfit(self, case: WidthCase) -> WidthCase:
        """Return a row that is wide enough, and a part of it that fits no better than before."""
        width = len(case.x[0])
        more = self.width(width) - width
        return case._replace(
            x=self.rows(case.x),
            positions=self.places(case.positions),
            rotary_dim=case.rotary_dim + (more if case.rotary_dim > width else 0),
        )

    def partial(self, case: PartialRotationCase) -> PartialRotationCase:
        """Return a rotation of a part that may be turned alone, by a rule that is known."""
        width = self.width(len(case.x[0]))
        turned = self.width(case.rotary_dim) if case.rotary_dim else 0
        turned = turned if self.declared.rotary_dim else 0
        if turned and case.rotary_dim < len(case.x[0]):
            width = self.width(max(width, turned + 1))  # Something is left beside it.
        x = self.rows(case.x, width)
        scaling = self.scaling(case.scaling, turned or width, case.base)
        shorter = self.cut(case._replace(x=x, positions=self.places(case.positions)))
        partial: PartialRotationCase = shorter._replace(rotary_dim=turned, scaling=scaling)
        return partial

    def program(self, case: ProgramCase) -> ProgramCase:
        declared, lengths, steps = self.declared, [0], []
        setup = self.setup(case.setup)
        # What each session is called when those that cannot be had are left out, or None.
        new_names: list[int | None] = [0]
        for step in case.steps:
            name = new_names[step.session]
            if step.op == "start" and name is None:
                name = 0  # A new session has nothing to do with another.
            is_there = step.op in ("start", "feed") or getattr(declared, step.op)
            if step.op in ("start", "fork"):
                is_made = is_there and name is not None
                new_names.append(len(lengths) if is_made else None)
            if name is None or not is_there:
                continue
            if step.op in ("start", "fork"):
                lengths.append(lengths[name] if step.op == "fork" else 0)
            if step.op in ("crop", "reset"):
                lengths[name] = step.number if step.op == "crop" else 0
            step = step._replace(session=name)
            if step.op != "feed":
                is_roomy = step.op == "start" and not declared.capacity
                steps.append(step._replace(number=0) if is_roomy else step)
                continue
            rows = self.rows(step.rows, setup.width)
            lengths[name] += len(rows)
            if lengths[name] > self.end:
                break
            portion = len(rows) if declared.chunks else 1
            steps += [
                step._replace(rows=rows[first : first + portion])
                for first in range(0, max(1, len(rows)), max(1, portion))
                if rows or declared.chunks
            ]
        # Where nothing can be forgotten, there must be room for more.
        more = max(0, longest(steps) - longest(case.steps))
        capacity = case.capacity + more if case.capacity and declared.capacity else 0
        return ProgramCase(setup, tuple(steps), capacity)

    def batch(self, case: BatchCase) -> BatchCase:
        declared, lengths, steps = self.declared, [0] * case.size, []
        setup = self.setup(case.setup)
        # Which rows go on; those that cannot be left out are fed nothing.
        left = list(range(case.size))
        for step in case.steps:
            if step.op == "feed":
                fed: list[Matrix] = [()] * len(lengths)
                for row, rows in zip(left, step.rows, strict=True):
                    fed[row] = self.rows(rows, setup.width)
                lengths = [length + len(rows) for length, rows in zip(lengths, fed, strict=True)]
                if max(lengths) > self.end:
                    break
                steps.append(step._replace(rows=tuple(fed)))
                continue
            chosen = [left[index] for index in step.indices]
            if step.op == "select" and not declared.select:
                left = chosen
            elif getattr(declared, step.op):
                indices = chosen
                if step.op == "reorder":
                    indices = list(range(len(lengths)))
                    for row, index in zip(left, chosen, strict=True):
                        indices[row] = index
                else:
                    left = list(range(len(chosen)))
                lengths = [lengths[index] for index in indices]
                steps.append(step._replace(indices=tuple(indices)))
        if not declared.padding:
            case = case._replace(side="", extra=0, fill=0)
        return case._replace(setup=setup, steps=tuple(steps))

    def beyond(self, case: LimitCase) -> LimitCase:
        """Return a case that breaks the limit it is about, and no other."""
        declared, x, positions = self.declared, case.x, case.positions
        if case.limit == "min_width":
            x = tuple(row[: (declared.min_width or 2) - 1] for row in x)
        elif case.limit == "width_multiple":
            if len(x[0]) % (declared.width_multiple or 2) == 0:
                x = tuple((*row, 1.0) for row in x)
        else:
            x = self.rows(x)
        runs = ("consecutive", "from zero") if self.end <= SHORT else ("consecutive",)
        if case.limit == "max_position" and declared.positions in runs:
            x, positions = self.run_beyond(x, positions)
        elif case.limit == "max_position" and positions[-1] < self.end:
            positions = (*positions[:-1], int(self.end) + positions[-1])
        elif case.limit in ("min_width", "width_multiple"):
            positions = self.places(positions)
        return case._replace(x=self.matrix(x), positions=positions)

    def run_beyond(self, x: Matrix, positions: tuple[int, ...]) -> tuple[Matrix, tuple[int, ...]]:
        """Return rows at positions that run up to the last one, and beyond."""
        is_beyond = positions[-1] >= self.end
        last = positions[-1] if is_beyond else int(self.end) + positions[-1] % len(x)
        first = 0 if self.declared.positions == "from zero" else max(0, last + 1 - len(x))
        places = tuple(range(first, last + 1))
        return (x * len(places))[: len(places)], places

    def _field(self, name: str, value: Any) -> Any:
        if hasattr(value, "_fields"):
            return self.case(value)
        if isinstance(value, tuple) and value and hasattr(value[0], "_fields"):
            return tuple(map(self.case, value))
        change = self._changes().get(name)
        return value if change is None else change(value)

    def _changes(self) -> dict[str, Callable[[Any], Any]]:
        """Return what each kind of field becomes, by its name."""

        def row(values: Row) -> Row:
            return self.rows((values,))[0]

        fields: dict[str, Callable[[Any], Any]] = {"d": self.width}
        fields |= dict.fromkeys(("x", "y"), self.rows) | dict.fromkeys(("row", "q", "k"), row)
        fields |= dict.fromkeys(("m", "n", "shift"), self.term)
        fields |= dict.fromkeys(("first", "second"), self.terms)
        return fields | {"positions": self.places}
