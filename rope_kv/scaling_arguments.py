"""What a scaling may hold: one check a key, each with one clear sentence."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def checked_scaling(scaling: Any) -> dict[str, Any]:
    """Return the entries of a scaling, its numbers checked and made plain, if it is one."""
    if not isinstance(scaling, Mapping):
        raise TypeError(
            f"scaling must be None or a dict, found {scaling!r} of type {type(scaling).__name__}"
        )
    if "rule" not in scaling:
        raise ValueError(f"scaling must have the key 'rule', found {_listed(scaling)}")
    rule = scaling["rule"]
    if not isinstance(rule, str):
        raise TypeError(f"rule must be a string, found {rule!r} of type {type(rule).__name__}")
    if rule not in _KEYS:
        raise ValueError(
            f"rule must be one of {_listed(_KEYS)}, found {rule!r}{_nearest(rule, _KEYS)}"
        )
    needed, allowed = _KEYS[rule]
    for key in scaling:
        if key not in ("rule", *needed, *allowed):
            raise ValueError(
                f"the rule {rule!r} has the keys {_listed((*needed, *allowed))}, "
                f"found {key!r}{_nearest(key, (*needed, *allowed))}"
            )
    for key in needed:
        if key not in scaling:
            raise ValueError(f"the rule {rule!r} needs the key {key!r}, found {_listed(scaling)}")
    known = {key: _CHECKS[key](scaling[key], key) for key in scaling if key != "rule"}
    _check_order(rule, known)
    return {"rule": rule, **known}


def _check_order(rule: str, known: Mapping[str, Any]) -> None:
    bands = {
        "yarn": ("beta_slow", "beta_fast"),
        "llama3": ("low_freq_factor", "high_freq_factor"),
    }
    if rule in bands:
        less, more = bands[rule]
        low, high = known.get(less, 1), known.get(more, 32)
        if low >= high:
            raise ValueError(f"{more} must be above {less}, found {high!r} and {low!r}")
    if rule == "longrope" and known["original_max_position"] < 2:
        raise ValueError("the rule 'longrope' needs an original_max_position above 1, found 1")


def _number(value: Any, name: str, least: float = 0) -> float:
    """Return `value` as a float, if it is finite and above 0, and at least `least`."""
    what = f"of at least {least}" if least else "above 0"
    if isinstance(value, bool | np.bool_ | str | bytes):
        raise TypeError(f"{name} must be a number, found {value!r} of type {type(value).__name__}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be a number, found {value!r} of type {type(value).__name__}"
        ) from None
    except OverflowError:
        number = math.inf
    if not (0 < number < math.inf and number >= least):
        raise ValueError(f"{name} must be a finite number {what}, found {value!r}")
    return number


def _factor(value: Any, name: str) -> float:
    return _number(value, name, least=1)


def _count(value: Any, name: str) -> int:
    """Return `value` as an int, if it is one from 1 to 2^53, up to which float64 has them all."""
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} must be an integer, found {value!r} of type {type(value).__name__}"
        ) from None
    if isinstance(value, bool | np.bool_) or not 1 <= count <= 2**53:
        raise ValueError(f"{name} must be an integer from 1 to 2^53, found {value!r}")
    return count


def _factors(value: Any, name: str) -> NDArray[np.float64]:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise TypeError(
            f"{name} must be a list of numbers, found {value!r} of type {type(value).__name__}"
        )
    return np.array([_number(entry, f"{name}[{i}]") for i, entry in enumerate(value)])


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _nearest(name: Any, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(name).lower(), list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


# What each rule needs, and what it allows beside.
_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "linear": (("factor",), ()),
    "ntk": (("factor",), ()),
    "dynamic": (("factor", "original_max_position", "length"), ()),
    "yarn": (
        ("factor", "original_max_position"),
        ("beta_fast", "beta_slow", "attention_factor"),
    ),
    "llama3": (
        ("factor", "low_freq_factor", "high_freq_factor", "original_max_position"),
        (),
    ),
    "longrope": (
        ("short_factor", "long_factor", "factor", "original_max_position", "length"),
        ("attention_factor",),
    ),
}
_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "factor": _factor,
    "original_max_position": _count,
    "length": _count,
    "beta_fast": _number,
    "beta_slow": _number,
    "low_freq_factor": _number,
    "high_freq_factor": _number,
    "short_factor": _factors,
    "long_factor": _factors,
    "attention_factor": _number,
}
