"""What the worker has of the grader's objects, and what it tells of them.

An array that the grader gave, or got as a result, is kept here with what both last knew of it. The
decoder is one whose projections are done over there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..testing.comparison import described
from . import wire

# Of what was taken ahead, and bytes of rows that were multiplied here: it must fit into a message.
MOST_UNTOLD, MOST_UNTOLD_BYTES = 8_000, 1 << 14


class Kept(NamedTuple):
    """An array that the grader knows too, and what both last knew of it."""

    array: Any
    content: bytes
    writeable: bool
    shape: tuple[int, ...]
    dtype: Any


class Decoder:
    """The decoder that the code is given: its projections are done by the grader.

    It has the settings of the grader's own. `Wq, Wk, Wv, Wo` have their shapes, and are NaN:
    weights may not be read here.
    """

    width: int
    heads: int
    kv_heads: int
    head_dim: int

    def __init__(
        self, settings: dict[str, Any], ask: Callable[[int, int, Any], Any], number: int
    ) -> None:
        for name, value in settings.items():
            setattr(self, name, value)
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        self.Wq = np.full((self.width, queries), np.nan)
        self.Wk = np.full((self.width, keys), np.nan)
        self.Wv = np.full((self.width, keys), np.nan)
        self.Wo = np.full((queries, self.width), np.nan)
        self._ask = ask
        self._number = number

    def project_q(self, rows: Any) -> Any:
        """Return the queries of `rows` (1, D)."""
        return self._ask(0, self._number, rows)

    def project_k(self, rows: Any) -> Any:
        """Return the keys of `rows` (1, D)."""
        return self._ask(1, self._number, rows)

    def project_v(self, rows: Any) -> Any:
        """Return the values of `rows` (1, D)."""
        return self._ask(2, self._number, rows)

    def project_out(self, rows: Any) -> Any:
        """Return the outputs of the attended `rows`."""
        return self._ask(3, self._number, rows)

    def forward_full(self, x_embedded: Any) -> Any:
        """Return the whole causal pass; a decode loop that calls it is in breach."""
        return self._ask(4, self._number, x_embedded)


class Ahead:
    """Projections of the rows of one call, which came along with it.

    A loop asks for q, k and v of each row, and what takes several rows at once asks for those of
    them all: so it need not wait for each. What it took from here is told with the next message,
    and recorded by the grader as if it had been asked.

    `answers` are those for each row of `x`, one below the other, and `whole` those for all. `out`
    are the weights of `project_out`, whose rows nobody knows before: it is multiplied here.
    """

    def __init__(
        self,
        number: int = 0,
        x: Any = None,
        answers: Sequence[Any] = (),
        whole: Sequence[Any] = (),
        out: Any = None,
    ) -> None:
        self._number = number
        self._x: Any = x.copy() if answers else None
        self._places = {x[t].tobytes(): t for t in range(len(x))} if answers else {}
        self._answers = answers
        self._whole = whole
        self._out = out
        self._told: list[bytes] = []
        self._outs: list[Any] = []
        self._bytes = 0

    def take(self, what: int, number: int, rows: Any) -> Any:
        """Return the answer to a question, if it is there, or None."""
        x = self._x
        if number != self._number or len(self._told) >= MOST_UNTOLD:
            return None
        if what == wire.OUT and self._out is not None:
            return self._multiplied(rows)
        if what >= len(self._answers) or rows.dtype != x.dtype:
            return None
        if rows.shape == (1, x.shape[1]):
            place = self._places.get(rows.tobytes())
            answer = None if place is None else self._answers[what][place : place + 1]
        elif self._whole and rows.shape == x.shape and rows.tobytes() == x.tobytes():
            place, answer = len(x), self._whole[what]
        else:
            return None
        if place is None or answer is None:
            return None
        self._told.append(wire.TAKEN.pack(what, place))
        return answer.copy()

    def _multiplied(self, rows: Any) -> Any:
        """Return rows times the weights of `project_out`, or None where they are to be asked."""
        weights = self._out
        if rows.ndim != 2 or rows.shape[1] != len(weights) or rows.dtype != weights.dtype:
            return None
        if not len(rows) or self._bytes + rows.nbytes > MOST_UNTOLD_BYTES:
            return None
        self._bytes += rows.nbytes
        self._outs.append(rows)
        self._told.append(wire.TAKEN.pack(wire.OUT, len(rows)))
        with np.errstate(all="ignore"):  # Of the code's own settings the grader knows nothing.
            return np.ascontiguousarray(rows) @ weights

    def told(self) -> tuple[bytes, Any]:
        """Return what was taken since this was asked last; of rows multiplied here, or None."""
        told = b"".join(self._told)
        outs = np.concatenate(self._outs) if self._outs else None
        self._told.clear()
        self._outs.clear()
        self._bytes = 0
        return told, outs


def numeric(rows: Any) -> Any:
    """Return what a projection was given as an array that can be handed over."""
    given = np.array(rows)
    if not wire.can_carry(given.dtype):
        raise TypeError(f"rows must be real numbers, found {described(rows)}")
    if given.ndim > wire.MOST_DIMENSIONS:
        raise ValueError(f"rows must have 2 axes, found {given.ndim}")
    return given


def plain(value: Any, arrays: list[Any]) -> Any:
    """Return an argument that the code gave as JSON, an array in it being put into `arrays`."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, list | tuple | range) and np.ndim(value) == 1:
        return [plain(entry, arrays) for entry in value]
    if isinstance(value, Mapping):
        return {"mapping": {name: plain(entry, arrays) for name, entry in value.items()}}
    arrays.append(numeric(value))
    return {"array": len(arrays) - 1}


