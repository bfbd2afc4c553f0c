"""Limits: what is beyond one that was declared must be refused, never answered wrongly."""

from __future__ import annotations

from rope_kv.testing import calls, programs, right
from rope_kv.testing.cases import array
from rope_kv.testing.comparison import Broken, expect, expect_refusal
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import (
    LimitCase,
    LongerCase,
    NarrowWindowCase,
    Setup,
    SetupDecodeCase,
)
from rope_kv.testing.property import property_of

from .rotations import rotations_beyond, too_many_rows
from .setups import narrow_decodes


def expect_refused(impl: Implementation, case: LimitCase, what: str) -> None:
    """Raise Broken unless apply_rope refuses a case."""
    x = calls.given(impl, array(case.x))
    expect_refusal(lambda: impl.apply_rope(x, list(case.positions), case.base), what)


@property_of("apply_rope", rotations_beyond("max_position"), share=0.5, needs=("max_position",))
def test_positions_from_the_maximum_on_are_refused(impl: Implementation, case: LimitCase) -> None:
    """p ≥ max_position ⇒ apply_rope raises

    Catches a table that is read at its end, from its beginning, or past its last row.
    """
    expect_refused(impl, case, f"position {case.positions[-1]}")


@property_of("decode_incremental", too_many_rows(), share=0.1, needs=("max_position<=512",))
def test_sequences_longer_than_the_maximum_are_refused(
    impl: Implementation, case: LongerCase
) -> None:
    """T > max_position ⇒ decode_incremental raises

    Catches a check of the length of a chunk where that of the sequence is meant.
    """
    decoder = programs.decoder_of(impl, Setup(len(case.x[0]), case.base))
    x = calls.given(impl, array(case.x))
    expect_refusal(lambda: impl.decode_incremental(decoder, x), f"{len(case.x)} tokens")


@property_of("apply_rope", rotations_beyond("negative"), share=0.5, needs=("positions!=any",))
def test_negative_positions_are_refused(impl: Implementation, case: LimitCase) -> None:
    """p < 0 ⇒ apply_rope raises, where only others are declared

    Catches a table that is read from its end.
    """
    expect_refused(impl, case, f"position {case.positions[-1]}")


@property_of(
    "apply_rope",
    rotations_beyond("apart"),
    share=0.5,
    needs=("positions!=any", "positions!=not negative"),
)
def test_positions_that_are_no_run_are_refused(impl: Implementation, case: LimitCase) -> None:
    """p[t+1] ≠ p[t] + 1 ⇒ apply_rope raises, where only a run is declared

    Catches positions of which only the first, or the number, is read.
    """
    expect_refused(impl, case, f"positions {list(case.positions)}")


@property_of(
    "apply_rope",
    rotations_beyond("later"),
    share=0.5,
    needs=("positions!=any", "positions!=not negative", "positions!=consecutive"),
)
def test_positions_that_do_not_begin_at_0_are_refused(
    impl: Implementation, case: LimitCase
) -> None:
    """p[0] ≠ 0 ⇒ apply_rope raises, where only 0 to T−1 is declared

    Catches positions that are not read.
    """
    expect_refused(impl, case, f"positions {list(case.positions)}")


@property_of("apply_rope", rotations_beyond("min_width"), share=0.5, needs=("min_width",))
def test_rows_below_the_least_width_are_refused(impl: Implementation, case: LimitCase) -> None:
    """d < min_width ⇒ apply_rope raises

    Catches rows that are handed back as they are.
    """
    expect_refused(impl, case, f"rows {len(case.x[0])} wide")


@property_of(
    "apply_rope", rotations_beyond("width_multiple"), share=0.5, needs=("width_multiple",)
)
def test_rows_of_a_width_that_is_no_multiple_are_refused(
    impl: Implementation, case: LimitCase
) -> None:
    """d mod width_multiple ≠ 0 ⇒ apply_rope raises

    Catches a last entry without a partner, and pairs that reach beyond the row.
    """
    expect_refused(impl, case, f"rows {len(case.x[0])} wide")


@property_of("start", narrow_decodes(), share=0.5, needs=("window", "min_window"))
def test_a_window_below_the_least_is_refused_or_right(
    impl: Implementation, case: NarrowWindowCase
) -> None:
    """W < min_window ⇒ start or feed raises, or output[t] = attention over t−W+1 to t

    Catches a slice of the last W − 1 tokens that is all of them where W is 1.
    """
    try:
        decoded = programs.decoded(impl, SetupDecodeCase(*case))
    except Broken as broken:
        if broken.kind == "raised":
            return
        raise
    due = right.decoding(impl, array(case.x), case.setup.decoder())
    expect(decoded, due.expected, due.within)
