"""The decoder that an implementation is given: it answers as it should and records every call."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..decoder import Decoder
from .comparison import Broken, counted, described
from .forms import dtype_of

Array = NDArray[np.float64]
WEIGHTS = ("Wq", "Wk", "Wv", "Wo")
SETTINGS = (
    "base", "width", "heads", "kv_heads", "head_dim", "rotary_dim", "scaling", "window", "sinks"
)  # fmt: skip


class Call(NamedTuple):
    """One call of a projection: its name, and a copy of the rows it was given."""

    name: str
    rows: Any


class TracedDecoder:
    """A decoder that records its calls.

    It accepts whatever can be multiplied with the weights: rows of another shape are the business
    of the properties of the calls, and must not hide what the numbers would be.
    """

    # The projections that give equal rows equal answers, whenever they are asked: where the code
    # runs elsewhere, these are answered before, or there.
    ahead: tuple[str, ...] = ("project_q", "project_k", "project_v", "project_out")

    def __init__(self, decoder: Decoder, precision: str = "float64") -> None:
        self.width = decoder.width
        self.base = decoder.base
        self.heads = decoder.heads
        self.kv_heads = decoder.kv_heads
        self.head_dim = decoder.head_dim
        self.rotary_dim = decoder.rotary_dim
        self.scaling = copy.deepcopy(decoder.scaling)
        self.window = decoder.window
        self.sinks = decoder.sinks
        self.precision = precision
        for name in WEIGHTS:
            setattr(self, name, getattr(decoder, name).copy())
        self._decoder = decoder
        self.calls: list[Call] = []
        self._noted: str | None = None
        self._attributes = {*vars(self), "_attributes"}

    def project_q(self, rows: Any) -> Array:
        """Return the queries of `rows` (1, D)."""
        return self._project("project_q", rows)

    def project_k(self, rows: Any) -> Array:
        """Return the keys of `rows` (1, D)."""
        return self._project("project_k", rows)

    def project_v(self, rows: Any) -> Array:
        """Return the values of `rows` (1, D)."""
        return self._project("project_v", rows)

    def project_out(self, rows: Any) -> Array:
        """Return the outputs of the attended `rows`."""
        return self._project("project_out", rows)

    def forward_full(self, x_embedded: Any) -> Array:
        """Return the whole causal pass; a decode loop that calls it is in breach."""
        self.calls.append(Call("forward_full", np.array(x_embedded)))
        return self._decoder.forward_full(x_embedded)

    def _project(self, name: str, rows: Any) -> Array:
        self.record(name, rows)
        return self.answer(name, rows)

    def rows_given(self, name: str) -> list[Any]:
        """Return the rows of each call of one projection, in order."""
        return [call.rows for call in self.calls if call.name == name]

    def note_change(self, name: str) -> None:
        """Take note of an attribute that was changed where this process does not see it."""
        self._noted = name

    def changed(self) -> str | None:
        """Return the name of an attribute that is new or no longer what it was, or None."""
        if self._noted is not None:
            return self._noted
        if new := vars(self).keys() - self._attributes:
            return min(new)
        for name in SETTINGS:
            if getattr(self, name, None) != getattr(self._decoder, name):
                return name
        for name in WEIGHTS:
            if not np.array_equal(getattr(self, name, np.empty(0)), getattr(self._decoder, name)):
                return name
        return None

    def record(self, name: str, rows: Any) -> None:
        """Take note of a call of one projection."""
        self.calls.append(Call(name, np.array(rows)))

    @property
    def out_weights(self) -> Array:
        """The weights (H·d, D) that `project_out` multiplies with."""
        return self._decoder.Wo

    def answer_each(self, name: str, rows: Any) -> Array:
        """Return what a projection to q, k or v answers to each row alone, to the last bit."""
        # All at once, rows that lie in memory in another way would be added up in another order.
        if type(self._decoder) is not Decoder or not rows.flags.c_contiguous:
            return np.concatenate([self.answer(name, rows[t : t + 1]) for t in range(len(rows))])
        weights = getattr(self._decoder, f"W{name[-1]}")
        given = rows[:, np.newaxis].astype(np.float64, copy=False)
        answers: Array = (given @ weights)[:, 0]
        return answers.astype(dtype_of(self.precision), copy=False)

    def answer(self, name: str, rows: Any) -> Array:
        """Return what a projection answers, without taking note of it."""
        given = np.asarray(rows)
        if given.dtype == dtype_of(self.precision):
            given = given.astype(np.float64)
        project = getattr(self._decoder, name)
        width = self.heads * self.head_dim if name == "project_out" else self.width
        if given.shape[-1:] == (width,):
            projected: Array = project(given.reshape(-1, width))
            rounded = projected.astype(dtype_of(self.precision), copy=False)
            return rounded.reshape(*given.shape[:-1], projected.shape[-1])
        refused: Array = project(given)  # Raises: these rows are not of the decoder's width.
        return refused


def expect_each_row_once(decoder: TracedDecoder, name: str, x: Array) -> None:
    """Raise Broken unless a projection was given the rows of x, (1, D) each, in order."""
    calls = decoder.rows_given(name)
    for step, rows in enumerate(calls[: len(x)]):
        if rows.shape != (1, x.shape[1]):
            raise Broken(
                f"call {step + 1} of {name} was given {described(rows)}; "
                f"one row at a time has shape (1, {x.shape[1]})",
                "calls",
            )
        if rows[0].astype(np.float64).tobytes() != x[step].tobytes():
            given = next((t for t in range(len(x)) if np.array_equal(rows[0], x[t])), None)
            what = "no row of x" if given is None else f"row {given}"
            raise Broken(
                f"call {step + 1} of {name} was given {what}, expected row {step}", "calls"
            )
    if len(calls) != len(x):
        raise Broken(
            f"{counted(len(calls), 'call')} of {name} for {counted(len(x), 'row')}", "calls"
        )
