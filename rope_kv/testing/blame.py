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
from .capabilities import Capabilities
from .cases import Case
from .forms import dtype_of
from .implementation import Implementation
from .pair import Pair
from .property import Property

Array = NDArray[np.float64]


RESTS_ON = {
    "apply_rope": "rope_freqs",
    "decode_incremental": "apply_rope",
    "start": "apply_rope",
    "start_batch": "apply_rope",
    "paths": "apply_rope",
}


def right_one(name: str, impl: Implementation) -> Callable[..., Array]:
    """Return what a lower function of an implementation should be."""
    layout, dtype = impl.capabilities.layout, dtype_of(impl.capabilities.dtype)

    def rope_freqs(d: int, base: float = 10000, scaling: Any = None) -> Array:
        return oracle.frequencies(d, base, scaling)

    def apply_rope(
        x: Any,
        positions: Any,
        base: float = 10000,
        rotary_dim: int | None = None,
        scaling: Any = None,
    ) -> Array:
        _refuse_beyond(impl.capabilities, positions)
        turned = oracle.rotate(
            x, positions, base, layout=layout, rotary_dim=rotary_dim, scaling=scaling
        )
        return turned.astype(dtype, copy=False)

    functions: dict[str, Callable[..., Array]] = {
        "rope_freqs": rope_freqs,
        "apply_rope": apply_rope,
    }
    return functions[name]


def _refuse_beyond(declared: Capabilities, positions: Any) -> None:
    """Raise IndexError where a position is beyond what is declared."""
    places = np.asarray(positions)
    is_late = declared.max_position is not None and np.any(places >= declared.max_position)
    if is_late or (declared.positions != "any" and np.any(places < 0)):
        raise IndexError("a position is beyond what is declared")


def corrected(impl: Implementation, function: str) -> Implementation:
    """Return the code in which a right function stands in for the one that `function` rests on."""
    lower = RESTS_ON[function]
    return impl.with_replaced(lower, right_one(lower, impl))


def _with_lower(impl: Implementation, broken: Property) -> Implementation:
    """Return the code with a right function for the one that a broken property rests on.

    Where two versions are compared, what is right is what the old one does.
    """
    if not broken.compares or not isinstance(impl, Pair):
        return corrected(impl, broken.function)
    lower = RESTS_ON[broken.function]
    return impl.with_replaced(lower, getattr(impl.old, lower))


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
    if kind == "attack":
        return None  # It may come too late to be seen: what seems to hold says nothing.
    if not holds(broken, _with_lower(impl, broken), case):
        return None
    if holds(broken, impl.fresh(), case) and not lower_remembers():
        return None
    return RESTS_ON[broken.function]


def remembers_wrongly(
    impl: Implementation, broken: Property, case: Case, history: Sequence[Case]
) -> bool:
    """Return whether a property holds after earlier cases, with a right lower function."""
    replaced = _with_lower(impl, broken)
    for earlier in history:
        holds(broken, replaced, earlier)
    return holds(broken, replaced, case)


def holds(prop: Property, impl: Implementation, case: Case) -> bool:
    """Return whether a property holds for one case."""
    return prop.breach(impl, case) is None
