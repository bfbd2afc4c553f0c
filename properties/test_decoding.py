"""decode_incremental: token by token, with a cache, the same as all at once."""

from __future__ import annotations

from rope_kv.testing import calls, forms, right
from rope_kv.testing.cases import (
    DecodeBasesCase,
    DecodeCase,
    DecodeFormCase,
    EditCase,
    PrefixCase,
    array,
)
from rope_kv.testing.comparison import expect, expect_change
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.property import property_of

from .histories import (
    LONGEST,
    SWELLING,
    edits,
    histories,
    histories_under_two_bases,
    history_forms,
    long_histories,
    loud_histories,
    prefixes,
    repeated_tokens,
)


def expect_the_full_forward(impl: Implementation, case: DecodeCase) -> None:
    """Compare a decode with the pass over the whole sequence at once."""
    due = right.decoding(impl, array(case.x), case.decoder())
    expect(calls.decode(impl, case), due.expected, due.within)


@property_of("decode_incremental", histories(), share=1.5)
def test_incremental_decoding_equals_the_full_forward(
    impl: Implementation, case: DecodeCase
) -> None:
    """decode(x) = softmax(mask(R·q·(R·k)ᵀ / √D))·v·Wo

    The defining statement. Catches a position that restarts, keys that are stored before they are
    turned or turned twice, a missing token, a missing scale, and values that are rotated.
    """
    expect_the_full_forward(impl, case)


@property_of(
    "decode_incremental",
    long_histories(),
    examples=(LONGEST, SWELLING),
    share=0.25,
    widens="incremental_decoding_equals_the_full_forward",
)
def test_long_histories_decode_like_short_ones(impl: Implementation, case: DecodeCase) -> None:
    """T to 257: decode(x) = softmax(mask(R·q·(R·k)ᵀ / √D))·v·Wo

    Catches buffers that are full, caches that wrap or drop tokens, windows, growth that loses what
    was stored, and a softmax by blocks that is shifted by the largest score of the first one.
    """
    expect_the_full_forward(impl, case)


@property_of(
    "decode_incremental",
    loud_histories(),
    share=0.5,
    widens="incremental_decoding_equals_the_full_forward",
)
def test_large_scores_do_not_overflow(impl: Implementation, case: DecodeCase) -> None:
    """softmax(s) = softmax(s − max s), for |s| far above 709

    Catches exp of scores as they are, and scores that are clipped.
    """
    expect_the_full_forward(impl, case)


@property_of("decode_incremental", prefixes(), share=0.5)
def test_the_first_rows_are_the_decode_of_the_first_rows(
    impl: Implementation, case: PrefixCase
) -> None:
    """decode(x)[:n] = decode(x[:n])

    Catches positions or masks that depend on the whole length, and a cache that is filled ahead.
    """
    whole, beginning = case.decodes()
    n = case.length
    expect(
        calls.decode(impl, whole)[:n],
        calls.decode(impl, beginning),
        within=2 * right.decoding(impl, array(beginning.x), beginning.decoder()).within,
        sides=("alone", "in whole"),
    )


@property_of("decode_incremental", edits(), share=0.5)
def test_no_output_depends_on_a_later_token(impl: Implementation, case: EditCase) -> None:
    """t < u ⇒ ∂ output[t] / ∂ x[u] = 0

    Catches a missing mask.
    """
    before, after = case.decodes()
    expect(
        calls.decode(impl, after)[: case.at],
        calls.decode(impl, before)[: case.at],
        within=2 * right.decoding(impl, array(before.x), before.decoder()).within[: case.at],
        sides=("before", "after"),
    )


@property_of("decode_incremental", edits(), share=0.75)
def test_each_output_depends_on_every_visible_token(impl: Implementation, case: EditCase) -> None:
    """t ≥ u ⇒ ∂ output[t] / ∂ x[u] ≠ 0

    Catches a token that is not stored, the current token left out, and windows.
    """
    before, after = case.decodes()
    due, then_due = (right.decoding(impl, array(one.x), one.decoder()) for one in (before, after))
    expect_change(
        (calls.decode(impl, before), calls.decode(impl, after)),
        (due.expected, then_due.expected),
        within=due.within + then_due.within,
    )


@property_of("decode_incremental", repeated_tokens(), share=0.5)
def test_one_token_repeated_decodes_to_its_own_value(
    impl: Implementation, case: DecodeCase
) -> None:
    """x[0] = … = x[t] ⇒ output[t] = x[0]·Wv·Wo

    Catches values that are rotated, weights that do not add up to 1, and slots that were never
    written.
    """
    x, decoder = array(case.x), case.decoder()
    expect(
        calls.decode(impl, case),
        x @ decoder.Wv @ decoder.Wo,
        within=right.decoding(impl, x, decoder).within,
    )


@property_of("decode_incremental", histories_under_two_bases(), share=0.5)
def test_decoding_follows_the_base_of_its_decoder(
    impl: Implementation, case: DecodeBasesCase
) -> None:
    """base ≠ base′ ⇒ decode(decoder, x) ≠ decode(decoder′, x)

    Catches a base that is written into the loop, and positions that are all 0.
    """
    one, other = case.decodes()
    due, other_due = (
        right.decoding(impl, array(case.x), decode.decoder()) for decode in (one, other)
    )
    expect_change(
        (calls.decode(impl, one), calls.decode(impl, other)),
        (due.expected, other_due.expected),
        within=due.within + other_due.within,
    )


@property_of("decode_incremental", history_forms(), share=0.75, needs=("dtype=float64",))
def test_embedded_rows_may_be_integers_and_lie_in_memory_in_any_way(
    impl: Implementation, case: DecodeFormCase
) -> None:
    """x: integer, read-only, strided, reversed, Fortran-ordered ⇒ the same result

    Catches results that are truncated to the dtype of x, and writing into x.
    """
    (plain,) = case.decodes()
    x = array(case.x)
    expect(
        calls.decode_with(impl, calls.traced(impl, plain), forms.ROWS[case.form](x.copy())),
        calls.decode(impl, plain),
        within=right.decoding(impl, x, plain.decoder()).within,
        sides=("otherwise", "this form"),
    )
