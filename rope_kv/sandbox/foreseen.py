"""Projections that are sent along with a call, before the code asks for them."""

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
    last bits might differ. `contents` are the answers, first those by row; there are none where
    the rows are not of the usual kind.
    """

    def __init__(self, decoder: Any, rows: Any, *, at_once: bool) -> None:
        self.contents: list[Any] = []
        if not isinstance(decoder, TracedDecoder) or type(rows) is not np.ndarray:
            return
        if rows.ndim != 2 or rows.shape[1] != decoder.width or not 0 < len(rows) <= LONGEST:
            return
        if rows.dtype != dtype_of(decoder.precision):
            return
        self._decoder, self._rows = decoder, rows.copy()
        for name in decoder.ahead:
            answers = [decoder.answer(name, rows[t : t + 1]) for t in range(len(rows))]
            self.contents.append(np.concatenate(answers))
        if at_once and len(rows) > 1:
            self.contents += [decoder.answer(name, rows) for name in decoder.ahead]

    def take_note(self, what: int, place: int) -> None:
        """Record that the code took a projection of one row, or of all where it is the last place.

        ValueError where it cannot have taken any.
        """
        if not self.contents or what > 2 or place > len(self._rows):
            raise ValueError
        is_whole = place == len(self._rows)
        rows = self._rows if is_whole else self._rows[place : place + 1]
        self._decoder.record(wire.PROJECTIONS[what], rows)
