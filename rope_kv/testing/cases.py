"""Cases: the plain data that a property draws and an implementation is called with.

A case holds numbers and tuples only. Arrays are built from it afresh for every call, so an
implementation that writes into its input cannot change the record, and every case has one
JSON form (case_json.py). Each type says how to print itself as the call a person would type.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..decoder import Decoder
from .forms import PLAIN, dtype_of

Row: TypeAlias = tuple[float, ...]
Matrix: TypeAlias = tuple[Row, ...]
Case: TypeAlias = Any  # any NamedTuple of this module
Array: TypeAlias = NDArray[np.float64]
MOST_SHOWN = 8


def array(rows: Matrix, precision: str = "float64") -> Array:
    """Return a new array (T, d) with the rows of a case, in float64 or another precision."""
    return np.array(rows, dtype=dtype_of(precision))


class FrequencyCase(NamedTuple):
    """One call of rope_freqs."""

    d: int
    base: float

    def __str__(self) -> str:
        return f"rope_freqs({self.d}{_base(self.base)})"


class RotationCase(NamedTuple):
    """One call of apply_rope."""

    x: Matrix
    positions: tuple[int, ...]
    base: float

    def __str__(self) -> str:
        places = _places(self.positions)
        return f"apply_rope({rows_text(self.x)}, positions={places}{_base(self.base)})"


class ArgumentCase(NamedTuple):
    """One call of apply_rope, with an argument in another form than plain lists of floats."""

    x: Matrix
    positions: tuple[int, ...]
    base: float
    form: str

    def __str__(self) -> str:
        return f"{RotationCase(*self[:3])}   with {self.form}"

    def rotations(self) -> tuple[RotationCase, ...]:
        """Return the rotations that this case asks for, as plain calls."""
        return (RotationCase(*self[:3]),)


class TurnsCase(NamedTuple):
    """Rows turned twice: by their first positions, then by their second."""

    x: Matrix
    first: tuple[int, ...]
    second: tuple[int, ...]
    base: float

    def __str__(self) -> str:
        turns = f"a={_places(self.first)}, b={_places(self.second)}"
        return f"x={rows_text(self.x)}, {turns}{_base(self.base)}"

    def rotations(self) -> tuple[RotationCase, ...]:
        """Return the rotations that this case asks for, as plain calls."""
        both = tuple(a + b for a, b in zip(self.first, self.second, strict=True))
        return tuple(RotationCase(self.x, p, self.base) for p in (self.first, self.second, both))


class LinearCase(NamedTuple):
    """Two matrices of rows at the same positions, and two factors."""

    x: Matrix
    y: Matrix
    a: float
    b: float
    positions: tuple[int, ...]
    base: float

    def __str__(self) -> str:
        return (
            f"{number(self.a)}·x + {number(self.b)}·y with x={rows_text(self.x)}, "
            f"y={rows_text(self.y)}, positions={_places(self.positions)}{_base(self.base)}"
        )


class ScoreCase(NamedTuple):
    """A query at position m, a key at position n, and a shift of both."""

    q: Row
    k: Row
    m: int
    n: int
    shift: int
    base: float

    def __str__(self) -> str:
        return (
            f"q={_row(self.q)} at {self.m}, k={_row(self.k)} at {self.n}, "
            f"shifted by {self.shift}{_base(self.base)}"
        )

    def rotations(self) -> tuple[RotationCase, ...]:
        """Return the rotations that this case asks for, as plain calls."""
        return tuple(
            RotationCase((row,), (position,), self.base)
            for shift in (0, self.shift)
            for row, position in ((self.q, self.m + shift), (self.k, self.n + shift))
        )


class BasesCase(NamedTuple):
    """One set of rows and positions under two bases."""

    x: Matrix
    positions: tuple[int, ...]
    base: float
    other_base: float

    def __str__(self) -> str:
        return f"{RotationCase(*self[:3])} and the same with base={number(self.other_base)}"

    def rotations(self) -> tuple[RotationCase, ...]:
        """Return the rotations that this case asks for, as plain calls."""
        return tuple(
            RotationCase(self.x, self.positions, base) for base in (self.base, self.other_base)
        )


class RotationCallsCase(NamedTuple):
    """A call of apply_rope, and others that are made after it.

    `form` is the form of the first one's rows, one of forms.ROWS; or forms.SAME_BYTES: the first
    positions are an int64 array, the others int32 arrays of the same bytes; or forms.SAME_ARRAYS:
    all calls get the same array objects, refilled between them.
    """

    first: RotationCase
    others: tuple[RotationCase, ...]
    form: str

    def __str__(self) -> str:
        form = "" if self.form == PLAIN else f"   with {self.form}"
        return ", then ".join(map(str, (self.first, *self.others))) + form


class FrequencyCallsCase(NamedTuple):
    """Calls of rope_freqs, one after the other."""

    first: FrequencyCase
    second: FrequencyCase

    def __str__(self) -> str:
        return f"{self.first}, then {self.second}"


class DecodeCase(NamedTuple):
    """One call of decode_incremental: the rows, and the decoder they are decoded with."""

    x: Matrix
    base: float
    seed: int

    def __str__(self) -> str:
        return f"decode_incremental({self.decoder()!r}, {rows_text(self.x)})"

    def decoder(self) -> Decoder:
        """Return a new decoder of the case's width, base and weights."""
        return Decoder(len(self.x[0]), self.base, self.seed)


