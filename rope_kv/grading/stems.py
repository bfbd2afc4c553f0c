"""A safe name for each student's files."""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .submission import Submission

MOST_BYTES = 80
# How much of the hash of a name is added where two would have the same file.
_DIGITS = (0, 8, 64)


def folder_names(submissions: Iterable[Submission]) -> dict[str, str]:
    """Return a file name without an ending for each student's name: letters, digits, - and _.

    It depends on the other students only where it would be theirs as well, capital or not: all of
    these then end in a hash of their names.
    """
    names = [one.name for one in submissions]
    level = dict.fromkeys(names, 0)
    while True:
        stems = {name: _stem(name, _DIGITS[level[name]]) for name in names}
        taken = Counter(map(_folded, stems.values()))
        clashing = [name for name, stem in stems.items() if taken[_folded(stem)] > 1]
        clashing = [name for name in clashing if level[name] + 1 < len(_DIGITS)]
        if not clashing:
            return stems
        for name in clashing:
            level[name] += 1


def _stem(name: str, digits: int) -> str:
    kept = "".join(letter if _is_kept(letter) else "-" for letter in _composed(name))
    kept = re.sub("-{2,}", "-", kept).strip("-_")
    # A mark belongs to the letter before it, and there may be none.
    kept = "".join(itertools.dropwhile(lambda one: unicodedata.category(one)[0] == "M", kept))
    mark = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    if not kept:
        kept, digits = "student", max(digits, _DIGITS[1])
    ending = f"-{mark[:digits]}" if digits else ""
    room = MOST_BYTES - len(ending)
    cut = kept.encode()[:room].decode(errors="ignore").rstrip("-_")
    return cut + ending


def _is_kept(letter: str) -> bool:
    return letter in "-_" or unicodedata.category(letter)[0] in "LMN"


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _folded(stem: str) -> str:
    """Return what a file system that ignores case, and how accents are written, takes it for."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", stem).casefold())
