"""What is seen of a check while it runs: nothing, one line that changes, or a line a property."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from .console import width_of
from .testing.plain import one_line

if TYPE_CHECKING:
    from .testing.verdict import Result


class Silence:
    """Nothing is seen."""

    def starts(self, what: str) -> None:
        """Take note of what starts: mostly a property."""

    def ends(self, result: Result) -> None:
        """Take note of the result of a property."""

    def over(self) -> None:
        """Leave nothing behind."""


class ChangingLine(Silence):
    """One line of a terminal that says what runs, and is not there any more when it is over.

    It is written over with spaces, which every terminal understands.
    """

    def __init__(self, terminal: TextIO, total: int) -> None:
        self._terminal = terminal
        self._total = total
        self._ended = 0
        self._length = 0

    def starts(self, what: str) -> None:
        """Say what runs."""
        self.write(f"{min(self._ended + 1, self._total)} of {self._total}: {what}")

    def ends(self, result: Result) -> None:
        """Count a property."""
        self._ended += 1

    def over(self) -> None:
        """Take the line away."""
        if self._length:
            self.write("")
            self._terminal.write("\r")
            self._terminal.flush()

    def write(self, line: str) -> None:
        """Show another line in its place."""
        # In the last column a terminal may go on to the next line, where nothing is taken away.
        width = width_of(self._terminal) - 1
        line = line[:width]
        self._terminal.write(f"\r{line:<{min(self._length, width)}}")
        self._terminal.flush()
        self._length = len(line)


class Lines(Silence):
    """A line for each property, as they come."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show

    def ends(self, result: Result) -> None:
        """Show a line."""
        self._show(line(result))


def line(result: Result) -> str:
    """Return a result in one line: outcome, examples, largest error, seconds, name, and why."""
    prop = result.property
    outcome = result.outcome.replace("_", " ")
    if prop.advice and result.outcome == "broken":
        outcome = "advice"
    error = "" if result.worst_ratio is None else f"error {result.worst_ratio:.2g} × bound"
    why = one_line(result.message) if result.outcome != "broken" else ""
    return (
        f"{outcome:<8} {result.examples:>4} cases {result.seconds:>6.2f} s  {error:<24}"
        f"{prop.function} · {prop.title}{f'  ({why})' if why else ''}"
    )
