"""One call of an implementation, made from a case; each builds its arguments afresh."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import DecodeCase, FrequencyCase, RotationCase, array
from .comparison import matrix
from .forms import dtype_of
from .implementation import Implementation
from .trace import TracedDecoder

Array = NDArray[np.float64]


def frequencies(impl: Implementation, case: FrequencyCase) -> Array:
    """Return rope_freqs(d, base) as a float64 array (d/2,)."""
    return matrix(impl.rope_freqs(case.d, case.base), (case.d // 2,), "rope_freqs")


def rotate(impl: Implementation, case: RotationCase) -> Array:
    """Return apply_rope(x, positions, base) as a float64 array (T, d)."""
    return turn(impl, array(case.x), list(case.positions), case.base)


def turn(impl: Implementation, x: Any, positions: Any, *base: float) -> Array:
    """Return apply_rope of arguments in any form as a float64 array (T, d).

    A list of positions is handed over as a copy; an array is the caller's own.
    """
    shape = np.shape(x)
    positions = list(positions) if isinstance(positions, list) else positions
    return matrix(impl.apply_rope(given(impl, x), positions, *base), shape, "apply_rope")


def decode(impl: Implementation, case: DecodeCase) -> Array:
    """Return decode_incremental(decoder, x) as a float64 array (T, D)."""
    return decode_with(impl, traced(impl, case), array(case.x))


def decode_with(impl: Implementation, decoder: TracedDecoder, x: Any) -> Array:
    """Return decode_incremental of these very objects as a float64 array (T, D)."""
    shape = np.shape(x)
    return matrix(impl.decode_incremental(decoder, given(impl, x)), shape, "decode_incremental")


def traced(impl: Implementation, case: DecodeCase) -> TracedDecoder:
    """Return a new decoder of a case that records its calls, in the precision declared."""
    return TracedDecoder(case.decoder(), impl.capabilities.dtype)


def given(impl: Implementation, x: Any) -> Any:
    """Return rows in the precision declared: the very object, where that is float64."""
    if impl.capabilities.dtype == "float64":
        return x
    return x.astype(dtype_of(impl.capabilities.dtype))
