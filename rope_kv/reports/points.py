"""What a function or a property is worth where marks are given."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from ..testing.implementation import PARTS
from ..testing.plain import one_line
from ..testing.property import all_properties

# Rotation and decoding are the exercise; frequencies are one line of it.
DEFAULT: dict[str, float] = {"rope_freqs": 2, "apply_rope": 4, "decode_incremental": 4}
MOST = 1e6


class PointsError(ValueError):
    """A file does not say what gives points; the message is one sentence."""


def read(path: Path) -> dict[str, float]:
    """Return what a JSON file gives points for: names of functions or properties, and numbers."""
    try:
        pairs = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=tuple)
    except OSError as error:
        raise PointsError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise PointsError(f"{path} is not JSON: {error}") from None
    if not isinstance(pairs, tuple):
        raise PointsError(f'{path} must hold one JSON object, as {{"apply_rope": 4}}')
    points: dict[str, float] = {}
    for given, value in pairs:
        name = _known(given, path)
        if name in points:
            raise PointsError(f"{path} gives points for {name} twice")
        points[name] = _number(value, name, path)
    if not sum(points.values()) > 0:
        raise PointsError(f"{path} gives no points for anything")
    return points


def _known(given: str, path: Path) -> str:
    """Return the name of a function or a property, written with spaces or with underscores."""
    name = "_".join(given.replace("_", " ").replace("-", " ").split())
    names = [*PARTS, *(prop.name for prop in all_properties())]
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else "`rope-kv properties` lists them"
    shown = one_line(given)
    raise PointsError(f"{path}: {shown!r:.99} is no function and no property: {hint}")


def _number(value: Any, name: str, path: Path) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and 0 <= value <= MOST:
        number: float = value
        return number
    found = "an object" if isinstance(value, tuple) else f"{json.dumps(value):.60}"
    raise PointsError(f"{path}: {name} must give a number of points from 0, found {found}")
