"""What is seen of a class while it is graded: nothing, a line now and then, or a live table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, TextIO

from ..reports.numbers import many
from .work import Outcome

MOST_PROPERTIES = 8
# A plain line comes that often, and no more: who reads a log wants few.
SECONDS_A_LINE = 10.0


class Seen:
    """Nothing is seen; what is counted is the same for all ways to show it."""

    def __init__(self) -> None:
        self.total = 0
        self.words: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self._began = time.monotonic()
        self._jobs = 1
        self._estimate = 0.0

    def note(self, said: str) -> None:
        """Tell a sentence on what was found."""

    def found(self, students: int, files: int, todo: int) -> None:
        """Take note of how much there is."""
        self.total = todo

    def warming_up(self, jobs: int) -> None:
        """Take note that the processes are started."""

    def begins(self, jobs: int, estimate: float) -> None:
        """Take note that the first file is begun, and how many seconds all may take."""
        self._began, self._jobs, self._estimate = time.monotonic(), jobs, estimate

    def ended(self, outcome: Outcome) -> None:
        """Take note of what came of a file."""
        self.words[outcome.verdict["verdict"]] += 1
        self.broken.update(
            prop["name"].replace("_", " ")
            for prop in outcome.verdict["properties"]
            if prop["outcome"] == "broken" and not prop["advice"]
        )

    def tick(self) -> None:
        """Show what is new, if it is time."""

    def over(self) -> None:
        """Show no more."""

    @property
    def done(self) -> int:
        """How many files have been checked."""
        return self.words.total()

    @property
    def left(self) -> float:
        """How many seconds the rest may take, as the files so far took."""
        if self.done < self._jobs:
            return self._estimate
        return (time.monotonic() - self._began) / self.done * (self.total - self.done)

    def counts(self) -> str:
        """Return how many files have come to which verdict."""
        words = ", ".join(f"{count:,} {word}" for word, count in self.words.most_common())
        return f"{self.done:,} of {self.total:,} checked{f': {words}' if words else ''}"


class Lines(Seen):
    """A line now and then, for a pipe or a log."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show
        self._shown = 0.0

    def note(self, said: str) -> None:
        """Show a sentence."""
        self._show(said)

    def found(self, students: int, files: int, todo: int) -> None:
        """Say how much there is to do."""
        super().found(students, files, todo)
        done = f", {files - todo} of them checked already" if todo < files else ""
        self._show(f"{many(students, 'student')}, {many(files, 'different file')}{done}")

    def begins(self, jobs: int, estimate: float) -> None:
        """Say how long it may take."""
        super().begins(jobs, estimate)
        self._shown = time.monotonic()
        at_once = f", {jobs} at a time" if jobs > 1 else ""
        self._show(f"{many(self.total, 'file')} to check{at_once}: about {duration(estimate)}")

    def tick(self) -> None:
        """Show a line, if the last one was some time ago."""
        if time.monotonic() - self._shown >= SECONDS_A_LINE:
            self._shown = time.monotonic()
            self._show(f"{self.counts()}; about {duration(self.left)} left")


class Live(Lines):
    """A table that changes, on a terminal, drawn by rich."""

    def __init__(self, show: Callable[[str], None], terminal: TextIO) -> None:
        super().__init__(show)
        from rich.console import Console
        from rich.live import Live as Drawn

        self._drawn = Drawn(console=Console(file=terminal), auto_refresh=False, transient=True)

    def begins(self, jobs: int, estimate: float) -> None:
        """Say how long it may take, and draw the table."""
        super().begins(jobs, estimate)
        self._drawn.start()

    def tick(self) -> None:
        """Draw the table anew."""
        self._drawn.update(self._table(), refresh=True)

    def over(self) -> None:
        """Take the table away."""
        self._drawn.stop()

    def _table(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        bar = Table.grid()
        bar.add_row(ProgressBar(total=max(1, self.total), completed=self.done, width=30))
        # Below the bar, since a narrow window has no room beside it.
        said = Text(f"{self.counts()}; about {duration(self.left)} left")
        failing = Table.grid(padding=(0, 2))
        for title, count in self.broken.most_common(MOST_PROPERTIES):
            failing.add_row(Text(f"{count:>6,}"), Text(title, overflow="ellipsis", no_wrap=True))
        if not self.broken:
            return Group(bar, said)
        return Group(bar, said, Text("broken by"), failing)


def duration(seconds: float) -> str:
    """Return seconds in words, as exact as an estimate is."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
