"""Whose mistake it is: a function is not blamed for a wrong one that it calls.

decode_incremental rests on apply_rope, and apply_rope on rope_freqs. Where a property of the
upper one breaks, it is tried again with a right lower one in its place. If it holds then, the
lower one is the whole cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import oracle
from .cases import Case
from .implementation import Implementation
from .property import Property

Array = NDArray[np.float64]


def right_rope_freqs(d: int, base: float = 10000) -> Array:
    """Return what rope_freqs should return."""
    return oracle.frequencies(d, base)


def right_apply_rope(x: Any, positions: Any, base: float = 10000) -> Array:
    """Return what apply_rope should return."""
    return oracle.rotate(x, positions, base)


RESTS_ON: dict[str, tuple[str, Callable[..., Array]]] = {
    "apply_rope": ("rope_freqs", right_rope_freqs),
    "decode_incremental": ("apply_rope", right_apply_rope),
}


def culprit(
    impl: Implementation,
    broken: Property,
    case: Case,
    kind: str,
    lower_remembers: Callable[[], bool],
) -> str | None:
    """Return the lower function that is the whole cause of a broken property, or None.

    `kind` is that of the breach. Where a property does not inherit, a wrong value is its own.
    `lower_remembers` is asked where the case breaks the property only after earlier ones: is it
    the lower function that remembers them wrongly?
    """
    if broken.function not in RESTS_ON or (kind == "value" and not broken.inherits):
        return None
    lower, right = RESTS_ON[broken.function]
    if not holds(broken, impl.with_replaced(lower, right), case):
        return None
    if holds(broken, impl.fresh(), case) and not lower_remembers():
        return None
    return lower


def remembers_wrongly(
    impl: Implementation, broken: Property, case: Case, history: Sequence[Case]
) -> bool:
    """Return whether a property holds after earlier cases, with a right lower function."""
    replaced = impl.with_replaced(*RESTS_ON[broken.function])
    for earlier in history:
        holds(broken, replaced, earlier)
    return holds(broken, replaced, case)


def holds(prop: Property, impl: Implementation, case: Case) -> bool:
    """Return whether a property holds for one case."""
    return prop.breach(impl, case) is None
