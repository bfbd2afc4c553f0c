"""The same numbers in other forms: other dtypes and memory layouts of one argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def dtype_of(precision: str) -> Any:
    """Return the numpy dtype of a precision; ImportError where bfloat16 is not to be had."""
    if precision == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(precision)


def _read_only(x: NDArray[Any]) -> Any:
    x.flags.writeable = False
    return x


def _every_second_row(x: Array) -> Any:
    larger = np.full((2 * len(x), x.shape[1]), np.nan)
    larger[::2] = x
    return larger[::2]


def _every_second_column(x: Array) -> Any:
    larger = np.full((len(x), 2 * x.shape[1]), np.nan)
    larger[:, ::2] = x
    return larger[:, ::2]


def _reversed(x: Array) -> Any:
    return x[::-1, ::-1].copy()[::-1, ::-1]


PLAIN = "a float64 array"
INTEGER = "an int64 array"
UNSIGNED = "a uint8 array"
# Two calls whose positions are the same bytes: as int64, then as twice as many int32.
SAME_BYTES = "positions of the same bytes"
# Two calls with the same array objects, refilled between them.
SAME_ARRAYS = "the same arrays, refilled"
ROWS: dict[str, Callable[[Array], Any]] = {
    PLAIN: lambda x: x,
    INTEGER: lambda x: x.astype(np.int64),
    UNSIGNED: lambda x: x.astype(np.uint8),
    "a read-only array": _read_only,
    "a Fortran-ordered array": np.asfortranarray,
    "every second row of a larger array": _every_second_row,
    "every second column of a larger array": _every_second_column,
    "an array stored in reverse": _reversed,
}
LIST = "a list"
INT64 = "an int64 array"
POSITIONS: dict[str, Callable[[list[int]], Any]] = {
    INT64: lambda p: np.array(p, dtype=np.int64),
    "an int32 array": lambda p: np.array(p, dtype=np.int32),
    LIST: lambda p: p,
    "a read-only array": lambda p: _read_only(np.array(p, dtype=np.int64)),
}
