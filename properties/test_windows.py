"""Windows and sinks: which tokens an output sees, however the store drops the others."""

from __future__ import annotations

from rope_kv import oracle
from rope_kv.testing import programs, right
from rope_kv.testing.cases import array
from rope_kv.testing.comparison import expect, expect_change
from rope_kv.testing.implementation import Implementation
from rope_kv.testing.library_cases import ProgramCase, SetupDecodeCase, WindowEditCase
from rope_kv.testing.property import property_of

from .setups import chunkings, decodes, long_decodes, window_edits
from .setups import programs as any_programs
from .test_heads import expect_the_full_forward


@property_of("start", decodes("heads", must=("window",)), needs=("window",))
def test_a_window_is_its_last_tokens_the_own_one_included(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """output[t] = softmax(q[t]·k[t−W+1:t+1] / √d)·v[t−W+1:t+1]·Wo

    The defining statement. Catches a window that is one too wide or too narrow, or is ignored
    when one token comes at a time.
    """
    expect_the_full_forward(impl, case)


@property_of("start", window_edits(), share=0.5, needs=("window",))
def test_no_output_depends_on_a_token_outside_its_window(
    impl: Implementation, case: WindowEditCase
) -> None:
    """u ∉ [t−W+1, t], u ≥ S ⇒ ∂ output[t] / ∂ x[u] = 0

    Catches a window that is ignored or too wide, and slots whose old token is still read.
    """
    before, after = (programs.decoded(impl, decode) for decode in case.decodes())
    setup = case.setup
    unseen = ~oracle.visible(len(case.x), setup.window, setup.sinks)[:, case.at]
    within = right.decoding(impl, array(case.x), setup.decoder()).within
    expect(after[unseen], before[unseen], within=2 * within[unseen], sides=("before", "after"))


@property_of("start", window_edits(), share=0.5, needs=("window",))
def test_each_output_depends_on_every_token_in_its_window(
    impl: Implementation, case: WindowEditCase
) -> None:
    """u ∈ [t−W+1, t] or u < S ⇒ ∂ output[t] / ∂ x[u] ≠ 0

    Catches a window that is too narrow, and a ring that drops a token too early.
    """
    one, other = case.decodes()
    decoder = case.setup.decoder()
    due, other_due = (right.decoding(impl, array(decode.x), decoder) for decode in (one, other))
    expect_change(
        (programs.decoded(impl, one), programs.decoded(impl, other)),
        (due.expected, other_due.expected),
        within=due.within + other_due.within,
    )


@property_of("start", decodes("heads", must=("sinks",)), needs=("sinks",))
def test_the_first_tokens_are_seen_beside_the_window(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """output[t] = attention over the first S tokens and t−W+1 to t

    Catches sinks that are dropped, counted within the window, or seen twice while they are in it.
    """
    expect_the_full_forward(impl, case)


@property_of(
    "start",
    long_decodes("sinks", must=("window",)),
    share=0.25,
    needs=("window",),
)
def test_tokens_keep_their_positions_however_many_are_dropped(
    impl: Implementation, case: SetupDecodeCase
) -> None:
    """T ≫ W: k[u] is turned by u, though only W slots are there

    Catches a position that is the length of the store, a slot taken for a position, and a ring
    that is right the first time round alone.
    """
    expect_the_full_forward(impl, case)


@property_of(
    "start", chunkings("heads", "sinks", must=("window",), largest=6), needs=("chunks", "window")
)
def test_a_chunk_sees_the_window_of_each_of_its_rows(
    impl: Implementation, case: ProgramCase
) -> None:
    """feed(x[a:b])[t] = attention over t−W+1 to t, for each t in the chunk

    Catches a chunk longer than the window that overwrites what its first rows still see, windows
    counted from the chunk's own first row, and rows of a chunk that see later ones.
    """
    programs.expect_the_oracle(impl, case)


@property_of(
    "start",
    any_programs("crop", "crop", may=("sinks",), must=("window",)),
    needs=("crop", "window"),
)
def test_a_ring_is_cropped_rightly_or_refuses(impl: Implementation, case: ProgramCase) -> None:
    """crop(n): go on as after n tokens; or raise, and stay as before, where tokens were dropped

    Catches a wrapped ring that goes back to slots which are overwritten, and an index or a
    position that is not moved.
    """
    programs.expect_the_oracle(impl, case)
