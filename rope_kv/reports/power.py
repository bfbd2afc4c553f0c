"""The power table for people: what each property catches, and what it adds to the others."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator

from ..power.argued import ARGUED
from ..power.table import Added, Catch, Power, written
from ..testing.property import Property, all_properties
from . import text
from .numbers import many

UNDER_TITLE, NARROW = " " * 31, " " * 4  # what is under a line, where there is room and not
MOST_NAMED = 3  # traps in a line, where not all are asked for


def document(power: Power) -> str:
    """Return the table as JSON."""
    return written(power)


def report(power: Power, *, in_full: bool = False) -> str:
    """Return the table as text: what all find together, then a line for each property.

    `in_full`, it names every trap, and what finds it.
    """
    parts = ["\n".join(line for said in [*overall(power), _LEGEND] for line in _labelled(*said))]
    caught, added = power.by_property(), power.added()
    indent = NARROW if text.is_narrow() else UNDER_TITLE
    for subject, properties in by_subject(power):
        lines = [f"\n{subject}", "  traps  alone  after  size"]
        for prop in properties:
            row = map(str.rjust, figures(caught[prop.name], added[prop.name]), (5, 5, 5, 4))
            lines.append(text.fitted(f"  {'  '.join(row)}  {prop.title}", NARROW))
            for said in adds(prop.name, added[prop.name], in_full):
                lines += text.wrapped(said, indent, indent)
        parts.append("\n".join(lines))
    if in_full:
        parts += [_trap(name, found) for name, found in power.by_trap().items()]
    return "\n".join(parts)


_LEGEND = (
    "columns",
    "how many traps a property catches, how many of them it alone, after how many cases, and how "
    "many numbers the smallest case has (lower medians)",
)


def _labelled(label: str, said: str) -> list[str]:
    return text.wrapped(said, f"  {label:<7}  ", " " * 11)


def figures(catches: list[Catch], added: Added) -> tuple[str, str, str, str]:
    """Return how many traps, how many of them alone, after how many cases, of what size."""
    after, size = (_half(getattr(catch, of) for catch in catches) for of in ("after", "size"))
    return str(len(catches)), str(len(added.alone)), after, size


def adds(name: str, added: Added, in_full: bool = False) -> list[str]:
    """Return what a property adds to the others, in sentences."""
    said = [
        f"{what}: {_names(traps, in_full)}"
        for what, traps in zip(("alone", "smallest", "soonest"), added, strict=True)
        if traps and (in_full or what == "alone" or not added.alone)
    ]
    return said or ([f"kept: {ARGUED[name]}"] if name in ARGUED else [])


def _names(traps: tuple[str, ...], in_full: bool) -> str:
    shown = traps if in_full else traps[:MOST_NAMED]
    more = len(traps) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _trap(name: str, found: list[Catch]) -> str:
    lines = [f"\n{name}"]
    for title, catch in ranked(found):
        row = f"  {'':>5}  {'':>5}  {catch.after:>5}  {catch.size:>4}  {title}"
        lines.append(text.fitted(row, NARROW))
    return "\n".join(lines)


def ranked(found: Iterable[Catch]) -> list[tuple[str, Catch]]:
    """Return the titles of what catches a trap, and how, that with the smallest case first."""
    by_size = sorted(found, key=lambda catch: (catch.size, catch.after))
    return [(catch.property.replace("_", " "), catch) for catch in by_size]


def by_subject(power: Power) -> Iterator[tuple[str, list[Property]]]:
    """Give the properties of a table, subject by subject, in reading order."""
    subjects: dict[str, list[Property]] = {}
    for prop in all_properties():
        if prop.name in power.properties:
            subjects.setdefault(prop.subject.replace("_", " "), []).append(prop)
    yield from subjects.items()


def overall(power: Power) -> list[tuple[str, str]]:
    """Return what all properties find together: labels, and what is said of each."""
    found = power.by_trap()
    missed = [name for name, catches in found.items() if not catches]
    numbers = [len(catches) for catches in found.values()]
    soonest = [min(catch.after for catch in catches) for catches in found.values() if catches]
    smallest = [min(catch.size for catch in catches) for catches in found.values() if catches]
    each = f"half of them by {_half(numbers)} properties or fewer"
    by_one = sum(len(catches) == 1 for catches in found.values())
    return [
        ("caught", f"{len(found) - len(missed)} of {many(len(found), 'trap')}, {each}, "
         f"{by_one} by one alone"),
        *([("missed", ", ".join(missed))] if missed else []),
        ("cases", _spread(soonest, "case", "until one shows it")),
        ("size", _spread(smallest, "number", "the smallest that shows it")),
        ("by", ", ".join(f"{name} {version}" for name, version in power.versions.items())
         + f", profile {power.profile}"),
    ]  # fmt: skip


def _spread(values: Iterable[int], noun: str, what: str) -> str:
    if not (rising := sorted(values)):
        return "-"
    tenth = rising[math.ceil(0.9 * len(rising)) - 1]
    return (
        f"half within {many(statistics.median_low(rising), noun)}, nine in ten within {tenth}, "
        f"all within {rising[-1]}, {what}"
    )


def _half(values: Iterable[int]) -> str:
    """Return the lower median of some numbers, or - for none."""
    known = list(values)
    return str(statistics.median_low(known)) if known else "-"


def summary(power: Power) -> str:
    """Return the table in short, as Markdown: what all find together, a row for each subject."""
    rows = [
        *(
            line
            for label, said in overall(power)
            for line in textwrap.wrap(
                f"- {label.capitalize()}: {said}.", text.WIDTH, subsequent_indent="  "
            )
        ),
        "",
        "| subject | properties | traps caught | by this subject alone | cases until then | "
        "numbers in the smallest |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    by_trap = power.by_trap().values()
    for subject, properties in by_subject(power):
        names = {prop.name for prop in properties}
        found = [[catch for catch in catches if catch.property in names] for catches in by_trap]
        alone = sum(
            bool(mine) and len(mine) == len(all_)
            for mine, all_ in zip(found, by_trap, strict=True)
        )
        caught = [mine for mine in found if mine]
        after = _half(min(catch.after for catch in mine) for mine in caught)
        size = _half(min(catch.size for catch in mine) for mine in caught)
        rows.append(f"| {subject} | {len(names)} | {len(caught)} | {alone} | {after} | {size} |")
    return "\n".join(rows) + "\n"
