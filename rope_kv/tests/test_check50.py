"""The check50 report: the three values of a check, and why it has one of them."""

import json

import pytest
import verdicts
from hypothesis import given, settings

from rope_kv.reports.check50 import check50
from rope_kv.testing.plain import plain


def read(verdict):
    """The checks by name, after a look at their form: that of check50's JSON specification."""
    report = json.loads(json.dumps(check50(verdict), allow_nan=False))
    assert set(report) == {"slug", "results", "version"}
    checks = {check["name"]: check for check in report["results"]}
    assert list(checks) == ["loads", *verdicts.BY_NAME]
    for check in report["results"]:
        assert set(check) == {
            "name", "description", "passed", "log", "cause", "data", "dependency"
        }  # fmt: skip
        assert check["passed"] in (True, False, None)
        assert (check["cause"] is None) == (check["passed"] is True)
        assert check["dependency"] in (None, *checks)
        assert all(isinstance(line, str) and "\n" not in line for line in check["log"])
        cause = check["cause"] or {"rationale": "", "help": None}
        assert {"rationale", "help"} <= set(cause) <= {"rationale", "help", "expected", "actual"}
        assert ("expected" in cause) == ("actual" in cause)
    return checks


@pytest.mark.parametrize("verdict", verdicts.ALL)
def test_every_verdict_has_the_form_that_check50_specifies(verdict):
    read(verdict())


def test_a_broken_property_is_false_with_what_was_expected_and_what_helps():
    check = read(verdicts.diagnosed())[verdicts.TURNS]
    assert check["passed"] is False
    assert check["cause"]["expected"] == "[[ 0.5403  0.8415  0       0 ]]"
    assert check["cause"]["actual"] == "[[ 0.5403  0       0.8415  0 ]]"
    for trap in (verdicts.HALVES, verdicts.OPPOSITE):
        for sentence in (f"{trap.name}: {trap.slip}", trap.misconception, trap.hint):
            assert sentence in check["cause"]["help"]
    assert "  smallest   apply_rope([[1, 0, 0, 0]], positions=[1])" in check["log"]
    assert check["data"]["counterexample"]["positions"] == [1]
    plainly = read(verdicts.failed())[verdicts.TURNS]["cause"]["help"]
    assert plainly.startswith("catches: pairs taken half a vector apart")


def test_what_was_measured_helps_where_nothing_looks_alike():
    wrong = verdicts.broken(verdicts.FIRST)
    verdict = verdicts.verdict_of(wrong, diagnoses=verdicts.diagnosed().diagnoses)
    helps = read(verdict)[verdicts.FIRST]["cause"]["help"]
    assert helps == "measured: each angle is 1.1 times the right one"


def test_what_is_not_known_is_null_and_says_why():
    for verdict, name, why in (
        (verdicts.not_run(), verdicts.EQUALS, "the time limit of 60 s was reached"),
        (verdicts.faulty(), verdicts.FIRST, "a fault of rope_kv: ValueError: no such bound"),
        (verdicts.passed(), verdicts.ADVICE, "advice, which fails nothing: row 1 was touched"),
    ):
        check = read(verdict)[name]
        assert check["passed"] is None
        assert check["cause"]["rationale"].startswith(why)


def test_where_the_code_does_not_load_nothing_else_is_known():
    checks = read(verdicts.unloaded())
    loads = checks.pop("loads")
    assert loads["passed"] is False
    assert loads["cause"]["rationale"] == "it raised SyntaxError (line 3)"
    assert {check["passed"] for check in checks.values()} == {None}
    assert {check["dependency"] for check in checks.values()} == {"loads"}


@settings(deadline=None, max_examples=200)
@given(verdicts.hostile_texts())
def test_whatever_a_student_writes_is_no_tag_and_no_control(text):
    for verdict in verdicts.hostile(text):
        for check in read(verdict).values():
            said = [
                check["description"],
                *check["log"],
                *map(str, (check["cause"] or {}).values()),
            ]
            assert all(plain(part) == part for part in said)
            assert "<" not in "".join(map(str, (check["cause"] or {}).values()))
