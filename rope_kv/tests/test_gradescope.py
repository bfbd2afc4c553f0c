"""The Gradescope result: who gets which points, and what is shown of a student's text."""

import json

import pytest
import verdicts
from hypothesis import given, settings

from rope_kv.reports.gradescope import gradescope
from rope_kv.reports.points import DEFAULT, PointsError, read
from rope_kv.testing.plain import plain

# The fields that Gradescope's documentation names.
TOP = {
    "score", "execution_time", "output", "output_format", "test_output_format",
    "test_name_format", "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard",
}  # fmt: skip
TEST = {
    "score", "max_score", "status", "name", "name_format", "number", "output", "output_format",
    "tags", "visibility", "extra_data",
}  # fmt: skip


def scores(result):
    return {test["name"]: (test.get("score"), test.get("max_score")) for test in result["tests"]}


def outputs(result):
    return {test["name"]: test["output"] for test in result["tests"]}


@pytest.mark.parametrize("verdict", verdicts.ALL)
def test_every_verdict_has_the_documented_fields_and_shows_text_as_text(verdict):
    result = json.loads(json.dumps(gradescope(verdict()), allow_nan=False))
    assert set(result) <= TOP
    assert {result[f"{what}format"] for what in ("output_", "test_output_", "test_name_")} == {
        "text"
    }
    for test in result["tests"]:
        assert set(test) <= TEST
        assert test["output_format"] == "text"
        assert test["status"] in ("passed", "failed")
    assert result["output"]
    assert result["extra_data"]["verdict"] == verdict().verdict


def test_a_right_file_gets_all_points():
    result = gradescope(verdicts.passed())
    assert result["score"] == 10
    assert scores(result) == {
        "rope_freqs": (2, 2),
        "apply_rope": (4, 4),
        "decode_incremental": (4, 4),
    }
    assert {test["status"] for test in result["tests"]} == {"passed"}


def test_a_wrong_function_gets_none_and_the_one_that_calls_it_all():
    result = gradescope(verdicts.failed())
    assert result["score"] == 6
    assert scores(result)["apply_rope"] == (0, 4)
    assert scores(result)["decode_incremental"] == (4, 4)
    assert "right by itself" in outputs(result)["decode_incremental"]
    said = outputs(result)["apply_rope"]
    assert "smallest   apply_rope([[1, 0, 0, 0]], positions=[1])" in said
    assert "each pair keeps its length" in said


def test_the_mistake_is_told_with_its_function():
    said = outputs(gradescope(verdicts.diagnosed()))
    rotation = " ".join(said["apply_rope"].split())
    trap = verdicts.HALVES
    for sentence in (f"looks like {trap.name}: {trap.slip}", trap.misconception, trap.hint):
        assert sentence in rotation
    assert "or like opposite-direction" in rotation
    assert "measured   each angle is 1.1 times the right one" in said["rope_freqs"]


def test_a_crash_costs_its_function_and_a_forged_answer_everything():
    assert scores(gradescope(verdicts.crashed())) == {
        "rope_freqs": (0, 2),
        "apply_rope": (4, 4),
        "decode_incremental": (4, 4),
    }
    forged = gradescope(verdicts.forged())
    assert forged["score"] == 0
    assert {score for score, _ in scores(forged).values()} == {0}
    assert "sent what only rope_kv may send" in forged["output"]


def test_what_was_not_run_gives_no_points():
    result = gradescope(verdicts.not_run(), {"decode_incremental": 4, verdicts.EQUALS: 1})
    assert result["score"] == 0
    assert "not run: the time limit of 60 s was reached" in outputs(result)["decode_incremental"]
    assert "the time limit" in outputs(result)[verdicts.BY_NAME[verdicts.EQUALS].title]


