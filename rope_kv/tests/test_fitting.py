"""Fitting cases to declared limits: within them, hardly changed, and only once."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from rope_kv.testing.capabilities import NOTHING_DECLARED, Capabilities
from rope_kv.testing.fitting import fitted
from rope_kv.testing.forms import dtype_of
from rope_kv.testing.library_cases import BatchCase, BatchStep, Scaling, Setup, SetupDecodeCase
from rope_kv.testing.property import all_properties

PROPERTIES = all_properties()
FEW = settings(
    max_examples=4, deadline=None, derandomize=True, database=None,
    phases=(Phase.generate,), suppress_health_check=list(HealthCheck),
)  # fmt: skip
LIMITED = {
    "a table": Capabilities(max_position=16, positions="not negative"),
    "an offset": Capabilities(positions="consecutive", max_position=64, width_multiple=8),
    "no positions": Capabilities(positions="from zero", min_width=4),
    "half precision": Capabilities(dtype="float16", chunks=True, crop=True),
    "bfloat16": Capabilities(dtype="bfloat16", heads=True),
    "single precision": Capabilities(dtype="float32", batch=True, scaling=["linear"]),
    "everything": Capabilities(
        max_position=40, width_multiple=4, chunks=True, crop=True, fork=True, reset=True,
        capacity=True, fill_unused=True, heads=True, sinks=True, padding=True, reorder=True,
        select=True, rotary_dim=True, scaling=["dynamic", "yarn"],
    ),
}  # fmt: skip
every_property = pytest.mark.parametrize("prop", PROPERTIES, ids=[p.name for p in PROPERTIES])


def positions_of(case):
    """All positions that apply_rope is asked for by a case of this type, call by call."""
    calls = case.rotations() if hasattr(case, "rotations") else (case,)
    return [call.positions for call in calls if hasattr(call, "positions")]


def for_cases(prop, claim):
    """Make a claim of some cases that a property draws."""

    @FEW
    @given(prop.strategy)
    def holds(case):
        claim(case)

    holds()


@every_property
def test_a_case_is_fitted_once_and_stays_as_it_is(prop):
    def claim(case):
        assert fitted(case, NOTHING_DECLARED) is case
        for declared in LIMITED.values():
            if not prop.lacking(declared):
                once = fitted(case, declared)
                assert fitted(once, declared) == once
                assert str(once)

    for_cases(prop, claim)


def checked(declared, *others):
    """The properties that are checked where this is declared, but for those of some subjects."""
    return [p for p in PROPERTIES if p.subject not in others and not p.lacking(declared)]


@pytest.mark.parametrize("declared", LIMITED.values(), ids=LIMITED)
def test_positions_lie_within_what_is_declared(declared):
    def claim(case):
        for positions in positions_of(fitted(case, declared)):
            if declared.max_position is not None:
                assert all(p < declared.max_position for p in positions)
            if declared.positions != "any":
                assert all(p >= 0 for p in positions)
            if declared.positions in ("consecutive", "from zero"):
                assert np.all(np.diff(positions) == 1)

    for prop in checked(declared, "limits"):
        for_cases(prop, claim)


@pytest.mark.parametrize("name", ["half precision", "bfloat16", "single precision"])
def test_rows_are_exact_in_the_precision_declared(name):
    declared = LIMITED[name]

    def claim(case):
        rows = np.array(getattr(fitted(case, declared), "x", ()), dtype=np.float64)
        rounded = rows.astype(dtype_of(declared.dtype)).astype(np.float64)
        np.testing.assert_array_equal(rounded, rows)

    for prop in checked(declared):
        for_cases(prop, claim)


def test_rows_are_as_wide_as_is_declared():
    declared = Capabilities(
        width_multiple=8, rotary_dim=True, heads=True, chunks=True, fork=True, batch=True,
        scaling=["longrope", "yarn"], paths=["whole"],
    )  # fmt: skip

    def claim(case):
        case = fitted(case, declared)
        setup = getattr(case, "setup", None)
        widths = [len(row) for row in getattr(case, "x", ())]
        if setup is not None:
            decoder = setup.decoder()
            widths += [decoder.width, decoder.head_dim, decoder.rotary_dim or 8]
            fed = [rows for step in getattr(case, "steps", ()) for rows in portions(step)]
            widths += [len(row) for rows in fed for row in rows]
            assert decoder.rotary_dim is None or decoder.rotary_dim < decoder.head_dim
        assert getattr(case, "d", 8) % 8 == 0
        assert all(width % 8 == 0 for width in widths)

    for prop in checked(declared, "limits"):
        for_cases(prop, claim)


def portions(step):
    """The rows that a step of a session, or of a batch, feeds."""
    return step.rows if isinstance(step, BatchStep) else [step.rows]


def test_one_head_is_as_wide_as_its_decoder_where_no_heads_are_declared():
    declared = Capabilities(rotary_dim=True, chunks=True, scaling=["ntk"], min_width=4)

    def claim(case):
        decoder = fitted(case, declared).setup.decoder()
        assert decoder.head_dim == decoder.width
        assert not decoder.scaling or (decoder.rotary_dim or decoder.width) >= 4

    for prop in checked(declared):
        if "setup" in prop.case_type._fields:
            for_cases(prop, claim)


def test_what_knows_the_exercise_alone_is_given_no_other_decoder():
    declared = Capabilities(
        paths=["whole"], rotary_dim=True, scaling=["linear"], heads=True, batch=True
    )
    setup = Setup(4, heads=2, kv_heads=1, rotary_dim=2, window=2, scaling=Scaling("linear", 2.0))
    case = fitted(SetupDecodeCase(((1.0,) * 4,), setup), declared)
    assert case.setup == Setup(4)


def test_rows_of_a_batch_that_cannot_be_left_out_are_fed_nothing():
    one, two = ((1.0, 0.0),), ((2.0, 0.0),)
    case = BatchCase(Setup(2), 3, (
        BatchStep("feed", (one, one, one)), BatchStep("select", indices=(0, 2)),
        BatchStep("reorder", indices=(1, 0)), BatchStep("feed", (one, two)),
    ))  # fmt: skip
    assert fitted(case, Capabilities(batch=True, reorder=True, select=True)) == case
    _, reorder, feed = fitted(case, Capabilities(batch=True, reorder=True)).steps
    assert (reorder.indices, feed.rows) == ((2, 1, 0), (one, (), two))
    _, feed = fitted(case, Capabilities(batch=True)).steps
    assert feed.rows == (one, (), two)


def test_no_history_is_longer_than_there_are_positions():
    declared = LIMITED["a table"]
    declared = dataclasses.replace(declared, max_position=5, batch=True, reorder=True, fork=True)

    def claim(case):
        case = fitted(case, declared)
        assert len(getattr(case, "x", ())) <= 5 or not hasattr(case, "setup")
        if isinstance(case, BatchCase):
            lengths = [0] * case.size
            for step in case.steps:
                lengths = [lengths[index] for index in step.indices] or lengths
                if step.op == "feed":
                    fed = map(len, step.rows)
                    lengths = [sum(both) for both in zip(lengths, fed, strict=True)]
                assert max(lengths) <= 5

    for prop in checked(declared, "limits"):
        for_cases(prop, claim)
