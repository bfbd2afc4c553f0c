"""What is seen of a hunt while it goes on: every find, and how it stands."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from .console import coloured, show
from .progress import ChangingLine
from .reports import hunt as told
from .reports import text
from .testing.hunt import Silence, Standing
from .testing.plain import one_line
from .testing.verdict import Diagnosis, Result

SECONDS_BETWEEN_CHANGES = 0.2
# In a pipe, or a log, lines come ever more rarely: an hour of them is still read.
FIRST_LINE, RAREST_LINE = 10.0, 600.0


class _Told(Silence):
    """Finds and remarks go to standard output as they come."""

    def __init__(self, spec: str) -> None:
        self._spec = spec

    def found(self, result: Result, found: Diagnosis | None, *, is_new: bool) -> None:
        """Show a broken property as a check does: its title alone where it says nothing new."""
        shown = text.failure(result, self._spec, found) if is_new else text.title(result)
        self._show(coloured("\n" + shown))

    def says(self, sentence: str) -> None:
        """Show a sentence."""
        self._show(f"  {one_line(sentence)}")

    def _show(self, said: str) -> None:
        self.over()
        show(said)
        sys.stdout.flush()


class Line(_Told):
    """One line of a terminal that changes, and gives way to what is to stay."""

    def __init__(self, terminal: TextIO, spec: str) -> None:
        super().__init__(spec)
        self._line = ChangingLine(terminal, 0)
        self._due = 0.0

    def is_due(self) -> bool:
        """Return whether the line has been the same for a while."""
        return time.monotonic() >= self._due

    def goes_on(self, standing: Standing) -> None:
        """Change the line."""
        self._due = time.monotonic() + SECONDS_BETWEEN_CHANGES
        self._line.write(told.line(standing))

    def over(self) -> None:
        """Take the line away."""
        self._line.over()


class Lines(_Told):
    """A line now and then, for what is no terminal."""

    def __init__(self, stream: TextIO, spec: str) -> None:
        super().__init__(spec)
        self._stream = stream
        self._every = FIRST_LINE
        self._due = time.monotonic() + self._every

    def is_due(self) -> bool:
        """Return whether it is time for a line."""
        return time.monotonic() >= self._due

    def goes_on(self, standing: Standing) -> None:
        """Print a line."""
        self._every = min(2 * self._every, RAREST_LINE)
        self._due = time.monotonic() + self._every
        line = told.line(standing)
        try:
            print(line, file=self._stream, flush=True)
        except UnicodeEncodeError:
            print(text.ascii_only(line), file=self._stream, flush=True)