def test_code_that_does_not_load_gets_zero_of_all_points_and_is_told_why():
    result = gradescope(verdicts.unloaded(), {"apply_rope": 4, verdicts.TURNS: 1})
    assert result["score"] == 0
    assert sum(test.get("max_score", 0) for test in result["tests"]) == 5
    assert "SyntaxError (line 3)" in result["output"]
    assert set(outputs(result).values()) == {"it raised SyntaxError (line 3)"}


def test_a_fault_of_rope_kv_gives_neither_points_nor_zero():
    result = gradescope(verdicts.faulty())
    assert "score" not in json.dumps(result)
    assert "This was not graded" in result["output"]
    assert "ValueError: no such bound" in result["output"]


def test_points_are_given_by_name_and_only_for_what_holds():
    points = {"apply_rope": 3, verdicts.TURNS: 0.2, verdicts.FIRST: 0.1, verdicts.EQUALS: 0.2}
    result = gradescope(verdicts.failed(), points)
    found = scores(result)
    assert found["apply_rope"] == (0, 3)
    assert found["rope_freqs"] == (None, None)
    assert found["each adjacent pair turns by its own angle"] == (0, 0.2)
    assert found["the first pair turns by one radian per token"] == (0.1, 0.1)
    assert found["incremental decoding equals the full forward"] == (0.2, 0.2)
    assert result["score"] == 0.3


@settings(deadline=None, max_examples=200)
@given(verdicts.hostile_texts())
def test_whatever_a_student_writes_is_letters_that_can_be_seen(text):
    for verdict in verdicts.hostile(text):
        result = gradescope(verdict, {**DEFAULT, verdicts.TURNS: 1})
        assert ("score" in result) == (verdict.verdict != "GRADER_ERROR")
        for said in (result["output"], *outputs(result).values(), *result["extra_data"].values()):
            assert plain(said) == said


def test_points_are_read_from_a_file_under_either_spelling_of_a_name(tmp_path):
    path = tmp_path / "points.json"
    path.write_text('{"rope_freqs": 1, "each adjacent pair turns by its own angle": 2.5}')
    assert read(path) == {"rope_freqs": 1, verdicts.TURNS: 2.5}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            '{"aply_rope": 4}',
            "'aply_rope' is no function and no property: did you mean apply_rope?",
        ),
        (
            '{"each adjacent pair turns by its own angel": 4}',
            "did you mean each_adjacent_pair_turns_by_its_own_angle?",
        ),
        ('{"zzz": 4}', "'zzz' is no function and no property: `rope-kv properties` lists them"),
        ('{"\\u001b[31m\\n": 4}', "`rope-kv properties` lists them"),
        ("[4]", "must hold one JSON object"),
        ("4", "must hold one JSON object"),
        ("apply_rope: 4", "is not JSON: "),
        ("[" * 100_000, "is not JSON: "),
        ('{"apply_rope": -1}', "apply_rope must give a number of points from 0, found -1"),
        ('{"apply_rope": true}', "apply_rope must give a number of points from 0, found true"),
        ('{"apply_rope": NaN}', "apply_rope must give a number of points from 0, found NaN"),
        ('{"apply_rope": "4"}', 'apply_rope must give a number of points from 0, found "4"'),
        ('{"apply_rope": {"a": 1}}', "must give a number of points from 0, found an object"),
        ('{"apply_rope": 4, "apply rope": 2}', "gives points for apply_rope twice"),
        ("{}", "gives no points for anything"),
        ('{"apply_rope": 0}', "gives no points for anything"),
    ],
)
def test_a_file_that_says_something_else_is_refused_with_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "points.json"
    path.write_text(content)
    with pytest.raises(PointsError) as refused:
        read(path)
    assert sentence in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_file_that_cannot_be_read_is_refused_with_a_sentence(tmp_path):
    for path, why in ((tmp_path / "none.json", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(PointsError, match=f"cannot be read: {why}"):
            read(path)
    (tmp_path / "latin.json").write_bytes(b'{"\xe9": 1}')
    with pytest.raises(PointsError, match="is not JSON"):
        read(tmp_path / "latin.json")
