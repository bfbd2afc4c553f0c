"""What people read of a class: tables, the overview, and the reports of each student."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..files import write_whole
from .folders import some
from .rows import MISSING, Row, csv_text, jsonl_text
from .store import REPORTS, Store, cannot_write
from .work import Outcome, Settings

FORMS = (".txt", ".json", ".html")
# A spreadsheet takes a file for UTF-8 that begins so.
BYTE_ORDER_MARK = "\ufeff"


class Handed(NamedTuple):
    """What one student handed in: the digest of a file, or the `word` and sentence for none.

    `stem` is the name of the student's reports, without an ending.
    """

    name: str
    file: str
    stem: str
    digest: str = ""
    word: str = MISSING
    problem: str = ""


def publish(
    store: Store,
    handed: Sequence[Handed],
    failed: Mapping[str, Outcome],
    settings: Settings,
    note: Callable[[str], None] = lambda said: None,
) -> list[Row]:
    """Write all that is known of a class into its folder, and return a row for each student.

    `failed` is what came of files that are not done: they could not be judged. `note` is told in
    a sentence who was in the tables before, and is not any more.
    """
    twins = _twins(handed)
    rows = []
    for one in handed:
        outcome = (store.outcome(one.digest) or failed.get(one.digest)) if one.digest else None
        _write_reports(store, one, outcome)
        identical = tuple(name for name in twins.get(one.digest, ()) if name != one.name)
        rows.append(_row(one, outcome, identical))
    if gone := _names_before(store) - {one.name for one in handed}:
        note(f"no longer in the tables, as not among what is graded now: {some(sorted(gone))}")
    store.write(store.folder / "results.csv", BYTE_ORDER_MARK + csv_text(rows), lasting=True)
    store.write(store.folder / "results.jsonl", jsonl_text(rows), lasting=True)
    store.write(store.folder / "index.html", _overview(rows, settings), lasting=True)
    return rows


def harvest(store: Store, digests: Iterable[str], folder: Path) -> None:
    """Keep each distinct counterexample of a class in a folder; what is there stays as it is."""
    for digest in digests:
        outcome = store.outcome(digest)
        for name, content in outcome.cases.items() if outcome is not None else ():
            path = folder / name
            try:
                if not path.exists():
                    folder.mkdir(parents=True, exist_ok=True)
                    write_whole(path, content)
            except OSError as error:
                raise cannot_write(path, error) from None


def _twins(handed: Sequence[Handed]) -> dict[str, list[str]]:
    """Return the students by what they handed in."""
    twins: dict[str, list[str]] = {}
    for one in handed:
        if one.digest:
            twins.setdefault(one.digest, []).append(one.name)
    return twins


def _write_reports(store: Store, one: Handed, outcome: Outcome | None) -> None:
    """Write the reports of a student, or take away those of an earlier file."""
    paths = [store.reports / (one.stem + form) for form in FORMS]
    if outcome is None:
        for path in paths:
            store.remove(path)
        return
    verdict = json.dumps(outcome.verdict, indent=1, allow_nan=False) + "\n"
    for path, content in zip(paths, (outcome.text, verdict, outcome.html), strict=True):
        store.write(path, content)


def _names_before(store: Store) -> set[str]:
    """Return who was in the tables before, as far as they can be read."""
    try:
        lines = (store.folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
        return {str(json.loads(line)["name"]) for line in lines}
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return set()


def _row(one: Handed, outcome: Outcome | None, identical: tuple[str, ...]) -> Row:
    if outcome is None:
        if not one.digest:
            return Row(one.name, one.file, one.word, one.problem)
        message = "not checked yet: --resume goes on"
        return Row(one.name, one.file, "NOT_RUN", message, identical=identical)
    told = outcome.verdict
    return Row(
        name=one.name,
        file=one.file,
        verdict=told["verdict"],
        message=told["message"],
        functions=told["functions"],
        looks_like=_looks_like(told),
        outcomes={
            prop["name"]: prop["outcome"] for prop in told["properties"] if not prop["advice"]
        },
        identical=identical,
        points=outcome.points,
        report=f"{REPORTS}/{one.stem}",
    )


def _looks_like(told: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        found["function"]: tuple(trap["name"] for trap in found["looks_like"])
        for found in told["diagnoses"]
        if found["looks_like"]
    }


def _overview(rows: Sequence[Row], settings: Settings) -> str:
    from ..reports.points import DEFAULT
    from .overview import page

    points = dict(settings.points) or DEFAULT
    first = "" if not settings.first else f"{len(settings.first)} stored cases tried first"
    about = [
        ("Checked by", f"rope_kv {__version__}"),
        ("Profile", settings.profile),
        *([("Cases", first)] if first else []),
    ]
    return page(rows, title="A class", about=about, out_of=sum(points.values()))