def copied(array: Any) -> Any:
    """Return an array's content in C order."""
    return np.array(array, order="C")


def equal(one: list[Any], other: list[Any]) -> bool:
    """Return whether two lists hold the same, entries of the same types."""
    return len(one) == len(other) and all(
        type(a) is type(b) and a == b for a, b in zip(one, other, strict=True)
    )


def attributes(decoder: Decoder) -> dict[str, Any]:
    """Return what a new decoder's attributes are, arrays by their content."""
    found = {name: _content(value) for name, value in vars(decoder).items()}
    found["scaling"] = copy.deepcopy(found["scaling"])  # It can be changed in its place.
    return found


def _content(value: Any) -> Any:
    return value.tobytes() if isinstance(value, np.ndarray) else value


def changed(decoder: Decoder, before: dict[str, Any]) -> str | None:
    """Return the name of an attribute that is new or no longer what it was, or None."""
    now = {name: _content(value) for name, value in vars(decoder).items()}
    if new := now.keys() - before.keys():
        return min(new)
    for name, value in before.items():
        if name not in now or type(now[name]) is not type(value):
            return name
        try:
            if now[name] != value:
                return name
        except Exception:  # Of what was put into a scaling, and is not to be compared.
            return name
    return None


def part_of(result: Any, given: list[Any], arguments: list[Any]) -> list[Any]:
    """Return of which argument a result is a view, where in it, and how; [] for none."""
    for value, argument in _flat(given, arguments):
        if type(value) is np.ndarray and np.may_share_memory(value, result):
            (start, end), (low, high) = wire.extent(value), wire.extent(result)
            if start <= low and high <= end:
                origin = value.__array_interface__["data"][0]
                offset = result.__array_interface__["data"][0] - origin
                return [argument["number"], offset, list(result.strides)]
    return []


def _flat(given: list[Any], arguments: list[Any]) -> list[tuple[Any, Any]]:
    """Return each argument and what was told of it, those in a list of arrays by themselves."""
    pairs = list(zip(given, arguments, strict=True))
    for value, argument in list(pairs):
        if type(argument) is dict and "list" in argument:
            pairs += zip(value, argument["list"], strict=False)  # The code may have cut the list.
    return pairs


def type_of(result: Any) -> str:
    """Return the name of a result's type, and for an array that of its entries as well."""
    name = type(result).__name__
    return f"ndarray of {result.dtype}" if type(result) is np.ndarray else name[:80]


def numbers_in(result: Any) -> Any:
    """Return the numbers of a result that is no plain array, or None."""
    try:
        numbers = np.array(result)
        if numbers.dtype.kind == "O" and result is not None:
            numbers = numbers.astype(np.float64)
    except Exception:
        return None
    return numbers if wire.can_carry(numbers.dtype) else None
