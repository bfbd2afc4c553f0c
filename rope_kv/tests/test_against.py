"""--against: refactors that change nothing pass, and what others change is named."""

import pytest
from refactored import FOLDER, OLD, OWN_CONVENTION, RIGHT, broken, compared, prepare, run, written

from rope_kv.testing.profiles import PROFILES, Profile


@pytest.fixture(autouse=True)
def _prepared(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", RIGHT)
def test_a_refactor_that_changes_nothing_passes(name):
    verdict = compared(FOLDER / f"{name}.py")
    assert verdict.verdict == "PASS"
    assert verdict.functions["start"] == verdict.functions["apply_rope"] == "held"
    assert len(verdict.with_outcome("held")) == 11


def test_the_usual_properties_are_checked_as_well_unless_they_are_left_out():
    verdict = compared(FOLDER / "fused.py", laws="all")
    assert verdict.verdict == "PASS"
    names = {result.property.name for result in verdict.with_outcome("held")}
    assert "any_program_gives_what_its_tokens_give" in names
    assert "any_program_agrees_with_the_old_version" in names


def test_a_stale_length_is_named_with_the_smallest_program(capsys):
    new = str(FOLDER / "preallocated_stale.py")
    status, out, err = run(capsys, "check", new, "--against", OLD, "--laws", "none")
    assert (status, err) == (1, "")
    assert out.splitlines()[0].startswith(f"rope_kv 0.1.0 · {new} against {OLD} · profile grade")
    block = out.split("\n\n")[1].splitlines()
    assert block[0].startswith("start · any program agrees with the old version")
    assert block[1:7] == [
        "  law        start, feed, crop, fork, reset in any order: new = old, by the same calls",
        "  smallest   a = start(Decoder(2)); a.feed([[0, 0]]); a.crop(0); a.feed([[1, 0]])",
        "  found      what a returned in step 3 differs",
        "  old        [[ 1  0 ]]",
        "  new        [[ 0  0 ]]",
        "  differs    first at [0, 0], 5·10¹³ times the rounding bound",
    ]
    assert f"FAIL  10 held, 1 broken, 10 not checked, against {OLD}" in out


def test_a_table_that_grows_by_another_base_is_named_and_what_rests_on_it_is_not():
    verdict = compared(FOLDER / "table_wrong_base.py")
    assert verdict.verdict == "FAIL"
    found = broken(verdict)
    assert {result.property.function for result in found.values()} == {"apply_rope"}
    smallest = found["rotations_agree_with_the_old_version"].counterexample
    assert len(smallest.x) == 1
    assert smallest.base != 10000
    assert smallest.positions[0] >= 16
    assert {r.because for r in verdict.results if r.property.function == "start"} == {
        None,
        "apply_rope",
    }


@pytest.mark.parametrize("name", RIGHT)
def test_a_convention_that_no_oracle_knows_is_kept_by_a_right_refactor(name):
    old = written("before.py", *OWN_CONVENTION)
    new = written("after.py", *OWN_CONVENTION, source=name)
    assert compared(new, old).verdict == "PASS"


def test_a_convention_that_no_oracle_knows_is_wrong_by_the_usual_laws_and_agrees(monkeypatch):
    monkeypatch.setitem(PROFILES, "grade", Profile("grade", 5, attempts=10, patience=20.0))
    old = written("before.py", *OWN_CONVENTION)
    verdict = compared(old, old, laws="all")
    assert verdict.verdict == "FAIL"
    assert not [name for name in broken(verdict) if "old_version" in name]


def test_a_convention_that_no_oracle_knows_is_not_changed_unseen():
    old = written("before.py", *OWN_CONVENTION)
    new = written("after.py", *OWN_CONVENTION[1:])
    found = broken(compared(new, old))
    assert "any_program_agrees_with_the_old_version" in found
    assert {result.property.function for result in found.values()} == {
        "start",
        "decode_incremental",
    }


REASSOCIATED = (
    ("    weights = weights / weights.sum(axis=2, keepdims=True)\n", ""),
    (
        'return np.einsum("hnt,thd->nhd", weights, values).reshape(len(q), -1)',
        'seen = np.einsum("hnt,thd->nhd", weights, values)\n'
        "    return (seen / weights.sum(axis=2).T[:, :, None]).reshape(len(q), -1)",
    ),
)


def test_a_sum_in_another_order_agrees_unless_the_same_bits_are_asked_for():
    new = written("after.py", *REASSOCIATED)
    assert compared(new).verdict == "PASS"
    verdict = compared(new, exact=True)
    assert verdict.functions["apply_rope"] == "held"
    assert verdict.functions["start"] == "broken"
    found = broken(verdict)["any_program_agrees_with_the_old_version"]
    assert "by rounding alone, and the same bits are asked for" in found.message
    assert found.broken.ratio < 1


def test_the_same_sums_in_another_arrangement_agree_bit_for_bit():
    assert compared(FOLDER / "fused.py", exact=True).verdict == "PASS"


def test_bit_for_bit_means_the_dtype_as_well():
    new = written("after.py", ("decoder.project_out(attend(", "decoder.project_out(1 * attend("))
    assert compared(new, exact=True).verdict == "PASS"
    new = written(
        "after.py",
        ("        return decoder.project_out(attend(q, self.keys, self.values, places))",
         "        return decoder.project_out(attend(q, self.keys, self.values, places))"
         ".astype(np.longdouble)"),
    )  # fmt: skip
    assert compared(new).verdict == "PASS"
    message = broken(compared(new, exact=True))["any_program_agrees_with_the_old_version"].message
    assert "feed returned a " in message
    assert "and a float64 array of shape (1, 2) in the old version" in message
