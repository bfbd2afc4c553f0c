"""Which tokens an output is made of, measured on an implementation that runs anywhere.

Attention is linear in the values while the scores stand still. So a decode whose queries and keys
are those of a case, whose value of token u is 1 in one column and 0 in the others, and whose last
projection is the identity, gives in that column the weights of token u. D tokens are read off in
one decode.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import oracle
from ..decoder import Decoder
from . import calls
from .cases import DecodeCase, array
from .implementation import Implementation
from .trace import TracedDecoder

Array = NDArray[np.float64]
# Rows decoded for one pattern: 36 tokens of width 2 take 648, and a twentieth of a second.
MOST_ROWS = 700
# An output must follow from the weights this closely, or they do not explain it.
EXPLAINED = 1e-6


class Attention(NamedTuple):
    """The weight (T, T) of each token, a column, in each output, a row: as it should be and is."""

    case: DecodeCase
    expected: Array
    yours: Array


class _OneHot(Decoder):
    """A decoder of some width, base and seed, whose values say which token they are of.

    The value of token `first + i` of `x` is row i of the identity matrix, that of any other 0.
    `is_lost` where it is not certain of which token a row is.
    """

    def __init__(self, case: DecodeCase, first: int) -> None:
        super().__init__(len(case.x[0]), case.base, case.seed)
        self.Wo = np.eye(self.width)
        self.is_lost = False
        self._x = array(case.x)
        self._first = first
        self._next = 0

    def project_v(self, rows: Any) -> Array:
        """Return the values of `rows` (n, D)."""
        values = np.zeros((len(rows), self.width))
        start = self._token(np.asarray(rows))
        for i in range(len(rows)):
            if 0 <= start + i - self._first < self.width:
                values[i, start + i - self._first] = 1.0
        return values

    def _token(self, rows: Any) -> int:
        """Return which token the first of some rows is; of equal ones that whose turn it is."""
        n = len(rows)
        places = [
            s for s in range(len(self._x) - n + 1) if np.array_equal(self._x[s : s + n], rows)
        ]
        due = [s for s in places if s >= self._next]
        if not places or (len(places) > 1 and not due):
            self.is_lost = True
            return 0
        # Several rows at once are mostly all that have come.
        start = places[0] if len(places) == 1 or n > 1 else due[0]
        self._next = start + n
        return start


class _Asked(TracedDecoder):
    """A decoder for which equal rows may be of different tokens: the order of the calls counts."""

    ahead = ("project_q", "project_k")


def attention(
    impl: Implementation,
    case: DecodeCase,
    yours: Array,
    in_time: Callable[[], bool] = lambda: True,
) -> Attention | None:
    """Return what the outputs of a case are made of, or None where it cannot be measured.

    `yours` is what the implementation answered to the case. It has to follow from the weights:
    so they are what it attends to, and not what it would attend to in other circumstances.
    """
    x, decoder = array(case.x), case.decoder()
    passes = math.ceil(len(x) / decoder.width)
    if passes * len(x) > MOST_ROWS:
        return None
    seen = np.zeros((len(x), passes * decoder.width))
    for first in range(0, len(x), decoder.width):
        one_hot = _OneHot(case, first)
        seen[:, first : first + decoder.width] = calls.decode_with(
            impl.fresh(), _Asked(one_hot), x.copy()
        )
        if one_hot.is_lost or not in_time():
            return None
    seen = seen[:, : len(x)]
    values = x @ decoder.Wv
    error = np.abs(seen @ values @ decoder.Wo - yours)
    size = np.abs(seen) @ np.abs(values) @ np.abs(decoder.Wo)
    if not np.all(np.isfinite(seen)) or not np.all(error <= EXPLAINED * size):
        return None
    positions = range(len(x))
    q, k = (
        oracle.rotate(x @ weights, positions, case.base) for weights in (decoder.Wq, decoder.Wk)
    )
    return Attention(case, oracle.attention_weights(q, k), seen)
