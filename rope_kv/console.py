"""What the command prints: lines, in colour where that is seen, or why it cannot do its work."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

RED, GREEN = 31, 32
_VERDICT = re.compile(
    r"^(?:PASS|FAIL|CRASH|TIMEOUT|PROTOCOL|LOAD_ERROR|NOT_RUN|GRADER_ERROR)(?=  )|(?<= )FAIL$",
    re.M,
)


class Misuse(Exception):  # noqa: N818 - not an error of the program
    """What was asked for cannot be done; the message says why and what to do."""


def show(line: str) -> None:
    """Print a line; in ASCII where the terminal has nothing else."""
    try:
        line.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        from .reports.text import ascii_only

        line = ascii_only(line)
    print(line)


def tell(line: str) -> None:
    """Print a line that is no part of the output."""
    print(line, file=sys.stderr, flush=True)


def is_terminal(stream: TextIO) -> bool:
    """Return whether what is written to a stream can be changed, or coloured, where it is seen."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def coloured(report: str) -> str:
    """Return a report with its verdicts in green or red, where standard output shows colours."""
    if os.environ.get("NO_COLOR") or not is_terminal(sys.stdout):
        return report

    def painted(found: re.Match[str]) -> str:
        return f"\x1b[{GREEN if found[0] == 'PASS' else RED}m{found[0]}\x1b[0m"

    return _VERDICT.sub(painted, report)
