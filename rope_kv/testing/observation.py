"""What an implementation does when a property is run on cases."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .cases import Case
from .comparison import ENDING, Broken, described
from .implementation import ATTRIBUTES, Implementation
from .property import Property
from .started import Batch, Session
from .trace import Call


class Rows(NamedTuple):
    """What one call of a projection was given: its name, the shape, and the numbers in a row."""

    name: str
    shape: tuple[int, ...]
    content: NDArray[np.float64]


Projected: TypeAlias = tuple[Rows, ...]


class Probe(NamedTuple):
    """A property, and cases to run it on one after the other; what comes of the last counts."""

    property: Property
    cases: tuple[Case, ...]


class Answer(NamedTuple):
    """What one call of a function returned, as numbers or else in words, and what it did besides.

    It may have changed the rows it was given, and it `projected` rows.
    """

    function: str
    numbers: NDArray[Any] | None
    words: str = ""
    changed: bool = False
    projected: Projected = ()


class Observation(NamedTuple):
    """What came of a probe: what it broke, if anything, and each answer in order."""

    broken: Broken | None
    answers: tuple[Answer, ...]


def observed(impl: Implementation, probe: Probe) -> Observation:
    """Return what an implementation does when it is probed; it has no memory of other probes.

    A crash, a hang and the like are raised as the Broken they are: there is no more to be seen.
    """
    watched = _Watched(impl.fresh(), [], [])
    broken = None
    for case in probe.cases:
        watched.answers.clear()
        broken = probe.property.breach(watched, case)
        if broken is not None and broken.kind in ENDING:
            raise broken
    return Observation(broken, tuple(watched.answers))


class _Noted(NamedTuple):
    """A session or batch each feed of which is noted, and the decoder that it was started with."""

    function: str
    inner: Any
    decoder: Any


class _Watched:
    """An implementation, each answer of which is noted.

    Arguments are kept, so that none has the id of an earlier one: what is remembered by id is
    found again only where a property hands over the same object twice.
    """

    isolation = "none"

    def __init__(self, impl: Implementation, answers: list[Answer], kept: list[Any]) -> None:
        self.name = impl.name
        self.capabilities = impl.capabilities
        self.answers = answers
        self._impl = impl
        self._kept = kept

    def rope_freqs(self, d: int, *base: float, **named: float) -> Any:
        return self._note("rope_freqs", lambda: self._impl.rope_freqs(d, *base, **named), d)

    def apply_rope(self, x: Any, *arguments: Any, **named: Any) -> Any:
        self._kept.append((x, arguments))
        return self._note("apply_rope", lambda: self._impl.apply_rope(x, *arguments, **named), x)

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        self._kept.append((decoder, x_embedded))
        before = len(decoder.calls)
        return self._note(
            "decode_incremental",
            lambda: self._impl.decode_incremental(decoder, x_embedded),
            x_embedded,
            lambda: _projected(decoder.calls[before:]),
        )

    def convert_layout(self, x: Any, source: str, target: str) -> Any:
        call = functools.partial(self._impl.convert_layout, x, source, target)
        return self._note("convert_layout", call, x)

    def path(self, name: str, decoder: Any, x_embedded: Any) -> Any:
        call = functools.partial(self._impl.path, name, decoder, x_embedded)
        return self._note("decode_incremental", call, x_embedded)

    def start(self, decoder: Any, **named: Any) -> Session:
        return Session(self, _Noted("start", self._impl.start(decoder, **named), decoder))

    def start_batch(self, decoder: Any, size: int, **named: Any) -> Batch:
        started = self._impl.start_batch(decoder, size, **named)
        return Batch(self, _Noted("start_batch", started, decoder))

    def on(self, started: _Noted, method: str, *arguments: Any) -> Any:
        if method == "fork":
            return started._replace(inner=started.inner.fork())
        if method in ATTRIBUTES:
            return self._note(started.function, lambda: getattr(started.inner, method), ())
        call = functools.partial(getattr(started.inner, method), *arguments)
        if method != "feed":
            return call()
        before = len(started.decoder.calls)
        return self._note(
            started.function,
            call,
            _joined(arguments[0]),
            lambda: _projected(started.decoder.calls[before:]),
        )

    def fresh(self) -> _Watched:
        return _Watched(self._impl.fresh(), self.answers, self._kept)

    def with_replaced(self, name: str, function: Callable[..., Any]) -> _Watched:
        return _Watched(self._impl.with_replaced(name, function), self.answers, self._kept)

    def restarted(self, seed: int = 0) -> contextlib.AbstractContextManager[_Watched]:
        return contextlib.nullcontext(self.fresh())

    def close(self) -> None:
        pass

    def _note(
        self,
        function: str,
        call: Callable[[], Any],
        rows: Any,
        projected: Callable[[], Projected] = tuple,
    ) -> Any:
        before = np.array(rows)
        try:
            returned = call()
        except Broken as broken:
            changed = not np.array_equal(before, rows)
            self.answers.append(Answer(function, None, broken.kind, changed, projected()))
            raise
        numbers = None
        with contextlib.suppress(Exception):
            found = _joined(returned)
            numbers = found if found.dtype.kind in "iuf" else None
        words = "" if numbers is not None else described(returned)
        changed = not np.array_equal(before, rows)
        self.answers.append(Answer(function, numbers, words, changed, projected()))
        return returned


def _joined(rows: Any) -> NDArray[Any]:
    """Return an array as it is, and a list of ragged ones as one row of numbers."""
    if isinstance(rows, list) and any(isinstance(part, np.ndarray) for part in rows):
        return np.concatenate([np.empty(0), *(np.asarray(part).ravel() for part in rows)])
    return np.array(rows)


def _projected(calls: list[Call]) -> Projected:
    """Return the calls, those of each projection together: between them, styles differ."""
    return tuple(
        Rows(name, np.shape(call.rows), _content(call.rows))
        for name in ("project_q", "project_k", "project_v", "forward_full")
        for call in calls
        if call.name == name
    )


def _content(rows: Any) -> NDArray[np.float64]:
    with contextlib.suppress(Exception):
        return np.asarray(rows, dtype=np.float64).ravel()
    return np.empty(0)
