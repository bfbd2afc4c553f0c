"""One call of a function in another process, and what both processes know of each other.

The grader sends CALL with an object and the contents of arrays:
    instance, replaced   which execution of the file, and the function that is replaced in it
    function             which one to call
    on                   the number of what was started, if the function is a method of that
    path                 whether it is a function of another name than the contract's
    result               "value", "nothing" where what is returned does not matter, or the number
                         that is given to what is started
    arguments, named     what to call it with; see `arguments`
    refilled, dropped    the numbers of arrays whose content has changed, and of what is gone
    cap                  how many bytes a message of the worker may have
    ahead                where projections come along: the decoder, which argument its rows are,
                         and how many of q, k and v there are
The worker sends RETURNED with what it took ahead (`doubles.Ahead`), an object, and contents; see
`results`. In between it may send ASK: what it took ahead, which projection, of which decoder, and
rows; or a question to a right function, see `questions`.
"""

from __future__ import annotations

import contextlib
import secrets
import struct
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from ..testing.comparison import Broken, Kind, counted
from ..testing.implementation import printable
from ..testing.loading import LoadError
from ..testing.trace import TracedDecoder
from . import wire
from .arguments import Told, arrays_in
from .foreseen import Foreseen
from .link import Link, Started
from .process import Deadline
from .questions import right_answer
from .results import Returned

# What a worker may say of a call that returned nothing.
_TOLD: tuple[Kind, ...] = ("raised", "unwritten", "missing", "type")
KINDS: dict[str, Kind] = {kind: kind for kind in _TOLD}
LARGEST_CAP = 1 << 23  # bytes of a message of the worker
MOST_RECORDED = 1 << 28  # bytes of rows that a call may project: each is kept here
# So many sessions and batches at once, and no property has any use for more.
MOST_STARTED = 1000
Result = Literal["value", "nothing", "started"]


class TooMuchError(Exception):
    """More questions than any decode loop has: it must not go on."""


class BreachError(Exception):
    """What a worker sent, and no worker of ours would."""


