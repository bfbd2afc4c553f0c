"""Batches: each row of a ragged batch is that sequence alone."""

from __future__ import annotations

from rope_kv.testing import programs
from rope_kv.testing.comparison import expect_array
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import BatchCase
from rope_kv.testing.property import property_of

from .setups import ALL, batches, windowed_batches


@property_of("start_batch", batches(may=("window", "sinks")), needs=("batch",))
def test_each_row_of_a_batch_is_that_sequence_alone(impl: Implementation, case: BatchCase) -> None:
    """batch.feed([x₀, x₁, …])[b] = rows of the full forward of sequence b

    The defining statement. Catches positions or masks shared by rows of different lengths, pads
    that are attended to, and rows that are mixed.
    """
    programs.expect_the_oracle_of_each_row(impl, case)


@property_of("start_batch", windowed_batches(), needs=("batch", "window"))
def test_each_row_of_a_batch_has_a_window_of_its_own(
    impl: Implementation, case: BatchCase
) -> None:
    """u ∈ [t−W+1, t] by the positions of row b, however long the others are

    Catches a ring whose mask counts the pads of short rows, and windows by columns of the batch.
    """
    programs.expect_the_oracle_of_each_row(impl, case)


@property_of("start_batch", batches(padded=True, may=("window",)), needs=("padding",))
def test_pads_of_any_kind_change_nothing(impl: Implementation, case: BatchCase) -> None:
    """side, extra, fill of the pads: the same answers, all finite

    Catches pads that are attended to or counted as positions, and what is no number spreading
    from rows that see nothing.
    """
    programs.expect_the_oracle_of_each_row(impl, case)


@property_of("start_batch", batches(), share=0.25, needs=("batch",))
def test_a_batch_returns_an_array_for_each_row(impl: Implementation, case: BatchCase) -> None:
    """batch.feed([x₀, x₁, …])[b] is an array of x[b]'s shape, in the dtype declared

    Catches lists of rows, padded outputs, and what is collected in another dtype.
    """
    decoder = programs.decoder_of(impl, case.setup)
    batch = impl.start_batch(decoder, case.size)
    for step in case.steps:
        given = [programs.given(impl, rows, case.setup) for rows in step.rows]
        for x, part in zip(given, programs.parts(batch.feed(given), len(given)), strict=True):
            if len(x):
                expect_array(part, x.shape, "feed", impl.capabilities.dtype)


@property_of("start_batch", batches("reorder"), needs=("reorder",))
def test_reordered_rows_go_on_from_their_histories(impl: Implementation, case: BatchCase) -> None:
    """reorder(i), feed(x): row b = history i[b], then x[b]

    Catches beams that are not moved, moved in part, along another axis, or share what repeats.
    """
    programs.expect_the_oracle_of_each_row(impl, case)


@property_of("start_batch", batches("select"), share=0.5, needs=("select",))
def test_selected_rows_go_on_by_themselves(impl: Implementation, case: BatchCase) -> None:
    """select(i), feed(x): row b = history i[b], then x[b]; the others are gone

    Catches lengths, masks or positions that are not cut with the rows.
    """
    programs.expect_the_oracle_of_each_row(impl, case)


@property_of(
    "start_batch",
    batches("reorder", "select", padded=True, may=ALL),
    share=0.5,
    needs=("batch",),
)
def test_any_program_of_a_batch_gives_what_its_rows_give(
    impl: Implementation, case: BatchCase
) -> None:
    """feed, reorder, select in any order: row b = oracle(list of tokens of row b)

    Catches what only two operations together show.
    """
    programs.expect_the_oracle_of_each_row(impl, case)
