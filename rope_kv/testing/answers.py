"""What an implementation answers to one plain call, and whether that is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import oracle
from . import bounds, calls, forms
from .cases import (
    ArgumentCase,
    Case,
    DecodeCase,
    DecodeFormCase,
    FrequencyCase,
    RotationCase,
    array,
)
from .comparison import ENDING, Broken, ratio
from .implementation import Implementation
from .trace import TracedDecoder

Array = NDArray[np.float64]


class Answered(NamedTuple):
    """One call: what it was, the numbers returned (None for none), what is right, how nearly."""

    case: Case
    numbers: Array | None
    right: Array
    within: Array

    @property
    def worst(self) -> float:
        """The largest error, in rounding bounds; not a number where no numbers were returned."""
        if self.numbers is None:
            return math.nan
        return float(ratio(self.numbers, self.right, self.within).max(initial=0.0))

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Which numbers are wrong; all, where none were returned."""
        if self.numbers is None:
            return np.ones(self.right.shape, dtype=bool)
        return np.asarray(ratio(self.numbers, self.right, self.within) > 1)

    @property
    def is_right(self) -> bool:
        """Whether all numbers are right."""
        return not self.wrong.any()


def answered(impl: Implementation, case: Case) -> Answered:
    """Return what an implementation that has no memory answers to one call.

    A crash, a hang and the like are raised as the Broken they are: there is no more to be asked.
    """
    call, right, within = _MADE[type(case)]
    numbers = None
    try:
        with np.errstate(all="ignore"):
            numbers = call(impl.fresh(), case)
    except Broken as broken:
        if broken.kind in ENDING:
            raise
    return Answered(case, numbers, right(case), within(case))


def _turned(impl: Implementation, case: ArgumentCase) -> Array:
    if case.form in forms.ROWS:
        return calls.turn(impl, forms.ROWS[case.form](array(case.x)), list(case.positions))
    return calls.turn(impl, array(case.x), forms.POSITIONS[case.form](list(case.positions)))


def _decoded(impl: Implementation, case: DecodeFormCase) -> Array:
    (plain,) = case.decodes()
    x = forms.ROWS[case.form](array(case.x))
    return calls.decode_with(impl, TracedDecoder(plain.decoder()), x)


def _rotation(case: RotationCase | ArgumentCase) -> Array:
    return oracle.rotate(*case[:3])


def _rotation_bound(case: RotationCase | ArgumentCase) -> Array:
    return bounds.rotation(*case[:3])


def _decoding(case: DecodeCase | DecodeFormCase) -> Array:
    return oracle.forward(case.x, DecodeCase(*case[:3]).decoder())


def _decoding_bound(case: DecodeCase | DecodeFormCase) -> Array:
    return bounds.decoding(case.x, DecodeCase(*case[:3]).decoder())


Made = tuple[
    Callable[[Implementation, Any], Array], Callable[[Any], Array], Callable[[Any], Array]
]
_MADE: dict[type, Made] = {
    FrequencyCase: (
        calls.frequencies,
        lambda case: oracle.frequencies(*case),
        lambda case: bounds.frequencies(*case),
    ),
    RotationCase: (calls.rotate, _rotation, _rotation_bound),
    ArgumentCase: (_turned, _rotation, _rotation_bound),
    DecodeCase: (calls.decode, _decoding, _decoding_bound),
    DecodeFormCase: (_decoded, _decoding, _decoding_bound),
}
