"""One call of a function in another process, and what both processes know of each other.

The grader sends CALL with an object and the contents of arrays:
    instance, replaced   which execution of the file, and the function that is replaced in it
    function             which one to call
    arguments, named     a number, a list of numbers, or an object: {number} of an array or decoder
                         that is known; {number, writeable} of a new array, whose content comes
                         along, with {layout} where it is not contiguous; {number, width, base} of
                         a decoder
    refilled, dropped    the numbers of arrays whose content has changed, and of what is gone
    cap                  how many bytes a message of the worker may have
    ahead                where the projections of all rows come along: q, k and v, or fewer
The worker sends RETURNED with what it took ahead (`doubles.Ahead`), an object, and contents:
    raised               kind and sentence, where the function returned nothing
    number               of the result, if it is an array: that of one of ours, or a negative one
    writeable, part_of   of a new array; the argument that it is a view of
    type                 of a result that is no plain array
    arrays, lists, decoders   what the function did to its arguments, and to earlier results
In between it may send ASK: what it took ahead, which projection, of which decoder, and rows.
"""

from __future__ import annotations

import contextlib
import operator
import secrets
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..testing.comparison import Broken, Kind
from ..testing.implementation import printable
from ..testing.loading import LoadError
from ..testing.trace import TracedDecoder
from . import wire
from .process import Deadline
from .session import Session

# What a worker may say of a call that returned nothing.
_TOLD: tuple[Kind, ...] = ("raised", "unwritten", "missing", "type")
KINDS: dict[str, Kind] = {kind: kind for kind in _TOLD}
PARAMETERS = {"rope_freqs": ("d", "base"), "apply_rope": ("x", "positions", "base")}
LARGEST_WIDTH = 1 << 16
LARGEST_CAP = 1 << 23  # bytes of a message of the worker
LONGEST_AHEAD = (1 << 16) - 1


class TooMuchError(Exception):
    """More questions than any decode loop has: it must not go on."""


class BreachError(Exception):
    """What a worker sent, and no worker of ours would."""


