"""--against: projections and refusals are those of the old version."""

import pytest
from refactored import FOLDER, OLD, broken, compared, prepare, written

from rope_kv import check


@pytest.fixture(autouse=True)
def _prepared(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch)


def test_a_prefix_that_is_projected_again_is_named_though_the_values_are_the_same():
    again = "        v = decoder.project_v(rows).reshape(k.shape)\n"
    new = written("after.py", (again, again + "        decoder.project_k(rows)\n"))
    found = broken(compared(new))
    message = found["any_program_agrees_with_the_old_version"].message
    assert message == "project_k is given 2 rows, and 1 in the old version"
    message = found["decoding_agrees_with_the_old_version"].message
    assert message == "projection 4 is project_k of 1 row, and none in the old version"


def test_projections_in_another_order_are_named():
    q, k = (
        f"        {name} = self.turned(decoder.project_{name}(rows), places)\n" for name in "qk"
    )
    found = broken(compared(written("after.py", (q + k, k + q))))
    assert found["any_program_agrees_with_the_old_version"].message == (
        "what is called is project_k, project_q, project_v, project_out, "
        "and project_q, project_k, project_v, project_out in the old version"
    )


def test_rows_of_a_chunk_may_be_projected_in_any_portions():
    whole = "        v = decoder.project_v(rows).reshape(k.shape)\n"
    by_row = (
        "        v = np.concatenate([decoder.project_v(rows[t : t + 1]) "
        "for t in range(len(rows))]).reshape(k.shape)\n"
    )
    assert compared(written("after.py", (whole, by_row))).verdict == "PASS"


@pytest.mark.parametrize(
    ("check", "names"),
    [
        (
            '        raise ValueError("there is no such length")',
            {"a_crop_below_0_or_beyond_the_tokens_is_refused_as_before"},
        ),
        (
            '        raise IndexError("positions are from 0 to 4095")',
            {
                "positions_from_the_maximum_on_are_refused_as_before",
                "negative_positions_are_refused_as_before",
            },
        ),
    ],
)
def test_what_was_refused_must_be_and_what_was_not_must_not(check, names):
    new = written("after.py", (check, check.replace("raise ", "str(") + ")"))
    found = broken(compared(new))
    assert set(found) == names
    assert all(" in the old version " in result.message for result in found.values())
    found = broken(compared(OLD, new))
    assert set(found) == names
    assert all("and the old version answers" in result.message for result in found.values())


def test_a_file_and_its_old_version_run_isolated():
    verdict = check(FOLDER / "fused.py", against=OLD, laws="none")
    assert verdict.verdict == "PASS"
    assert verdict.isolation != "none"


def test_what_hangs_in_the_old_version_is_said_to():
    old = written(
        "before.py",
        (
            "        self.keys, self.values = self.keys[:length]",
            "        while True: pass\n        self.keys, self.values = self.keys[:length]",
        ),
    )
    verdict = check(OLD, against=old, laws="none", call_timeout=0.2)
    (found,) = broken(verdict).values()
    assert found.message.startswith("the old version: crop has not returned")
