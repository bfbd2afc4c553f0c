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

from ..testing.comparison import Broken, Kind
from ..testing.loading import LoadError, titled
from .call import BreachError, Call, TooMuchError
from .levels import Level
from .process import GoneError, LateError, SandboxError
from .session import Session
from .submission import Limits, Submission, read_source

# After a call that did not return, others are given up sooner. What is then shown as the smallest
# case has been repeated, in a process of its own, with all the time that is allowed.
SOONER = 4


class Isolated:
    """An implementation whose code runs in a worker."""

    def __init__(
        self,
        submission: Submission,
        name: str,
        session: Session | None = None,
        replaced: tuple[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.name = name
        self._submission = submission
        self._session = session or Session(submission, 0)
        self._replaced = replaced
        self._instance = self._session.number()
        weakref.finalize(self, self._session.drop, self._instance).atexit = False

    @property
    def isolation(self) -> Level:
        """The level of isolation that was reached."""
        return self._submission.level

    def rope_freqs(self, d: int, *base: float, **named: float) -> Any:
        """Call rope_freqs."""
        return self._call("rope_freqs", (d, *base), named)

    def apply_rope(self, x: Any, *arguments: Any, **named: Any) -> Any:
        """Call apply_rope."""
        return self._call("apply_rope", (x, *arguments), named)

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental."""
        return self._call("decode_incremental", (decoder, x_embedded), {})

    def fresh(self) -> Isolated:
        """Return the file executed anew, in the same process."""
        return Isolated(self._submission, self.name, self._session, self._replaced)

    def with_replaced(self, name: str, function: Callable[..., Any]) -> Isolated:
        """Return the same code, fresh, in which the others call `function` by that name."""
        return Isolated(self._submission, self.name, self._session, (name, function))

    @contextlib.contextmanager
    def restarted(self, seed: int = 0) -> Iterator[Isolated]:
        """Give the file in a process of its own, which ends with the block."""
        session = Session(self._submission, seed)
        try:
            yield Isolated(self._submission, self.name, session, self._replaced)
        finally:
            session.end()

    def close(self) -> None:
        """End all processes."""
        self._session.end()
        self._submission.close()

    def _call(self, function: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if self._replaced is not None and self._replaced[0] == function:
            return self._replaced[1](*arguments, **named)
        session, seconds = self._session, self._submission.limits.call_timeout
        timeout = seconds / SOONER if session.has_hung else seconds
        try:
            with np.errstate(all="ignore"):
                call = Call(session, self._instance, self._replaced, function, timeout)
                return call.run(arguments, named)
        except (Broken, LoadError):
            raise
        except LateError:
            session.has_hung = True
            session.end()
            broken = Broken(f"{function} has not returned after {seconds:g} s", "hang")
        except GoneError:
            how = session.end()
            kind: Kind = "attack" if self._submission.zygote.is_closed else "crash"
            broken = Broken(f"{function} ended its process: it {how}", kind)
        except TooMuchError as error:
            session.end()
            broken = Broken(f"{function} {error}", "calls")
        except BreachError as error:
            session.end()
            broken = Broken(f"{function} sent {error}", "protocol")
        except BaseException:
            session.end()  # Whatever it answers to this call, nothing waits for it.
            raise
        raise broken


def open_file(
    file: Path, attribute: str = "", level: Level | None = None, limits: Limits | None = None
) -> Isolated:
    """Return the implementation that a file holds, in processes of its own; `close` ends them.

    LoadError where the file cannot be loaded, SpecError where there is none, SandboxError where
    the level of isolation is not to be had.
    """
    source = read_source(file)
    submission = Submission(source, file.name, attribute, level, limits or Limits())
    try:
        submission.load(0).end()
    except GoneError:
        submission.close()
        raise SandboxError(f"the processes that isolate {file.name} have ended") from None
    except BaseException:
        submission.close()
        raise
    return Isolated(submission, titled(file.name, attribute))