class Call:
    """One call of a function, from its arguments to its result.

    `replaced` is the name of a function of the code and what stands in for it, if one is; `on` is
    what was started and whose method is called, if it is one. `is_path` says that the function is
    another path.
    """

    def __init__(
        self,
        link: Link,
        instance: int,
        replaced: tuple[str, Callable[..., Any]] | None,
        function: str,
        timeout: float,
        *,
        on: Started | None = None,
        is_path: bool = False,
        result: Result = "value",
    ) -> None:
        self._link = link
        self._instance = instance
        self._replaced = replaced
        self._function = function
        self._on = on
        self._is_path = is_path
        self._result = result
        self._worker = link.worker
        self._deadline = Deadline(timeout)
        self._sequence = secrets.randbits(32)
        self._asked = 0
        self._recorded = 0
        self._tokens = 0
        self._heads = 2  # of queries and of keys
        self._foreseen = Foreseen(None, None, at_once=False)

    def run(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Make the call; return what the code returned, or raise what it came to."""
        link, on = self._link, self._on
        if self._result == "started" and link.count_started() >= MOST_STARTED:
            raise Broken(f"{self._function}: {MOST_STARTED} sessions live already", "calls")
        decoder: Any = on.decoder if on else next(iter(arguments), None)
        self._tokens = self._counted(arguments)
        if isinstance(decoder, TracedDecoder):
            self._heads = decoder.heads + decoder.kv_heads
        refilled = link.refilled()
        told = Told(link)
        told.contents += [content for _, content in refilled]
        request: dict[str, Any] = {
            "instance": self._instance,
            "replaced": self._replaced[0] if self._replaced else None,
            "function": self._function,
            "path": self._is_path,
            "result": link.number() if self._result == "started" else self._result,
            "arguments": [told.of(argument) for argument in arguments],
            "named": {name: told.of(value) for name, value in named.items()},
            "refilled": [number for number, _ in refilled],
            "dropped": link.dropped(),
            "cap": (cap := self._cap(arguments, decoder)),
        }
        if on is not None:
            request["on"] = link.number_of(on)
        at_once = self._function != "decode_incremental"
        self._foreseen = Foreseen(decoder, arguments[-1] if arguments else None, at_once=at_once)
        if self._foreseen.contents:
            foreseen = self._foreseen
            request["ahead"] = [
                link.number_of(decoder), len(arguments) - 1, foreseen.count, foreseen.has_out
            ]  # fmt: skip
        self._send(wire.CALL, request, *told.contents, *self._foreseen.contents)
        answer, contents = self._answered(cap)
        with _understood():
            returned = Returned(link, self._function, arguments, answer, contents)
            returned.apply()
            if "raised" in answer:
                raise _failure(*answer["raised"])
            if self._result == "value":
                return returned.result()
        if self._result == "nothing":
            return None
        started = Started(decoder, on.tokens if on else 0)
        link.keep(request["result"], started)
        return started

    def _answered(self, cap: int) -> tuple[dict[str, Any], Iterator[Any]]:
        """Answer what the code asks until the call is over; return what is told of it."""
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
                took, outs, answer, *contents = frame.items
                if type(answer) is not dict:
                    raise ValueError
                self._take_note(took, outs)
                return answer, iter(contents)

    def _counted(self, arguments: tuple[Any, ...]) -> int:
        """Return how many tokens the code may ask of: those of the call, and of all before it."""
        if self._on is None:
            decodes = isinstance(next(iter(arguments), None), TracedDecoder)
            return sum(len(rows) for rows in arrays_in(arguments)) if decodes else 0
        self._on.tokens += sum(len(rows) for rows in arrays_in(arguments))
        return self._on.tokens

    def _cap(self, arguments: tuple[Any, ...], decoder: Any) -> int:
        """Return how many bytes a message of the worker may have."""
        given = sum(8 * int(array.size) for array in arrays_in(arguments))
        if isinstance(decoder, TracedDecoder):
            given *= max(1, -(-decoder.heads * decoder.head_dim // decoder.width))
        # Twice what it knows: all of it may have changed.
        return min(wire.SMALLEST_CAP + 16 * given + 2 * self._link.size(), LARGEST_CAP)

    def _send(self, kind: int, *items: Any) -> None:
        frame = wire.pack(kind, self._sequence, *items)
        try:
            self._worker.send(frame, self._deadline)
        except wire.WireError as error:
            raise BreachError(str(error)) from None

    def _answer(
        self, took: Any = None, outs: Any = None, what: Any = None, *question: Any
    ) -> None:
        """Do what the code asked of its decoder, or of a right function, and say what came of it.

        What cannot be done is refused as the decoder itself would: by an exception in the code.
        """
        with _understood():
            self._take_note(took, outs)
        self._count(1)
        try:
            if what == wire.RIGHT_ONE:
                answer = self._right_one(*question[1:])
            else:
                answer = self._projected(what, *question)
        except TooMuchError:
            raise
        except Exception as error:
            self._send(wire.REFUSE, type(error).__name__, str(error))
        else:
            self._send(wire.ANSWER, answer)

    def _projected(self, what: int, number: int, rows: Any) -> Any:
        """Return what a projection answers."""
        decoder, name = self._link.find(number), wire.PROJECTIONS[what]
        if not isinstance(decoder, TracedDecoder) or not isinstance(rows, np.ndarray):
            raise ValueError("this decoder belongs to an earlier call, which is over")
        if name == "forward_full" and len(rows) > self._tokens:
            raise ValueError(f"{len(rows)} rows, where {self._tokens} were given")
        widest = max(decoder.width, decoder.heads * decoder.head_dim)
        count = rows.size // max(1, rows.shape[-1]) if rows.ndim else 1
        if 8 * widest * count > LARGEST_CAP:
            raise ValueError(f"{count} rows in one call, which is too many")
        self._recorded += rows.nbytes
        if self._recorded > MOST_RECORDED:
            raise TooMuchError(f"projected more than {MOST_RECORDED} bytes of rows")
        return getattr(decoder, name)(rows)

    def _take_note(self, took: bytes, outs: Any) -> None:
        """Record the projections that the code took from what came along with the request."""
        if took or outs is not None:
            self._count(self._foreseen.take_notes(took, outs))

    def _count(self, questions: int) -> None:
        """Count questions; end a call that has more of them than the worst decode loop."""
        self._asked += questions
        most = (64 + 64 * self._tokens + 4 * self._tokens**2) * self._heads // 2
        if self._asked > most:
            tokens = counted(self._tokens, "token")
            raise TooMuchError(f"projected more than {most} times for {tokens}")

    def _right_one(self, question: dict[str, Any], *arrays: Any) -> Any:
        """Return what the function that stands in for one of the code returns."""
        if self._replaced is None:
            raise ValueError("there is no such function")
        return right_answer(*self._replaced, question, arrays)


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
