"""What the command prints: lines, in colour where that is seen, or why it cannot do its work."""

from __future__ import annotations

import os
import re
import sys

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


def coloured(report: str) -> str:
    """Return a report with its verdicts in green or red, where standard output shows colours."""
    is_dumb = os.environ.get("TERM", "dumb") == "dumb"
    if is_dumb or os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return report

    def painted(found: re.Match[str]) -> str:
        return f"\x1b[{GREEN if found[0] == 'PASS' else RED}m{found[0]}\x1b[0m"

    return _VERDICT.sub(painted, report)
