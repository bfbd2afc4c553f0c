"""What an old and a new version do with the same case, one call after the other, compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import calls, free_bounds, programs
from .agreement import agreed, expect_same, paired, precision
from .bounds import TINY
from .cases import DecodeCallsCase, DecodeCase, FrequencyCase, RotationCase, array
from .implementation import Implementation
from .library_cases import (
    LayoutCase,
    LimitCase,
    PartialRotationCase,
    ScaledFrequencyCase,
    SetupDecodeCase,
    WidthCase,
)
from .pair import Pair
from .same_calls import Decoders, expect_same_calls, expect_same_rows, forget_calls

Array = NDArray[np.float64]


def expect_frequencies(
    impl: Implementation, case: FrequencyCase | ScaledFrequencyCase, saying: str = ""
) -> None:
    """Compare rope_freqs of a case, with its scaling where it has one."""
    pair = paired(impl)
    scaling = case.scaling.mapping() if isinstance(case, ScaledFrequencyCase) else None
    named = {} if scaling is None else {"scaling": scaling}
    returned = _both(pair, lambda one: one.rope_freqs(case.d, case.base, **named), "rope_freqs")

    def within(own: Array) -> Array:
        return free_bounds.frequencies(own, case.d, case.base, scaling, precision(pair))

    expect_same(pair, returned, "rope_freqs", within, saying)


def expect_rotation(
    impl: Implementation, case: RotationCase | PartialRotationCase, saying: str = ""
) -> None:
    """Compare apply_rope of a case, with its rotary_dim and its scaling where it has them."""
    pair = paired(impl)
    named = case.named() if isinstance(case, PartialRotationCase) else {}
    within = free_bounds.rotation(
        case.x,
        case.positions,
        case.base,
        named.get("rotary_dim"),
        named.get("scaling"),
        precision(pair),
    )
    returned = _both(pair, lambda one: _turned(one, case, case.base, **named), "apply_rope")
    expect_same(pair, returned, "apply_rope", within, saying)


def expect_refusal(impl: Implementation, case: LimitCase | WidthCase) -> None:
    """Raise Broken where one version answers what is beyond a limit, and the other refuses it.

    Where both answer, what they answer is anything.
    """
    more = (case.base,) if isinstance(case, LimitCase) else ()
    named = {} if isinstance(case, LimitCase) else {"rotary_dim": case.rotary_dim}
    _both(paired(impl), lambda one: _turned(one, case, *more, **named), "apply_rope")


def _turned(one: Implementation, case: Any, *base: float, **named: Any) -> Any:
    x = calls.given(one, array(case.x))
    return one.apply_rope(x, list(case.positions), *base, **named)


def expect_in_turn(
    expect_one: Callable[..., None], impl: Implementation, cases: Iterable[Any]
) -> None:
    """Compare calls that are made one after the other, with nothing called before them."""
    pair = paired(impl).fresh()
    for count, case in enumerate(cases, start=1):
        expect_one(pair, case, f"call {count} differs")


def expect_decoding(impl: Implementation, case: DecodeCase) -> None:
    """Compare decode_incremental of a case, and the projections it asks for."""
    pair = paired(impl)
    _expect_decode(pair, case, (calls.traced(pair.old, case), calls.traced(pair.new, case)))


def expect_decodes(impl: Implementation, case: DecodeCallsCase) -> None:
    """Compare decodes that are made one after the other, with one decoder where it is shared."""
    pair = paired(impl).fresh()
    decoders: Decoders | None = None
    for count, call in enumerate((case.first, *case.others, case.first), start=1):
        if decoders is None or case.shared != "decoder":
            decoders = calls.traced(pair.old, call), calls.traced(pair.new, call)
        _expect_decode(pair, call, decoders, f"call {count} differs")
        forget_calls(decoders)


def _expect_decode(pair: Pair, case: DecodeCase, decoders: Decoders, saying: str = "") -> None:
    name, x = "decode_incremental", array(case.x)
    returned = agreed(
        lambda: pair.new.decode_incremental(decoders[1], calls.given(pair.new, x.copy())),
        lambda: pair.old.decode_incremental(decoders[0], calls.given(pair.old, x.copy())),
        name,
    )
    if returned is not None:
        within = free_bounds.decoding(x, case.decoder(), precision(pair))
        expect_same(pair, returned, name, within, saying)
        expect_same_calls(decoders)


def expect_paths(impl: Implementation, case: SetupDecodeCase) -> None:
    """Compare each path that both declare, and the projections it asks for."""
    pair, x = paired(impl), array(case.x)
    within = free_bounds.decoding(x, case.setup.decoder(), precision(pair))
    for name in pair.common.paths:
        old, new = (programs.decoder_of(one, case.setup) for one in (pair.old, pair.new))
        returned = agreed(
            partial(pair.new.path, name, new, calls.given(pair.new, x.copy())),
            partial(pair.old.path, name, old, calls.given(pair.old, x.copy())),
            name,
        )
        if returned is not None:
            expect_same(pair, returned, name, within, f"path {name[:40]} differs")
            expect_same_rows((old, new))


def expect_conversion(impl: Implementation, case: LayoutCase) -> None:
    """Compare convert_layout of a case, which only reorders numbers."""
    pair = paired(impl)

    def converted(one: Implementation) -> Any:
        return one.convert_layout(calls.given(one, array(case.x)), case.source, case.target)

    returned = _both(pair, converted, "convert_layout")
    expect_same(pair, returned, "convert_layout", np.full((1, 1), TINY))


def _both(pair: Pair, call: Callable[[Implementation], Any], what: str) -> tuple[Any, Any] | None:
    return agreed(lambda: call(pair.new), lambda: call(pair.old), what)
