"""The JUnit report: what CI systems accept, whatever a student wrote."""

import sys
import xml.etree.ElementTree as ET

import pytest
import verdicts
from hypothesis import given, settings

from rope_kv.reports.junit import junit
from rope_kv.testing.plain import plain

# What the plugins of Jenkins accept, which are the strictest: children, needed and other
# attributes.
DIALECT = {
    "testsuites": (("testsuite",), (), ("name", "time", "tests", "failures", "errors")),
    "testsuite": (
        ("properties", "testcase", "system-out"),
        ("name", "tests", "failures", "errors"),
        ("time", "skipped"),
    ),
    "properties": (("property",), (), ()),
    "property": ((), ("name", "value"), ()),
    "testcase": (("failure", "error", "skipped", "system-out"), ("name",), ("classname", "time")),
    "failure": ((), (), ("type", "message")),
    "error": ((), (), ("type", "message")),
    "skipped": ((), (), ("type", "message")),
    "system-out": ((), (), ()),
}


def read(verdict):
    """The report, parsed, after a look at its form."""
    root = ET.fromstring(junit(verdict).encode("utf-8"))
    assert root.tag == "testsuites"
    for element in root.iter():
        children, needed, others = DIALECT[element.tag]
        assert {child.tag for child in element} <= set(children)
        assert set(needed) <= set(element.attrib) <= {*needed, *others}
    for parent in (root, root[0]):
        cases = list(root.iter("testcase"))
        assert parent.get("tests") == str(len(cases))
        for word, tag in (("failures", "failure"), ("errors", "error")):
            assert parent.get(word) == str(sum(case.find(tag) is not None for case in cases))
        assert float(parent.get("time")) >= 0
    return root


def outcomes(root):
    """The tag of what each test case came to, by name; "" for one that passed."""
    tags = ("failure", "error", "skipped")
    return {
        case.get("name"): next((tag for tag in tags if case.find(tag) is not None), "")
        for case in root.iter("testcase")
    }


def title(name):
    return verdicts.BY_NAME[name].title


@pytest.mark.parametrize("verdict", verdicts.ALL)
def test_every_verdict_has_the_form_that_ci_systems_read(verdict):
    root = read(verdict())
    assert root.find("testsuite/properties/property[@name='verdict']").get("value") == (
        verdict().verdict
    )
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names)


def test_a_wrong_answer_is_a_failure_with_its_text_and_the_mistake():
    root = read(verdicts.diagnosed())
    found = outcomes(root)
    assert found.pop(title(verdicts.TURNS)) == found.pop(title(verdicts.KEEPS_LENGTH)) == "failure"
    assert set(found.values()) == {""}
    failure = root.find(f".//testcase[@name='{title(verdicts.TURNS)}']/failure")
    assert failure.get("type") == "value"
    assert failure.get("message") == (
        "apply_rope([[1, 0, 0, 0]], positions=[1]): the error is 4e+15 times the rounding bound"
    )
    said = " ".join(failure.text.split())
    for trap in (verdicts.HALVES, verdicts.OPPOSITE):
        for sentence in (f"{trap.name}: {trap.slip}", trap.misconception, trap.hint):
            assert sentence in said
    assert "yours [[ 0.5403 0 0.8415 0 ]]" in said
    assert "FAIL  51 held, 2 broken" in root.find("testsuite/system-out").text


def test_what_ended_the_process_is_an_error_and_what_was_not_run_is_skipped():
    for verdict, name, tag, kind in (
        (verdicts.crashed(), verdicts.FIRST, "error", "crash"),
        (verdicts.forged(), verdicts.FIRST, "error", "protocol"),
        (verdicts.faulty(), verdicts.FIRST, "error", "GRADER_ERROR"),
        (verdicts.not_run(), verdicts.EQUALS, "skipped", "not_run"),
    ):
        root = read(verdict)
        assert {n: t for n, t in outcomes(root).items() if t} == {title(name): tag}
        assert root.find(f".//testcase/{tag}").get("type") == kind
    assert root[0].get("skipped") == "1"


def test_advice_and_what_a_lower_function_explains_fail_nothing():
    root = read(verdicts.passed())
    assert set(outcomes(root).values()) == {""}
    advice = root.find(f".//testcase[@name='{title(verdicts.ADVICE)}']/system-out")
    assert "row 1 was touched before" in advice.text
    root = read(verdicts.failed())
    lower = root.find(f".//testcase[@name='{title(verdicts.EQUALS)}']/system-out")
    assert lower.text == "wrong only because apply_rope is"


def test_code_that_does_not_load_is_one_error_and_no_empty_suite():
    root = read(verdicts.unloaded())
    assert outcomes(root) == {"the code loads": "error"}
    assert "SyntaxError (line 3)" in root.find(".//error").text


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("solution.py", "solution"),
        ("class/ana b.py", "ana_b"),
        ("solution.py:Mine", "solution.Mine"),
        ("mylib.rotary", "mylib.rotary"),
        ("mylib.testing:adapter", "mylib.testing_adapter"),
        ("..", "implementation"),
    ],
)
def test_cases_are_grouped_by_implementation_and_function(name, package):
    root = read(verdicts.verdict_of(name=name))
    classes = {case.get("classname") for case in root.iter("testcase")}
    assert classes == {f"{package}.{f}" for f in verdicts.passed().functions}


@settings(deadline=None, max_examples=200)
@given(verdicts.hostile_texts())
def test_whatever_a_student_writes_gives_a_file_that_is_read(text):
    for verdict in verdicts.hostile(text):
        root = read(verdict)
        assert root[0].get("name") == plain(" ".join(text.split()))
        assert len(root[0].findall("testcase")) == (len(verdict.results) or 1)


def test_plain_text_has_no_letter_that_xml_refuses_or_a_terminal_obeys():
    everything = plain("".join(map(chr, range(sys.maxunicode + 1))))
    assert ET.fromstring(f"<a>{everything.replace('&', '').replace('<', '')}</a>").text
    assert everything.encode("utf-8")
    assert all(letter == "\n" or letter.isprintable() for letter in everything)
    assert plain("θ·x\n\x1b[31m\ud800") == "θ·x\n\\x1b[31m\\xd800"
