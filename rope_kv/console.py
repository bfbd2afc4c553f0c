"""What the command prints: lines, in colour where that is seen, or why it cannot do its work."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import TextIO

RED, GREEN = 31, 32
USUAL_WIDTH = 80
_VERDICT = re.compile(
    r"^(?:PASS|FAIL|CRASH|TIMEOUT|PROTOCOL|LOAD_ERROR|NOT_RUN|GRADER_ERROR)(?=  )|(?<= )FAIL$",
    re.M,
)


class Misuse(Exception):  # noqa: N818 - not an error of the program
    """What was asked for cannot be done; the message says why and what to do."""


def show(line: str) -> None:
    """Print a line; in ASCII where the terminal has nothing else."""
    print(showable(line, sys.stdout))


def showable(text: str, stream: TextIO | None) -> str:
    """Return a text as it is; in ASCII where a stream cannot take all of its letters."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        from .reports.text import ascii_only

        return ascii_only(text)
    return text


def tell(line: str) -> None:
    """Print a line that is no part of the output."""
    print(line, file=sys.stderr, flush=True)


def is_terminal(stream: TextIO) -> bool:
    """Return whether what is written to a stream can be changed, or coloured, where it is seen."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def width_of(terminal: TextIO) -> int:
    """Return how many columns a terminal has."""
    try:
        return os.get_terminal_size(terminal.fileno()).columns or USUAL_WIDTH
    except (OSError, ValueError):
        return USUAL_WIDTH


@contextlib.contextmanager
def fitting_reports() -> Iterator[None]:
    """Have what is reported in the block fit the terminal, where standard output is one."""
    from .reports import text

    # In the last column a terminal may go on to the next line.
    with text.fitting(width_of(sys.stdout) - 1 if sys.stdout.isatty() else text.WIDTH):
        yield


def coloured(report: str) -> str:
    """Return a report with its verdicts in green or red, where standard output shows colours."""
    if os.environ.get("NO_COLOR") or not is_terminal(sys.stdout):
        return report

    def painted(found: re.Match[str]) -> str:
        return f"\x1b[{GREEN if found[0] == 'PASS' else RED}m{found[0]}\x1b[0m"

    return _VERDICT.sub(painted, report)
