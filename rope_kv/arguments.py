"""What the public functions accept: one check an argument, each with one clear sentence."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def even_width(value: Any, name: str) -> int:
    """Return `value` as an int, if it is an even integer of at least 2."""
    try:
        width = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} must be an even integer, found {value!r} of type {type(value).__name__}"
        ) from None
    if isinstance(value, bool | np.bool_) or width < 2 or width % 2:
        raise ValueError(f"{name} must be an even integer of at least 2, found {value!r}")
    return width


def rotary_width(value: Any, d: int) -> int:
    """Return `value` as an int, if it is an even integer from 2 to `d`."""
    width = even_width(value, "rotary_dim")
    if width > d:
        raise ValueError(f"rotary_dim must be at most {d}, the width of a row, found {width}")
    return width


def positive_base(value: Any) -> float:
    """Return `value` as a float, if it is a finite number above 0."""
    if isinstance(value, bool | str | bytes):
        raise TypeError(f"base must be a number, found {value!r} of type {type(value).__name__}")
    try:
        base = float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"base must be a number, found {value!r} of type {type(value).__name__}"
        ) from None
    except OverflowError:
        base = math.inf
    if not (math.isfinite(base) and base > 0):
        raise ValueError(f"base must be finite and above 0, found {value!r}")
    return base


def real_rows(value: ArrayLike, name: str, width: int | None = None) -> NDArray[np.float64]:
    """Return `value` as a float64 array (n, width), without a copy where it is one already."""
    try:
        rows = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be a 2-D array, found rows of different lengths") from None
    if rows.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers, found an array of dtype {rows.dtype}")
    if rows.ndim != 2:
        raise ValueError(f"{name} must be 2-D, one row a token, found shape {rows.shape}")
    if width is not None and rows.shape[1] != width:
        raise ValueError(f"{name} must have {width} columns, found shape {rows.shape}")
    return rows.astype(np.float64, copy=False)


def integer_positions(value: ArrayLike, count: int) -> NDArray[np.int64]:
    """Return `value` as an int64 array (count,), if it is a sequence of that many integers."""
    try:
        positions = np.asarray(value)
    except ValueError:
        raise ValueError("positions must be one sequence of integers, found nested ones") from None
    if positions.size == 0:
        positions = positions.astype(np.int64)
    if positions.dtype.kind not in "iu":
        raise TypeError(f"positions must be integers, found an array of dtype {positions.dtype}")
    if positions.shape != (count,):
        raise ValueError(
            f"positions must have one entry for each of the {count} rows of x, "
            f"found shape {positions.shape}"
        )
    return positions.astype(np.int64)
