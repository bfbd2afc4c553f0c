"""Heads: groups of query heads that share keys and values, and heads that are turned in part."""

from __future__ import annotations

import numpy as np

from rope_kv.testing import bounds, calls, programs, right
from rope_kv.testing.cases import array
from rope_kv.testing.comparison import expect, expect_refusal, matrix
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import PartialRotationCase, SetupDecodeCase, WidthCase
from rope_kv.testing.property import property_of
from rope_kv.testing.trace import TracedDecoder

from .scalings import partial_rotations
from .setups import decodes, loud_decodes, misfits


def rotated(impl: Implementation, case: PartialRotationCase) -> np.ndarray:
    """Return apply_rope of a case, with what it gives by name."""
    x = calls.given(impl, array(case.x))
    returned = impl.apply_rope(x, list(case.positions), case.base, **case.named())
    return matrix(returned, x.shape, "apply_rope")


def expect_the_rotation(impl: Implementation, case: PartialRotationCase, saying: str = "") -> None:
    """Compare a rotation of a part, or by a rule, with the oracle."""
    due = right.rotation(
        impl,
        array(case.x),
        case.positions,
        case.base,
        case.rotary_dim or None,
        case.scaling.mapping(),
    )
    expect(rotated(impl, case), due.expected, due.within, saying)


def expect_the_full_forward(impl: Implementation, case: SetupDecodeCase) -> None:
    """Compare rows that are fed one by one with the pass over the whole sequence at once."""
    due = right.decoding(impl, array(case.x), case.setup.decoder())
    expect(programs.decoded(impl, case), due.expected, due.within)


@property_of("apply_rope", partial_rotations(), needs=("rotary_dim",))
def test_a_partial_rotation_turns_its_part_like_a_whole_row(
    impl: Implementation, case: PartialRotationCase
) -> None:
    """apply_rope(x, p, rotary_dim=r)[:, :r] = apply_rope(x[:, :r], p)

    Catches frequencies and pairs of the whole width, and a rotary_dim that is ignored.
    """
    expect_the_rotation(impl, case)


@property_of("apply_rope", partial_rotations(), share=0.5, needs=("rotary_dim",))
def test_a_partial_rotation_leaves_the_tail_as_it_is(
    impl: Implementation, case: PartialRotationCase
) -> None:
    """apply_rope(x, p, rotary_dim=r)[:, r:] = x[:, r:], bit for bit

    Catches a tail that is turned, dropped, moved, zeroed or rounded.
    """
    tail = array(case.x)[:, case.rotary_dim :]
    expect(rotated(impl, case)[:, case.rotary_dim :], tail, within=bounds.TINY)


@property_of("apply_rope", misfits(), share=0.25, needs=("rotary_dim",))
def test_a_rotary_dim_that_does_not_fit_is_refused(impl: Implementation, case: WidthCase) -> None:
    """r odd or r > d ⇒ apply_rope(x, p, rotary_dim=r) raises

    Catches an entry beyond the row that is read, and a last entry that is left without a partner.
    """
    x = calls.given(impl, array(case.x))
    expect_refusal(
        lambda: impl.apply_rope(x, list(case.positions), rotary_dim=case.rotary_dim),
        f"rotary_dim={case.rotary_dim} of rows {len(case.x[0])} wide",
    )


@property_of("start", decodes(must=("rotary_dim",)), needs=("rotary_dim",))
def test_decoding_turns_the_rotary_part_of_a_head_alone(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """q·k = R(t)·q[:r]·R(u)·k[:r] + q[r:]·k[r:], over √d

    Catches a whole head that is turned, and scores divided by the root of the rotary width.
    """
    expect_the_full_forward(impl, case)


@property_of("start", decodes("rotary_dim", must=("heads",)), needs=("heads",))
def test_each_query_head_attends_with_the_keys_of_its_group(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """head h: softmax(q[h]·k[h // (H/G)] / √d)·v[h // (H/G)]

    Catches groups taken in turn instead of side by side, one group for all, scores divided by
    the root of the whole width, and heads that are put together in another order.
    """
    expect_the_full_forward(impl, case)


@property_of("start", loud_decodes(), share=0.25, needs=("heads",))
def test_large_scores_of_one_head_leave_the_others_as_they_are(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """head h: q·k to 10⁴ there, q·k about 1 elsewhere: outputs = rows of the full forward

    Catches one largest score that is subtracted from those of all heads, some of which vanish.
    """
    expect_the_full_forward(impl, case)


@property_of("start", decodes(must=("heads",)), share=0.5, needs=("heads",))
def test_grouped_heads_equal_heads_whose_keys_are_repeated(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """decode with G groups = decode with H, the weights of each group repeated H/G times

    Catches another order of groups, and a shared group that is read as if each head had its own.
    """
    grouped, setup = case.setup.decoder(), case.setup
    repeated = setup._replace(kv_heads=setup.heads).decoder()
    repeated.Wq, repeated.Wo = grouped.Wq, grouped.Wo
    for name in ("Wk", "Wv"):
        parts = getattr(grouped, name).reshape(setup.width, grouped.kv_heads, grouped.head_dim)
        each = np.repeat(parts, setup.heads // setup.kv_heads, axis=1)
        setattr(repeated, name, each.reshape(setup.width, -1))
    x, dtype = array(case.x), impl.capabilities.dtype
    expect(
        programs.fed_row_by_row(impl, TracedDecoder(grouped, dtype), x),
        programs.fed_row_by_row(impl, TracedDecoder(repeated, dtype), x),
        within=2 * right.decoding(impl, x, grouped).within,
        sides=("repeated", "grouped"),
    )
