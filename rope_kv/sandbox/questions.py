"""What code may ask a right function that stands in for one of its own.

A question comes from a process that is not to be trusted, and is answered in this one. So what
makes no sense is refused, and what costs more than any right code asks for as well.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

PARAMETERS = {"rope_freqs": ("d", "base"), "apply_rope": ("x", "positions", "base")}
# What is given by name alone.
NAMED = {"rope_freqs": ("scaling",), "apply_rope": ("rotary_dim", "scaling")}
LARGEST_WIDTH = 1 << 16
LARGEST_INTEGER = 1 << 63
# Of a scaling: its entries, the letters of a name, and the numbers of a list.
MOST_ENTRIES, LONGEST_NAME, LONGEST_LIST = 16, 40, 4096


def right_answer(
    name: str, function: Callable[..., Any], question: dict[str, Any], arrays: tuple[Any, ...]
) -> Any:
    """Return what the right function of a name returns.

    ValueError or TypeError where the question makes no sense, or is too large.
    """

    def found(value: Any) -> Any:
        return arrays[value["array"]] if type(value) is dict and "array" in value else value

    def scaling(value: Any) -> dict[str, Any] | None:
        if value is None:
            return None
        entries = value["mapping"]
        if type(entries) is not dict or len(entries) > MOST_ENTRIES:
            raise ValueError(f"a scaling has up to {MOST_ENTRIES} entries")
        return {_text(key): _sensible(found(entry)) for key, entry in entries.items()}

    parameters = PARAMETERS[name]
    if len(question["arguments"]) > len(parameters):
        raise TypeError(f"{name} takes {len(parameters)} arguments by place")
    given = dict(zip(parameters, question["arguments"], strict=False)) | question["named"]
    if unknown := given.keys() - {*parameters, *NAMED[name]}:
        raise TypeError(f"{name} takes no {min(unknown)!r:.60}")
    more: dict[str, Any] = {}
    if "scaling" in given:
        more["scaling"] = scaling(given["scaling"])
    base = float(found(given.get("base", 10000)))
    if not 0 < base < math.inf:
        raise ValueError("base must be a finite number above 0")
    if name == "rope_freqs":
        d = operator.index(found(given["d"]))
        if not 0 <= d <= LARGEST_WIDTH:
            raise ValueError(f"d must be from 0 to {LARGEST_WIDTH}")
        return function(d, base, **more)
    x = np.asarray(found(given["x"]), dtype=float)
    positions = np.asarray(found(given["positions"]))
    if x.ndim != 2 or positions.shape != x.shape[:1] or not x.shape[1]:
        raise ValueError("x must have shape (T, d), and positions (T,)")
    if given.get("rotary_dim") is not None:
        turned = more["rotary_dim"] = operator.index(found(given["rotary_dim"]))
        if turned % 2 or not 0 < turned <= x.shape[1]:
            raise ValueError(f"rotary_dim must be even, from 2 to {x.shape[1]}")
    return function(x, positions, base, **more)


def _sensible(value: Any) -> Any:
    """Return an entry of a scaling: a number, a short text, or a list of numbers."""
    if isinstance(value, np.ndarray) and value.ndim <= 1 and value.dtype.kind in "iufb":
        value = value.tolist()
    if type(value) is list:
        if len(value) > LONGEST_LIST:
            raise ValueError(f"a list of a scaling has up to {LONGEST_LIST} numbers")
        return [_number(entry) for entry in value]
    return value if value is None or type(value) is bool else _text_or_number(value)


def _text_or_number(value: Any) -> Any:
    return _text(value) if type(value) is str else _number(value)


def _number(value: Any) -> Any:
    if type(value) is float or (type(value) is int and abs(value) < LARGEST_INTEGER):
        return value
    raise ValueError("a scaling holds numbers, short texts, and lists of numbers")


def _text(value: str) -> str:
    if len(value) > LONGEST_NAME:
        raise ValueError(f"a text of a scaling has up to {LONGEST_NAME} letters")
    return value
