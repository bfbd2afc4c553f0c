"""Layouts: which entries form a pair, and rows that are converted from one to the other."""

from __future__ import annotations

import numpy as np

from rope_kv import oracle
from rope_kv.testing import bounds, calls, right
from rope_kv.testing.cases import RotationCase, array
from rope_kv.testing.comparison import Broken, expect, expect_array, matrix
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import LayoutCase
from rope_kv.testing.property import property_of

from .rotations import layouts, rotations


def converted(impl: Implementation, x: np.ndarray, source: str, target: str) -> np.ndarray:
    """Return convert_layout of rows, which it must not change, as a float64 array."""
    given = calls.given(impl, x.copy())
    before = given.copy()
    returned = impl.convert_layout(given, source, target)
    if given.tobytes() != before.tobytes():
        raise Broken("the rows that were converted were changed", "purity")
    return matrix(returned, x.shape, "convert_layout")


@property_of("apply_rope", rotations(), needs=("layout!=interleaved",))
def test_pairs_of_the_declared_layout_turn_by_their_own_angle(
    impl: Implementation, case: RotationCase
) -> None:
    """pair i of the layout ↦ pair i · exp(j·p·θᵢ)

    The defining statement for rows that are laid out otherwise. Catches pairs of one layout with
    the angles of another, and results that are put back in the wrong order.
    """
    due = right.rotation(impl, array(case.x), case.positions, case.base)
    expect(calls.rotate(impl, case), due.expected, due.within)


@property_of("convert_layout", layouts(), needs=("convert_layout",))
def test_a_converted_row_has_the_same_pairs(impl: Implementation, case: LayoutCase) -> None:
    """pair i of convert_layout(x, a, b), as b lays it out = pair i of x, as a does

    The defining statement. Catches the opposite conversion, which only d = 4 hides.
    """
    x = array(case.x)
    due = np.empty_like(x)
    for part, source in zip(
        oracle.pairs(x.shape[1], case.target), oracle.pairs(x.shape[1], case.source), strict=True
    ):
        due[:, part] = x[:, source]
    expect(converted(impl, x, case.source, case.target), due, within=bounds.TINY)


@property_of("convert_layout", layouts(), share=0.25, needs=("convert_layout",))
def test_converting_returns_an_array_like_the_rows_that_are_given(
    impl: Implementation, case: LayoutCase
) -> None:
    """convert_layout(x, a, b) is an array of x's shape, in the dtype declared

    Catches rows that are converted in fewer digits, or in more.
    """
    x = calls.given(impl, array(case.x))
    returned = impl.convert_layout(x.copy(), case.source, case.target)
    expect_array(returned, x.shape, "convert_layout", impl.capabilities.dtype)


@property_of("convert_layout", layouts(), share=0.5, needs=("convert_layout",))
def test_converting_there_and_back_restores_the_rows(
    impl: Implementation, case: LayoutCase
) -> None:
    """convert_layout(convert_layout(x, a, b), b, a) = x

    Catches a way back that is the way there once more.
    """
    x = array(case.x)
    there = converted(impl, x, case.source, case.target)
    expect(converted(impl, there, case.target, case.source), x, within=bounds.TINY)


@property_of("convert_layout", layouts(), needs=("convert_layout",))
def test_scores_are_kept_when_both_rows_are_converted(
    impl: Implementation, case: LayoutCase
) -> None:
    """⟨R(m)·q, R(n)·k⟩ in layout a = ⟨R(m)·q′, R(n)·k′⟩ in layout b, q′ and k′ converted

    Catches weights that are permuted for queries and not for keys, and pairs that are torn apart.
    """
    x = array(case.x)
    before, after = (
        oracle.rotate(rows, case.positions, 10000, layout=layout)
        for rows, layout in (
            (x, case.source),
            (converted(impl, x, case.source, case.target), case.target),
        )
    )
    within = 4 * sum(
        bounds.scores(x[i : i + 1], x[j : j + 1], m, n, 10000, bounds.Turning(case.source))
        for i, m in enumerate(case.positions)
        for j, n in enumerate(case.positions)
    )
    expect(after @ after.T, before @ before.T, within=within, sides=("before", "converted"))
