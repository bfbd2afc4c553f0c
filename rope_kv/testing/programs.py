"""Running a program on the sessions or the batch of an implementation, beside its model.

The model of a session is the list of the tokens it has seen, and nothing else: what it must
return is what the oracle says of that list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import calls, forms, right
from .cases import Matrix, array
from .comparison import Broken, counted, described, expect, matrix
from .implementation import Implementation
from .library_cases import (
    FILLS,
    BatchCase,
    ProgramCase,
    Setup,
    SetupDecodeCase,
    Step,
    session_name,
)
from .started import Session
from .trace import TracedDecoder

Array = NDArray[np.float64]


class Done(NamedTuple):
    """A step that was done: to which session, what that has seen, and what `feed` returned."""

    step: Step
    session: Session
    history: Matrix
    returned: Any
    what: str


class _Seen(NamedTuple):
    """A session, what it has seen, and how long that was at most since it was last empty."""

    session: Session
    history: Matrix = ()
    longest: int = 0

    def having(self, history: Matrix) -> _Seen:
        """Return the same session with another history."""
        longest = max(self.longest, len(history)) if history else 0
        return self._replace(history=history, longest=longest)


def decoder_of(impl: Implementation, setup: Setup) -> TracedDecoder:
    """Return a new decoder that records its calls, in the precision declared."""
    return TracedDecoder(setup.decoder(), impl.capabilities.dtype)


def done(
    impl: Implementation,
    case: ProgramCase,
    decoder: TracedDecoder | None = None,
    form: str = forms.PLAIN,
) -> Iterator[Done]:
    """Do a program step by step; yield each with what came of it, and with the model's history.

    Rows are fed in the `form` of that name.
    """
    decoder = decoder or decoder_of(impl, case.setup)
    sessions = [_Seen(start(impl, decoder, case.capacity))]
    for count, step in enumerate(case.steps, start=1):
        seen = sessions[step.session]
        returned, at = None, step.session
        if step.op == "start":
            at = len(sessions)
            sessions.append(_Seen(start(impl, decoder, step.number)))
        elif step.op == "fork":
            at = len(sessions)
            sessions.append(seen._replace(session=seen.session.fork()))
        elif step.op == "feed":
            rows = forms.ROWS[form](given(impl, step.rows, case.setup))
            returned = seen.session.feed(rows)
            sessions[at] = seen.having(seen.history + step.rows)
        elif step.op == "fill_unused":
            seen.session.fill_unused(FILLS[step.number])
        else:
            keep = step.number if step.op == "crop" else 0
            if _cut(seen, step, case.setup):
                sessions[at] = seen.having(seen.history[:keep])
        what = f"what {session_name(at)} returned in step {count}"
        yield Done(step, *sessions[at][:2], returned, what if len(case.steps) > 1 else "")


def given(impl: Implementation, rows: Matrix, setup: Setup) -> Any:
    """Return rows (n, D), n perhaps 0, in the precision declared."""
    return calls.given(impl, array(rows).reshape(len(rows), setup.width))


def decoded(impl: Implementation, case: SetupDecodeCase) -> Array:
    """Return what a new session gives for rows (T, D), fed one by one."""
    return fed_row_by_row(impl, decoder_of(impl, case.setup), array(case.x))


def fed_row_by_row(impl: Implementation, decoder: TracedDecoder, x: Array) -> Array:
    """Return what a new session of a decoder gives for rows x (T, D), fed one by one."""
    session = impl.start(decoder)
    fed = (session.feed(calls.given(impl, x[t : t + 1].copy())) for t in range(len(x)))
    return np.concatenate([matrix(row, (1, x.shape[1]), "feed") for row in fed])


def start(impl: Implementation, decoder: TracedDecoder, capacity: int) -> Session:
    """Start a session, with a capacity where one is asked for."""
    return impl.start(decoder, **({"capacity": capacity} if capacity else {}))


def _cut(seen: _Seen, step: Step, setup: Setup) -> bool:
    """Crop or reset a session; return whether it did so.

    A store that keeps a window, and is full, may refuse to go back: then it stays as it is.
    """
    if step.op == "reset":
        seen.session.reset()
        return True
    is_full = 0 < setup.window <= seen.longest
    try:
        seen.session.crop(step.number)
    except Broken as broken:
        if not is_full or broken.kind != "raised":
            raise
        return False
    return True


def expect_the_oracle(impl: Implementation, case: ProgramCase, form: str = forms.PLAIN) -> None:
    """Compare all that a program returns with the oracle on the tokens that each session saw."""
    for _ in compared(impl, case, form):
        pass


def compared(impl: Implementation, case: ProgramCase, form: str = forms.PLAIN) -> Iterator[Done]:
    """Do a program step by step; yield each when it has been compared with the oracle."""
    known = Answers(impl, case.setup.decoder(), _fed(case))
    for step in done(impl, case, form=form):
        if step.step.op == "feed":
            known.expect(step.returned, step.history, len(step.step.rows), step.what)
        yield step


class Answers:
    """What the oracle says of tokens: of each sequence once, with all that it begins with.

    No row depends on a later one, so that the longest of some sequences answers for the others.
    """

    def __init__(self, impl: Implementation, decoder: Any, sequences: Iterable[Matrix] = ()):
        self._impl = impl
        self._decoder = decoder
        self._longest_first = sorted(set(sequences), key=len, reverse=True)
        self._known: dict[Matrix, right.Right] = {}

    def expect(self, returned: Any, history: Matrix, count: int, what: str = "") -> None:
        """Compare what came of the last `count` tokens of a history with the oracle."""
        yours = matrix(returned, (count, self._decoder.width), "feed")
        if not count:
            return
        whole = next((s for s in self._longest_first if s[: len(history)] == history), history)
        if whole not in self._known:
            self._known[whole] = right.decoding(self._impl, array(whole), self._decoder)
        due, rows = self._known[whole], slice(len(history) - count, len(history))
        saying = (
            f"{what} is not what comes of its {counted(len(history), 'token')}" if what else ""
        )
        expect(yours, due.expected[rows], due.within[rows], saying)


def _fed(case: ProgramCase) -> Iterator[Matrix]:
    """Yield what each session of a program has seen, whenever it was fed."""
    histories: list[Matrix] = [()]
    for step in case.steps:
        seen = histories[step.session]
        if step.op in ("start", "fork"):
            histories.append(seen if step.op == "fork" else ())
        elif step.op == "feed":
            histories[step.session] = seen + step.rows
            yield histories[step.session]
        elif step.op in ("crop", "reset"):
            histories[step.session] = seen[: step.number] if step.op == "crop" else ()


def expect_the_oracle_of_each_row(impl: Implementation, case: BatchCase) -> None:
    """Compare all that a batch returns with the oracle on the tokens that each row saw."""
    known = Answers(impl, case.setup.decoder(), _fed_to_rows(case))
    batch = impl.start_batch(decoder_of(impl, case.setup), case.size, **case.padding())
    histories: list[Matrix] = [()] * case.size
    for count, step in enumerate(case.steps, start=1):
        if step.op != "feed":
            getattr(batch, step.op)(list(step.indices))
            histories = [histories[index] for index in step.indices]
            continue
        returned = batch.feed([given(impl, rows, case.setup) for rows in step.rows])
        each = parts(returned, len(step.rows))
        for b, (rows, part) in enumerate(zip(step.rows, each, strict=True)):
            histories[b] += rows
            what = f"row {b} of what step {count} returned"
            known.expect(part, histories[b], len(rows), what)


def _fed_to_rows(case: BatchCase) -> Iterator[Matrix]:
    """Yield what each row of a batch has seen, whenever it was fed."""
    histories: list[Matrix] = [()] * case.size
    for step in case.steps:
        if step.op == "feed":
            histories = [seen + rows for seen, rows in zip(histories, step.rows, strict=True)]
            yield from histories
        else:
            histories = [histories[index] for index in step.indices]


def parts(returned: Any, count: int) -> Sequence[Any]:
    """Return the outputs of each row of a batch, if they are a list of so many."""
    if not isinstance(returned, list | tuple) or len(returned) != count:
        raise Broken(
            f"feed returned {described(returned)}, expected a list of {count} arrays", "type"
        )
    return returned