class Call:
    """One call of a function, from its arguments to its result.

    `replaced` is the name of a function of the code and what stands in for it, if one is.
    """

    def __init__(
        self,
        session: Session,
        instance: int,
        replaced: tuple[str, Callable[..., Any]] | None,
        function: str,
        timeout: float,
    ) -> None:
        self._session = session
        self._instance = instance
        self._replaced = replaced
        self._function = function
        self._worker = session.worker
        self._deadline = Deadline(timeout)
        self._sequence = secrets.randbits(32)
        self._arguments: tuple[Any, ...] = ()
        self._contents: list[Any] = []
        self._asked = 0
        self._tokens = 0
        self._ahead: tuple[TracedDecoder, Any] | None = None

    def run(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Make the call; return what the code returned, or raise what it came to."""
        session, self._arguments = self._session, arguments
        refilled = session.refilled()
        self._contents = [content for _, content in refilled]
        request = {
            "instance": self._instance,
            "replaced": self._replaced[0] if self._replaced else None,
            "function": self._function,
            "arguments": [self._described(argument) for argument in arguments],
            "named": {name: self._described(value) for name, value in named.items()},
            "refilled": [number for number, _ in refilled],
            "dropped": session.dropped(),
            "cap": (cap := self._cap(arguments)),
        }
        if self._function == "decode_incremental":
            self._tokens = len(arguments[1])
            self._project_ahead(request, *arguments)
        self._send(wire.CALL, request, *self._contents)
        while True:
            try:
                frame = self._worker.receive(self._deadline, cap)
            except wire.WireError as error:
                raise BreachError(str(error)) from None
            if frame.sequence != self._sequence:
                raise BreachError("an answer to another call than this")
            if frame.kind == wire.ASK:
                self._answer(*frame.items)
                continue
            with _understood():
                if frame.kind != wire.RETURNED:
                    raise ValueError
                took, answer, *contents = frame.items
                self._take_note(took)
                content = iter(contents)
                self._apply(answer, content)
                if "raised" in answer:
                    raise _failure(*answer["raised"])
                return self._result(answer, content)

    def _cap(self, arguments: tuple[Any, ...]) -> int:
        """Return how many bytes a message of the worker may have."""
        given = sum(a.nbytes for a in arguments if isinstance(a, np.ndarray))
        # Twice what it knows: all of it may have changed.
        cap = wire.SMALLEST_CAP + 16 * given + 2 * self._session.size()
        return min(cap, LARGEST_CAP)

    def _send(self, kind: int, *items: Any) -> None:
        frame = wire.pack(kind, self._sequence, *items)
        try:
            self._worker.send(frame, self._deadline)
        except wire.WireError as error:
            raise BreachError(str(error)) from None

    def _described(self, value: Any) -> Any:
        """Return an argument as the worker is told of it."""
        if not isinstance(value, np.ndarray | TracedDecoder):
            return value
        number = self._session.number_of(value)
        is_new = number is None
        if number is None:
            number = self._session.number()
            self._session.keep(number, value)
        if isinstance(value, TracedDecoder):
            return {"number": number, "width": value.width, "base": value.base}
        if not is_new:
            return {"number": number}
        described = {"number": number, "writeable": value.flags.writeable}
        if value.flags.c_contiguous:
            self._contents.append(value)
            return described
        memory, offset = _memory_of(value)
        self._contents.append(memory)
        layout = [wire.code_of(value.dtype), value.shape, value.strides, offset]
        return described | {"layout": layout}

    def _answer(self, took: Any = None, what: Any = None, *question: Any) -> None:
        """Do what the code asked of its decoder, or of a right function, and say what came of it.

        What cannot be done is refused as the decoder itself would: by an exception in the code.
        """
        with _understood():
            self._take_note(took)
        self._count()
        try:
            if what == wire.RIGHT_ONE:
                answer = self._right_one(*question[1:])
            else:
                answer = self._projected(what, *question)
        except (
            *(TypeError, ValueError, LookupError, AttributeError),
            *(ArithmeticError, MemoryError),
        ) as error:
            self._send(wire.REFUSE, type(error).__name__, str(error))
        else:
            self._send(wire.ANSWER, answer)

    def _project_ahead(self, request: dict[str, Any], decoder: Any, x: Any) -> None:
        """Add the projections of all rows to a request, where they are of the usual kind.

        Row by row, as they would be asked for: all at once, the last bits might differ.
        """
        usual = isinstance(decoder, TracedDecoder) and x.dtype == np.float64
        if usual and x.ndim == 2 and x.shape[1] == decoder.width and 0 < len(x) <= LONGEST_AHEAD:
            self._ahead = decoder, x.copy()
            request["ahead"] = True
            for name in decoder.ahead:
                rows = [decoder.answer(name, x[t : t + 1]) for t in range(len(x))]
                self._contents.append(np.concatenate(rows))

    def _projected(self, what: int, number: int, rows: Any) -> Any:
        """Return what a projection answers."""
        decoder, name = self._session.find(number), wire.PROJECTIONS[what]
        if not isinstance(decoder, TracedDecoder) or not isinstance(rows, np.ndarray):
            raise ValueError("this decoder belongs to an earlier call, which is over")
        if name == "forward_full" and len(rows) > self._tokens:
            raise ValueError(f"{len(rows)} rows, where {self._tokens} were given")
        return getattr(decoder, name)(rows)

    def _take_note(self, took: bytes) -> None:
        """Record the projections that the code took from what came along with the request."""
        for what, place in wire.TAKEN.iter_unpack(took):
            if self._ahead is None or what > 2 or place >= len(self._ahead[1]):
                raise ValueError
            decoder, x = self._ahead
            decoder.record(wire.PROJECTIONS[what], x[place : place + 1])
            self._count()

    def _count(self) -> None:
        """Count a question; end a call that has more of them than the worst decode loop."""
        self._asked += 1
        most = 64 + 64 * self._tokens + 4 * self._tokens**2
        if self._asked > most:
            raise TooMuchError(f"projected more than {most} times for {self._tokens} tokens")

    def _right_one(self, question: dict[str, Any], *arrays: Any) -> Any:
        """Return what the function that stands in for one of the code returns.

        ValueError or TypeError where it is asked what costs more than any decode loop needs.
        """
        if self._replaced is None:
            raise ValueError("there is no such function")
        name, function = self._replaced

        def found(value: Any) -> Any:
            return arrays[value["array"]] if isinstance(value, dict) else value

        given = dict(zip(PARAMETERS[name], map(found, question["arguments"]), strict=False))
        given |= {key: found(value) for key, value in question["named"].items()}
        base = float(given.pop("base", 10000))
        if not 0 < base < np.inf:
            raise ValueError("base must be a finite number above 0")
        if name == "rope_freqs":
            (d,) = given.values()
            if not 0 <= operator.index(d) <= LARGEST_WIDTH:
                raise ValueError(f"d must be from 0 to {LARGEST_WIDTH}")
            return function(operator.index(d), base)
        x, positions = np.asarray(given["x"], dtype=float), np.asarray(given["positions"])
        if x.ndim != 2 or positions.shape != x.shape[:1] or 0 in x.shape:
            raise ValueError("x must have shape (T, d), and positions (T,)")
        return function(x, positions, base)

    def _apply(self, answer: dict[str, Any], contents: Iterator[Any]) -> None:
        """Do here what the code did to objects that are doubles of ours."""
        for number, writeable, is_like_before in answer.get("arrays", ()):
            content = next(contents) if is_like_before else None
            value = self._session.find(number)
            if value is None:
                continue
            if content is None or content.shape != value.shape or content.dtype != value.dtype:
                raise Broken(f"{self._function} gave an array another shape or dtype", "purity")
            with contextlib.suppress(ValueError):  # A view of what may not be written.
                value.flags.writeable = True
                value[...] = content
            value.flags.writeable = bool(writeable) and value.flags.writeable
            self._session.keep(number, value)
        if "lists" in answer:
            at, entries = answer["lists"]
            self._arguments[at][:] = entries
        if "decoders" in answer:
            number, name = answer["decoders"]
            self._session.find(number).note_change(printable(name))

    def _result(self, answer: dict[str, Any], contents: Iterator[Any]) -> Any:
        """Return what the code returned: the same object, where it is one of ours."""
        if "type" in answer:
            return _foreign(printable(answer["type"]), next(contents, None))
        number = answer["number"]
        known = self._session.find(number)
        if known is not None:
            return known
        content = next(contents, None)
        if type(content) is not np.ndarray or number >= 0:
            raise ValueError
        value = self._view(content, *answer["part_of"]) if "part_of" in answer else content
        value.flags.writeable = bool(answer["writeable"]) and value.flags.writeable
        self._session.keep(number, value)
        return value

    def _view(self, content: Any, number: int, offset: int, strides: list[int]) -> Any:
        """Return a result that is part of an argument's memory as just that, if it is."""
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            whole = self._session.find(number)
            view = np.ndarray(content.shape, content.dtype, whole, offset, tuple(strides))
            if whole is not None and view.tobytes() == content.tobytes():
                return view
        return content


@contextlib.contextmanager
def _understood() -> Iterator[None]:
    """Take what cannot be understood inside the block for a breach."""
    try:
        yield
    except (
        TypeError,
        ValueError,
        AttributeError,
        LookupError,
        ArithmeticError,
        StopIteration,
        struct.error,
    ):
        raise BreachError("an answer of no known form") from None


def _failure(how: str, text: str) -> Exception:
    """Return the exception for a call that returned nothing, as the worker tells it."""
    if not text:
        raise ValueError
    return LoadError(printable(text)) if how == "load" else Broken(printable(text), KINDS[how])


def _memory_of(array: Any) -> tuple[Any, int]:
    """Return the memory that an array's entries lie in, as bytes, and where its first one is."""
    low, high = wire.extent(array)
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    start, _ = wire.extent(whole)
    content = np.frombuffer(whole.tobytes(order="A"), np.uint8)[low - start : high - start]
    return content.copy(), array.__array_interface__["data"][0] - low


class _Foreign:
    """A stand-in for a result that is no plain array: the name of its type, and its numbers."""

    numbers: Any = None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.numbers is None:
            raise TypeError("not an array of numbers")
        return np.array(self.numbers, dtype=dtype)


def _foreign(name: str, numbers: Any) -> Any:
    if name == "NoneType":
        return None
    if name == "ndarray of object" and numbers is not None:
        return numbers.astype(object)
    if name in ("list", "tuple") and numbers is not None and numbers.ndim:
        return numbers.tolist() if name == "list" else tuple(numbers.tolist())
    stand_in = type(name[:80], (_Foreign,), {})()
    stand_in.numbers = numbers
    return stand_in
