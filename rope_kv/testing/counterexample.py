"""Counterexamples: one case that broke a property, in one JSON file that anyone can replay.

The case alone decides. No expected output is stored, so a file never goes stale and serves
every implementation. Nothing is overwritten and nothing is deleted.
"""

from __future__ import annotations

import datetime
import hashlib
import importlib
import json
import os
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from ..files import write_whole
from .case_json import from_json, to_json
from .cases import Case
from .plain import plain
from .property import Property, all_properties, comparing_properties

FORMAT = 1
Found = dict[str, str]


class CounterexampleError(ValueError):
    """A file is not a counterexample that this version can replay; the message says why."""


class Counterexample(NamedTuple):
    """A case that broke a property, why it is kept, and where it was found."""

    property: Property
    case: Case
    why: str
    found: Found
    path: Path


def save(directory: Path, of: Property, case: Case, why: str, against: str) -> Path:
    """Write a case that breaks a property to its own file, unless it is there; return the path."""
    name, content = written(of, case, why, against)
    path = directory / name
    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    return path


def written(of: Property, case: Case, why: str, against: str) -> tuple[str, str]:
    """Return the name of the file of a case that breaks a property, and what is in it."""
    data = to_json(case)
    canonical = json.dumps([of.name, data], sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()[:8]
    document = {
        "format": FORMAT,
        "property": of.name,
        "case": data,
        "why": why,
        "found": {
            "rope_kv": version("rope_kv"),
            "hypothesis": version("hypothesis"),
            # A file's name may hold bytes that are no text here.
            "against": plain(against),
            "on": datetime.date.today().isoformat(),
        },
    }
    name = f"{of.name.replace('_', '-')}-{digest}.json"
    return name, _one_line_a_row(document) + "\n"


def _one_line_a_row(document: dict[str, Any]) -> str:
    """Return the document as JSON that a person can read: a row of numbers on one line."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    return re.sub(
        r"\[[^\[\]{}\"]*\]", lambda row: "[" + " ".join(row[0][1:-1].split()) + "]", text
    )


def load(path: Path) -> Counterexample:
    """Return the counterexample in a file; CounterexampleError says what is wrong with it."""
    try:
        content = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CounterexampleError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise CounterexampleError(f"{path} is not JSON: {error}") from None
    return read(content, path)


def read(content: str, path: Path) -> Counterexample:
    """Return the counterexample that a file holds; CounterexampleError says what is wrong."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CounterexampleError(f"{path} is not JSON: {error}") from None
    if not isinstance(document, dict) or "format" not in document:
        raise CounterexampleError(f'{path} is not a counterexample: it has no "format"')
    if document["format"] != FORMAT:
        raise CounterexampleError(
            f"{path} has format {document['format']!r}; this version reads format {FORMAT}: "
            "install a newer rope_kv"
        )
    known: dict[Any, Property] = {
        prop.name: prop for prop in (*all_properties(), *comparing_properties())
    }
    of = known.get(document.get("property"))
    if of is None:
        raise CounterexampleError(
            f"{path} is about {document.get('property')!r}, which is no property of this version"
        )
    try:
        case = from_json(of.case_type, document.get("case", {}))
    except ValueError as error:
        raise CounterexampleError(f"{path} cannot be replayed: {error}") from None
    return Counterexample(of, case, document.get("why", ""), document.get("found", {}), path)


def files_in(places: Iterable[Path]) -> list[Path]:
    """Return the files named, and the JSON files of the folders named, each in order."""
    found: list[Path] = []
    for place in places:
        found += sorted(place.glob("*.json")) if place.is_dir() else [place]
    return found


def stored() -> Path:
    """Return where counterexamples are: regressions/ here, or those that rope_kv brings along."""
    here = Path("regressions")
    if here.is_dir():
        return here
    return brought_along()


def brought_along() -> Path:
    """Return where the counterexamples are that rope_kv brings along."""
    return Path(str(importlib.import_module("rope_kv.regressions").__file__)).parent


def where_to_record(named: Path | None, nowhere: bool) -> Path | None:
    """Return the folder for new counterexamples: the one named, or regressions/ if it is here.

    One that is not named and cannot be written does not keep anybody from a verdict.
    """
    if nowhere:
        return None
    here = Path("regressions")
    return named or (here if here.is_dir() and os.access(here, os.W_OK | os.X_OK) else None)