class EditCase(NamedTuple):
    """One sequence, and the same with row `at` replaced."""

    x: Matrix
    at: int
    row: Row
    base: float
    seed: int

    def __str__(self) -> str:
        return f"{self.decodes()[0]}, then row {self.at} replaced by {_row(self.row)}"

    def decodes(self) -> tuple[DecodeCase, ...]:
        """Return the decodes that this case asks for, as plain calls."""
        edited = (*self.x[: self.at], self.row, *self.x[self.at + 1 :])
        return tuple(DecodeCase(x, self.base, self.seed) for x in (self.x, edited))


class PrefixCase(NamedTuple):
    """One sequence, and its first `length` rows alone."""

    x: Matrix
    length: int
    base: float
    seed: int

    def __str__(self) -> str:
        return f"{self.decodes()[0]}, and its beginning alone, length {self.length}"

    def decodes(self) -> tuple[DecodeCase, ...]:
        """Return the decodes that this case asks for, as plain calls."""
        return tuple(DecodeCase(x, self.base, self.seed) for x in (self.x, self.x[: self.length]))


class DecodeBasesCase(NamedTuple):
    """One sequence under two decoders that differ in their base."""

    x: Matrix
    base: float
    other_base: float
    seed: int

    def __str__(self) -> str:
        return f"{self.decodes()[0]} and the same with base={number(self.other_base)}"

    def decodes(self) -> tuple[DecodeCase, ...]:
        """Return the decodes that this case asks for, as plain calls."""
        return tuple(DecodeCase(self.x, base, self.seed) for base in (self.base, self.other_base))


class DecodeFormCase(NamedTuple):
    """One call of decode_incremental, with x_embedded in another form than a plain float array."""

    x: Matrix
    base: float
    seed: int
    form: str

    def __str__(self) -> str:
        return f"{self.decodes()[0]}   with {self.form}"

    def decodes(self) -> tuple[DecodeCase, ...]:
        """Return the decodes that this case asks for, as plain calls."""
        return (DecodeCase(*self[:3]),)


class DecodeCallsCase(NamedTuple):
    """A call of decode_incremental, and others that are made after it, perhaps sharing an object.

    `shared` is "nothing", "decoder" (all calls get the same decoder object) or "x_embedded"
    (all calls get the same array object, refilled in place between them).
    """

    first: DecodeCase
    others: tuple[DecodeCase, ...]
    shared: str

    def __str__(self) -> str:
        same = {
            "nothing": "",
            "decoder": " with the same decoder",
            "x_embedded": " in the same array, refilled,",
        }
        return f", then{same[self.shared]} ".join(map(str, (self.first, *self.others)))


def size(case: Case) -> tuple[int, int, float]:
    """Return how large a case is to a reader: how many numbers, how long to write, how big."""
    numbers = list(_numbers(case))
    return (
        len(numbers),
        sum(len(number(value)) for value in numbers),
        sum(abs(value) for value in numbers),
    )


def _numbers(value: Any) -> Any:
    if isinstance(value, tuple):
        for part in value:
            yield from _numbers(part)
    elif not isinstance(value, str):
        yield value


def _base(base: float) -> str:
    return "" if base == 10000 else f", base={number(base)}"


def number(value: float) -> str:
    """Return a number exactly, as short as it can be typed."""
    whole = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else repr(value)


def _row(row: Row) -> str:
    return "[" + ", ".join(number(value) for value in row) + "]"


def rows_text(rows: Matrix) -> str:
    """Return the rows as Python text; of more than eight, the first and the last two."""
    count = f" ({len(rows)} rows)" if len(rows) > MOST_SHOWN else ""
    return _few([_row(row) for row in rows]) + count


def _few(parts: list[str]) -> str:
    if len(parts) > MOST_SHOWN:
        parts = [*parts[:2], "...", *parts[-2:]]
    return "[" + ", ".join(parts) + "]"


def _places(positions: tuple[int, ...]) -> str:
    return _few([str(position) for position in positions])
