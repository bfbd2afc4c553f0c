"""An implementation whose code lives in another process.

To a property it is like any other. Its arguments are objects of this process; each has a double
in the worker, found again by a number, so that what the code does to it, or remembers of it,
shows here as it would if the code ran here. What a worker sends is believed to be what the code
answered, and nothing more: numbers are checked here, and projections are done and recorded here.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..testing.capabilities import NOTHING_DECLARED, Capabilities
from ..testing.comparison import Broken, Kind
from ..testing.loading import LoadError, titled
from ..testing.started import Batch, Session
from .call import BreachError, Call, Result, TooMuchError
from .levels import Level
from .link import Link, Started
from .process import GoneError, LateError, SandboxError
from .submission import Limits, Submission, read_source

# After a call that did not return, others are given up sooner. What is then shown as the smallest
# case has been repeated, in a process of its own, with all the time that is allowed.
SOONER = 4
# Methods of what was started that return what matters.
RETURNING = ("feed", "length")


class Isolated:
    """An implementation whose code runs in a worker."""

    def __init__(
        self,
        submission: Submission,
        name: str,
        link: Link | None = None,
        replaced: tuple[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.name = name
        self._submission = submission
        self._link = link or Link(submission, 0)
        self._replaced = replaced
        self._instance = self._link.number()
        weakref.finalize(self, self._link.drop, self._instance).atexit = False

    @property
    def isolation(self) -> Level:
        """The level of isolation that was reached."""
        return self._submission.level

    @property
    def capabilities(self) -> Capabilities:
        """What the file declares beyond the exercise, as it did when it was first loaded."""
        return self._submission.capabilities

    def rope_freqs(self, d: int, *base: float, **named: Any) -> Any:
        """Call rope_freqs."""
        return self._call("rope_freqs", (d, *base), named)

    def apply_rope(self, x: Any, *arguments: Any, **named: Any) -> Any:
        """Call apply_rope."""
        return self._call("apply_rope", (x, *arguments), named)

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental."""
        return self._call("decode_incremental", (decoder, x_embedded), {})

    def convert_layout(self, x: Any, source: str, target: str) -> Any:
        """Call convert_layout."""
        return self._call("convert_layout", (x, source, target), {})

    def path(self, name: str, decoder: Any, x_embedded: Any) -> Any:
        """Call another function that is declared to do what decode_incremental does."""
        return self._call(name, (decoder, x_embedded), {}, is_path=True)

    def start(self, decoder: Any, **named: Any) -> Session:
        """Start a session."""
        return Session(self, self._call("start", (decoder,), named, result="started"))

    def start_batch(self, decoder: Any, size: int, **named: Any) -> Batch:
        """Start a batch."""
        return Batch(self, self._call("start_batch", (decoder, size), named, result="started"))

    def on(self, started: Started, method: str, *arguments: Any) -> Any:
        """Call a method of what was started; what is no method is an attribute."""
        if self._link.number_of(started) is None:
            raise Broken(f"{method} of what a process had started that is over", "protocol")
        result: Result = "value" if method in RETURNING else "nothing"
        if method == "fork":
            result = "started"
        return self._call(method, arguments, {}, on=started, result=result)

    def fresh(self) -> Isolated:
        """Return the file executed anew, in the same process."""
        return Isolated(self._submission, self.name, self._link, self._replaced)

    def with_replaced(self, name: str, function: Callable[..., Any]) -> Isolated:
        """Return the same code, fresh, in which the others call `function` by that name."""
        return Isolated(self._submission, self.name, self._link, (name, function))

    @contextlib.contextmanager
    def restarted(self, seed: int = 0) -> Iterator[Isolated]:
        """Give the file in a process of its own, which ends with the block.

        Broken where what watches over it has been ended by then, which its answers need not show.
        """
        link = Link(self._submission, seed)
        try:
            yield Isolated(self._submission, self.name, link, self._replaced)
        finally:
            ended = link.end()
        if self._submission.zygote.is_closed:
            raise Broken(f"{self.name} ended its process: it {ended}", "attack")

    def declare_nothing(self) -> None:
        """Forget what the code declares: it is to be judged by the exercise alone."""
        self._submission.capabilities = NOTHING_DECLARED

    def close(self) -> None:
        """End all processes."""
        self._link.end()
        self._submission.close()

    def _call(
        self,
        function: str,
        arguments: tuple[Any, ...],
        named: dict[str, Any],
        **how: Any,
    ) -> Any:
        if self._replaced is not None and self._replaced[0] == function:
            return self._replaced[1](*arguments, **named)
        link, seconds = self._link, self._submission.limits.call_timeout
        timeout = seconds / SOONER if link.has_hung else seconds
        try:
            with np.errstate(all="ignore"):
                call = Call(link, self._instance, self._replaced, function, timeout, **how)
                return call.run(arguments, named)
        except (Broken, LoadError):
            raise
        except LateError:
            link.has_hung = True
            link.end()
            broken = Broken(f"{function} has not returned after {seconds:g} s", "hang")
        except GoneError:
            ended = link.end()
            kind: Kind = "attack" if self._submission.zygote.is_closed else "crash"
            broken = Broken(f"{function} ended its process: it {ended}", kind)
        except TooMuchError as error:
            link.end()
            broken = Broken(f"{function} does not end: it {error}", "endless")
        except BreachError as error:
            link.end()
            broken = Broken(f"{function} sent {error}", "protocol")
        except BaseException:
            link.end()  # Whatever it answers to this call, nothing waits for it.
            raise
        raise broken


def open_file(
    file: Path, attribute: str = "", level: Level | None = None, limits: Limits | None = None
) -> Isolated:
    """Return the implementation that a file holds, in processes of its own; `close` ends them.

    LoadError where the file cannot be loaded, SpecError where there is none, SandboxError where
    the level of isolation is not to be had.
    """
    return open_source(read_source(file), file.name, attribute, level, limits)


def open_source(
    source: bytes,
    name: str,
    attribute: str = "",
    level: Level | None = None,
    limits: Limits | None = None,
) -> Isolated:
    """Return the implementation that the bytes of a file called `name` hold; see `open_file`."""
    submission = Submission(source, name, attribute, level, limits or Limits())
    try:
        submission.load(0).end()
    except GoneError:
        submission.close()
        raise SandboxError(f"the processes that isolate {name} have ended") from None
    except BaseException:
        submission.close()
        raise
    return Isolated(submission, titled(name, attribute))
