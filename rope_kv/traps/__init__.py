"""Traps: known wrong implementations, one slip each, every one a file that runs by itself.

Each differs from a right solution in one place: from `_model.py`, the exercise, or from the one
that it names, `Model: session` for `_session_model.py`. They prove that the properties have teeth,
and show what a mistake looks like. A trap is read, never imported from here.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
_QUOTES = '"""'  # with which each of the files begins
_LABEL = re.compile(r"^(Misconception|Hint|Seen in|Function|Model|Shown by|Same as): ", re.M)


class Trap(NamedTuple):
    """One known mistake: what it is, why it is made, and a stored counterexample.

    `model` is the right solution from which it differs. `same_as` are the names of other traps
    that do the same, however they are called.
    """

    name: str
    path: Path
    slip: str
    misconception: str
    hint: str
    seen_in: str
    function: str
    shown_by: str
    model: Path
    same_as: tuple[str, ...] = ()


class NoTrapError(KeyError):
    """There is no trap of that name; the argument is a sentence that says so."""


def all_traps() -> tuple[Trap, ...]:
    """Return every trap, by name."""
    return tuple(_read(path) for path in sorted(FOLDER.glob("[a-z]*.py")))


def find_trap(name: str) -> Trap:
    """Return the trap of that name, with hyphens or underscores."""
    stem = name.replace("-", "_")
    path = FOLDER / f"{stem}.py"
    if not re.fullmatch(r"[a-z]\w*", stem) or not os.path.isfile(path):
        raise NoTrapError(f"there is no trap {name!r}: `rope-kv traps` lists them")
    return _read(path)


def _read(path: Path) -> Trap:
    # The docstring alone: parsing all of hundreds of files would be felt in every diagnosis.
    literal, _, _ = path.read_text(encoding="utf-8")[len(_QUOTES) :].partition(_QUOTES)
    text = inspect.cleandoc(ast.literal_eval(f"{_QUOTES}{literal}{_QUOTES}"))
    slip, *labelled = _LABEL.split(text)
    fields = {
        label: " ".join(value.split())
        for label, value in zip(labelled[::2], labelled[1::2], strict=True)
    }
    return Trap(
        name=path.stem.replace("_", "-"),
        path=path,
        slip=" ".join(slip.split()),
        misconception=fields.get("Misconception", ""),
        hint=fields.get("Hint", ""),
        seen_in=fields.get("Seen in", ""),
        function=fields.get("Function", ""),
        shown_by=fields.get("Shown by", ""),
        model=FOLDER / (f"_{fields['Model']}_model.py" if "Model" in fields else "_model.py"),
        same_as=tuple(fields.get("Same as", "").replace(",", " ").split()),
    )
