"""--against: what is compared is what both versions declare, and have."""

import numpy as np
import pytest
from refactored import OLD, compared, prepare, written

import rope_kv
from rope_kv.testing.capabilities import Capabilities
from rope_kv.testing.pair import common
from rope_kv.testing.property import all_properties, comparing_properties


@pytest.fixture(autouse=True)
def _prepared(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch)


def test_cases_are_fitted_to_what_both_declare():
    one = Capabilities(chunks=True, crop=True, max_position=64, width_multiple=4, heads=True)
    other = Capabilities(chunks=True, positions="consecutive", width_multiple=6, batch=True)
    both = common(one, other)
    assert both == common(other, one)
    assert both.chunks
    assert not any((both.crop, both.heads, both.batch))
    assert (both.max_position, both.width_multiple, both.positions) == (64, 12, "consecutive")
    nothing_to_follow = Capabilities(heads=True, batch=True), Capabilities(heads=True)
    assert common(*nothing_to_follow) == Capabilities()


def test_a_part_that_one_version_lacks_is_not_checked_and_the_rest_is():
    old = written("before.py", ('    "crop": True,\n', ""))
    verdict = compared(OLD, old)
    assert verdict.verdict == "PASS"
    unchecked = {result.message for result in verdict.with_outcome("not_checked")}
    assert "in the old version: declare crop" in unchecked
    old = written("before.py", ('"max_position": 4096', '"max_position": 2048'))
    unchecked = {result.message for result in compared(OLD, old).with_outcome("not_checked")}
    assert "max_position is 4096, and 2048 in the old version" in unchecked


def test_a_function_that_the_old_version_has_not_is_not_checked():
    class Old:
        apply_rope = staticmethod(rope_kv.apply_rope)

    class New(Old):
        rope_freqs = staticmethod(rope_kv.rope_freqs)

    verdict = compared(New(), Old())
    assert verdict.verdict == "PASS"
    assert verdict.functions == {
        "rope_freqs": "not_checked",
        "apply_rope": "held",
        "decode_incremental": "not_checked",
    }
    verdict = compared(Old(), New())
    assert verdict.functions["rope_freqs"] == "missing"
    assert verdict.verdict == "FAIL"


def test_answers_that_are_no_numbers_are_the_same_where_both_have_them():
    class Old:
        def apply_rope(self, x, positions, base=10000):
            return np.where(np.asarray(positions)[:, None] > 0, np.nan, x)

    class New:
        def apply_rope(self, x, positions, base=10000):
            return np.where(np.asarray(positions)[:, None] > 0, np.inf, x)

    assert compared(Old(), Old()).functions["apply_rope"] == "held"
    assert compared(New(), Old()).functions["apply_rope"] == "broken"


def test_the_reference_agrees_with_itself_in_every_part():
    verdict = compared("rope_kv", "rope_kv", exact=True)
    assert verdict.verdict == "PASS"
    needed = {p.name for p in comparing_properties()}
    assert {result.property.name for result in verdict.with_outcome("held")} == needed - {
        "positions_from_the_maximum_on_are_refused_as_before",
        "negative_positions_are_refused_as_before",
    }


def test_no_property_that_compares_is_one_of_the_usual_ones():
    assert not {p.name for p in comparing_properties()} & {p.name for p in all_properties()}
    assert all(p.compares for p in comparing_properties())
    assert not any(p.compares for p in all_properties())
