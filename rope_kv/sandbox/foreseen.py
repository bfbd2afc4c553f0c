"""Projections that are sent along with a call, before the code asks for them.

Of `project_out` nothing is known before: its weights are sent, and the worker multiplies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..testing.forms import dtype_of
from ..testing.trace import TracedDecoder
from . import wire

LONGEST = (1 << 16) - 2  # rows whose places a worker can tell


class Foreseen:
    """What a call is likely to ask of a decoder: q, k and v of the rows that it is given.

    Row by row, as a loop asks for them, and where the rows may be taken `at_once`, so as well: the
    last bits might differ. `contents` are the answers, first those by row, and last the weights of
    `project_out` where it `has_out`; there are none where the rows are not of the usual kind.
    `count` is how many of them are by row.
    """

    def __init__(self, decoder: Any, rows: Any, *, at_once: bool) -> None:
        self.contents: list[Any] = []
        self.count = 0
        self.has_out = False
        if not isinstance(decoder, TracedDecoder) or type(rows) is not np.ndarray:
            return
        if rows.ndim != 2 or rows.shape[1] != decoder.width or not 0 < len(rows) <= LONGEST:
            return
        if rows.dtype != dtype_of(decoder.precision):
            return
        self._decoder, self._rows = decoder, rows.copy()
        names = [name for name in decoder.ahead if name != wire.PROJECTIONS[wire.OUT]]
        self.contents += [decoder.answer_each(name, rows) for name in names]
        self.count = len(names)
        if at_once and len(rows) > 1:
            self.contents += [decoder.answer(name, rows) for name in names]
        if len(names) < len(decoder.ahead) and decoder.precision == "float64":
            self.has_out = True
            self.contents.append(decoder.out_weights)

    def take_notes(self, took: bytes, outs: Any) -> int:
        """Record the projections that the code took, in order; return how many they are.

        `outs` are the rows of those that were multiplied there, one below the other. ValueError
        where it cannot have taken them.
        """
        count, at = 0, 0
        for what, place in wire.TAKEN.iter_unpack(took):
            count += 1
            if what == wire.OUT:
                self._record_out(outs, at, at + place)
                at += place
            else:
                self._record(what, place)
        if at != (0 if outs is None else len(outs)):
            raise ValueError
        return count

    def _record_out(self, outs: Any, start: int, end: int) -> None:
        if not self.has_out or start == end or end > len(outs):
            raise ValueError
        if outs.dtype != np.float64 or outs.shape[1:] != self.contents[-1].shape[:1]:
            raise ValueError
        self._decoder.record(wire.PROJECTIONS[wire.OUT], outs[start:end])

    def _record(self, what: int, place: int) -> None:
        """Record a projection of one row, or of all where it is the last place."""
        if not self.contents or what > 2 or place > len(self._rows):
            raise ValueError
        is_whole = place == len(self._rows)
        rows = self._rows if is_whole else self._rows[place : place + 1]
        self._decoder.record(wire.PROJECTIONS[what], rows)
