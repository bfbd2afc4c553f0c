"""The power table: what each property catches, and its form as a file."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

# What `rope-kv power` measured of the traps that come along.
STORED = Path(__file__).parent / "measured.json"
FORM = "rope_kv power"


class PowerError(ValueError):
    """There is no power table in a text; the message says why."""


class Catch(NamedTuple):
    """One trap, found by one property.

    `after` is how many cases were tried until the first was broken, that one included, and `size`
    how many numbers the smallest case is made of.
    """

    property: str
    trap: str
    after: int
    size: int


class Added(NamedTuple):
    """The traps for which one property does more than every other.

    `alone` are those that it alone catches, `smallest` those of which it alone shows the smallest
    case, `soonest` those that it alone finds after the fewest cases.
    """

    alone: tuple[str, ...]
    smallest: tuple[str, ...]
    soonest: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.alone or self.smallest or self.soonest)


class Power(NamedTuple):
    """What some properties catch of some traps, searched with one profile by some versions.

    Properties and traps are given by their names, catches in the order of both.
    """

    profile: str
    versions: Mapping[str, str]
    properties: tuple[str, ...]
    traps: tuple[str, ...]
    catches: tuple[Catch, ...]

    def of(self, traps: tuple[str, ...]) -> Power:
        """Return the table of some of the traps."""
        kept = set(traps)
        catches = tuple(catch for catch in self.catches if catch.trap in kept)
        return self._replace(traps=traps, catches=catches)

    def by_property(self) -> dict[str, list[Catch]]:
        """Return the catches of each property."""
        return self._by(self.properties, "property")

    def by_trap(self) -> dict[str, list[Catch]]:
        """Return the catches of each trap."""
        return self._by(self.traps, "trap")

    def _by(self, names: tuple[str, ...], field: str) -> dict[str, list[Catch]]:
        found: dict[str, list[Catch]] = {name: [] for name in names}
        for catch in self.catches:
            found[getattr(catch, field)].append(catch)
        return found

    def added(self) -> dict[str, Added]:
        """Return what each property adds to all others."""
        by_trap = self.by_trap().values()
        alone = [found[0] for found in by_trap if len(found) == 1]
        smallest, soonest = (
            [best for found in by_trap if (best := _only_least(found, field)) is not None]
            for field in ("size", "after")
        )
        return {
            name: Added(*(_traps_of(name, best) for best in (alone, smallest, soonest)))
            for name in self.properties
        }


def _only_least(found: list[Catch], field: str) -> Catch | None:
    """Return the one of two or more catches that is less than all others, or None."""
    ranked = sorted(found, key=lambda catch: int(getattr(catch, field)))
    if len(ranked) > 1 and getattr(ranked[0], field) < getattr(ranked[1], field):
        return ranked[0]
    return None


def _traps_of(name: str, catches: list[Catch]) -> tuple[str, ...]:
    return tuple(catch.trap for catch in catches if catch.property == name)


def written(power: Power) -> str:
    """Return the table as JSON, a line for each property and each trap."""
    catches = {
        name: {catch.property: [catch.after, catch.size] for catch in found}
        for name, found in power.by_trap().items()
    }
    head = {"form": FORM, "profile": power.profile, "versions": dict(power.versions)}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    names = ",\n".join(f"    {json.dumps(name)}" for name in power.properties)
    rows = ",\n".join(f"    {json.dumps(n)}: {json.dumps(row)}" for n, row in catches.items())
    lines += [f'  "properties": [\n{names}\n  ]', f'  "traps": {{\n{rows}\n  }}']
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(document: str) -> Power:
    """Return the table that a text holds; PowerError where it holds none."""
    try:
        given: dict[str, Any] = json.loads(document)
        if given["form"] != FORM:
            raise PowerError(f"its form is {given['form']!r}")
        order = {name: i for i, name in enumerate(given["properties"])}
        return Power(
            given["profile"],
            given["versions"],
            tuple(order),
            tuple(given["traps"]),
            tuple(
                Catch(name, trap, after, size)
                for trap, row in given["traps"].items()
                for name, (after, size) in sorted(row.items(), key=lambda one: order[one[0]])
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PowerError(f"no table of {FORM}: {error}") from None


@functools.cache
def stored() -> Power:
    """Return what was measured of the traps that come along."""
    return read(STORED.read_text(encoding="utf-8"))
