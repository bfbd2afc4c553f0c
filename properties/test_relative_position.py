"""Queries and keys: their score depends on how far apart they are, not on where."""

from __future__ import annotations

import numpy as np

from rope_kv.testing import bounds, calls, right
from rope_kv.testing.cases import ScoreCase
from rope_kv.testing.comparison import expect
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of

from .rotations import (
    scores,
)


@property_of("apply_rope", scores(), needs=("positions=consecutive",))
def test_scores_depend_on_relative_position_alone(impl: Implementation, case: ScoreCase) -> None:
    """⟨R(m)·q, R(n)·k⟩ = ⟨R(m+s)·q, R(n+s)·k⟩

    Catches tables that clip or wrap, positions that lose digits, and an angle that is not
    proportional to the position.
    """
    q, k, q_shifted, k_shifted = (calls.rotate(impl, call) for call in case.rotations())
    far = max(case.m, case.n) + case.shift
    expect(
        np.array(np.sum(q * k)),
        np.array(np.sum(q_shifted * k_shifted)),
        within=2
        * bounds.scores(
            [case.q],
            [case.k],
            far,
            far,
            case.base,
            bounds.Turning(impl.capabilities.layout),
            right.precision(impl),
        ),
        sides=("shifted", "at m and n"),
    )
