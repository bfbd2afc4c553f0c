"""What the command writes: lines, one file, and a sentence where it cannot do what was asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .files import write_whole


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


def refuse_to_overwrite(target: str) -> None:
    """Raise Misuse where the verdict would take the place of anything but an older verdict."""
    path = Path(target)
    if target == "-" or (target and not path.exists() and path.parent.is_dir()):
        return
    if not target or not path.is_file():
        raise Misuse(f"cannot write {target!r}: it is not a file in a folder that exists")
    try:
        older = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        older = None
    if not isinstance(older, dict) or not str(older.get("schema")).startswith("rope-kv/verdict/"):
        raise Misuse(f"{target} exists and is no verdict: choose another name")


def write_json(target: str, document: dict[str, object]) -> None:
    """Write a document to a file, or to standard output where the target is "-"."""
    content = json.dumps(document, indent=1, allow_nan=False)
    if target == "-":
        show(content)
        return
    write_whole(Path(target), content + "\n")
