"""The JSON form of a case: an object, its fields by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_origin, get_type_hints

from .cases import Case


def to_json(case: Case) -> dict[str, Any]:
    """Return the case as JSON data: an object, its fields by name."""
    return {name: _data(value) for name, value in case._asdict().items()}


def from_json(case_type: type[Case], data: Mapping[str, Any]) -> Case:
    """Return the case of `case_type` that `data` describes; ValueError says what is wrong."""
    hints = get_type_hints(case_type)
    if not isinstance(data, Mapping) or set(data) != set(hints):
        found = sorted(data) if isinstance(data, Mapping) else type(data).__name__
        raise ValueError(f"its case must have the fields {', '.join(hints)}, found {found}")
    return case_type(**{name: _field(hints[name], data[name], name) for name in hints})


def _data(value: Any) -> Any:
    if hasattr(value, "_fields"):
        return to_json(value)
    if isinstance(value, tuple):
        return [_data(part) for part in value]
    return value


def _field(hint: Any, value: Any, name: str) -> Any:
    if hasattr(hint, "_fields"):
        return from_json(hint, value)
    if hint is str and isinstance(value, str):
        return value
    if hint in (int, float) and isinstance(value, hint | int) and not isinstance(value, bool):
        return value
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_field(get_args(hint)[0], part, name) for part in value)
    raise ValueError(f"its field {name!r} has a value of the wrong kind: {value!r:.60}")
