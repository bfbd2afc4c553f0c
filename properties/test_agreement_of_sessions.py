"""Sessions, batches and paths of a new version do what those of the old one do.

Checked where an old version is named with --against. What is right does not matter here: the old
version is what the new one is compared with.
"""

from __future__ import annotations

from rope_kv.testing import session_versions, versions
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import (
    BatchCase,
    LayoutCase,
    ProgramCase,
    SetupDecodeCase,
)
from rope_kv.testing.property import property_of

from .rotations import (
    layouts,
)
from .setups import (
    ALL,
    batches,
    crops_outside,
    decodes,
    overfull_in_between,
    roomy_programs,
    warm_chunks,
)
from .setups import programs as some_programs

OPERATIONS = ("start", "crop", "fork", "reset")


@property_of(
    "start", some_programs(*OPERATIONS, may=ALL), share=1.5, needs=("sessions",), compares=True
)
def test_any_program_agrees_with_the_old_version(impl: Implementation, case: ProgramCase) -> None:
    """start, feed, crop, fork, reset in any order: new = old, by the same calls

    Catches a store whose length or contents are stale, and what is scaled or turned twice.
    """
    session_versions.expect_program(impl, case)


@property_of(
    "start",
    warm_chunks(),
    share=0.25,
    widens="any_program_agrees_with_the_old_version",
    needs=("chunks",),
    compares=True,
)
def test_long_chunks_agree_with_the_old_version(impl: Implementation, case: ProgramCase) -> None:
    """n to 65: new.feed(x[a:a+n]) = old.feed(x[a:a+n]), by the same calls

    Catches blocks that forget rows, and stores that lose what they hold when they grow.
    """
    session_versions.expect_program(impl, case)


@property_of("start", crops_outside(), share=0.5, needs=("crop",), compares=True)
def test_a_crop_below_0_or_beyond_the_tokens_is_refused_as_before(
    impl: Implementation, case: ProgramCase
) -> None:
    """n ∉ [0, length]: new.crop(n) raises where old.crop(n) does, and both go on alike

    Catches a check that got lost.
    """
    session_versions.expect_program(impl, case)


@property_of(
    "start",
    roomy_programs(*OPERATIONS, "fill_unused") | overfull_in_between(),
    share=0.75,
    needs=("capacity",),
    compares=True,
)
def test_programs_with_a_capacity_agree_with_the_old_version(
    impl: Implementation, case: ProgramCase
) -> None:
    """start(decoder, capacity=C): new = old, and new.feed raises where old.feed does

    Catches one slot more or less, and unused slots that are read.
    """
    session_versions.expect_program(impl, case)


@property_of(
    "start_batch",
    batches("reorder", "select", padded=True, may=ALL),
    needs=("batch",),
    compares=True,
)
def test_any_program_of_a_batch_agrees_with_the_old_version(
    impl: Implementation, case: BatchCase
) -> None:
    """feed, reorder, select in any order: row b of new = row b of old, by the same calls

    Catches pads that are seen or projected, and rows that are mixed.
    """
    session_versions.expect_batch(impl, case)


@property_of("paths", decodes(*ALL), compares=True)
def test_every_path_agrees_with_the_old_version(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """new.path(decoder, x) = old.path(decoder, x) by the same calls, for each path of both

    Catches a fused or an uncached path that masks, scales or turns in its own way.
    """
    versions.expect_paths(impl, case)


@property_of("convert_layout", layouts(), needs=("convert_layout",), compares=True)
def test_converted_rows_agree_with_the_old_version(impl: Implementation, case: LayoutCase) -> None:
    """new.convert_layout(x, a, b) = old.convert_layout(x, a, b)

    Catches the opposite conversion.
    """
    versions.expect_conversion(impl, case)
