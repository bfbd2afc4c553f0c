"""The Markdown report: what it says, and that no student's text is markup in it."""

import re

import pytest
import verdicts
from hypothesis import given, settings
from markdown_it import MarkdownIt

from rope_kv.reports.markdown import BEGIN, END, MOST, code, fenced, markdown, prose
from rope_kv.testing.plain import one_line, plain

# As GitHub reads it: tables, and links made of whatever looks like an address.
GITHUB = MarkdownIt("gfm-like")


def blocks(text):
    """The kinds of the blocks, and the code and text in them."""
    tokens = GITHUB.parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    return tokens, inline


def sentences(text):
    """What a reader sees, in one line."""
    tokens, inline = blocks(text)
    fences = [token.content for token in tokens if token.type == "fence"]
    return " ".join(" ".join([*(child.content for child in inline), *fences]).split())


@pytest.mark.parametrize("verdict", verdicts.ALL)
def test_every_verdict_begins_and_ends_as_a_report_and_names_its_verdict(verdict):
    report = markdown(verdict())
    assert report.startswith(f"{BEGIN}\n\n### rope_kv: {verdict().verdict} for `solution.py`\n")
    assert report.endswith(f"\n{END}\n")


def test_a_failure_has_its_law_its_smallest_case_and_both_answers_in_code():
    report = markdown(verdicts.failed())
    assert "| `apply_rope` | broken | 19 of 21 properties hold |" in report
    section = report.split("#### each adjacent pair turns by its own angle\n")[1].split("####")[0]
    assert section.strip().splitlines()[:6] == [
        "```text",
        "law        (x₂ᵢ + j·x₂ᵢ₊₁) ↦ (x₂ᵢ + j·x₂ᵢ₊₁)·exp(j·p·θᵢ)",
        "smallest   apply_rope([[1, 0, 0, 0]], positions=[1])",
        "expected   [[ 0.5403  0.8415  0       0 ]]",
        "yours      [[ 0.5403  0       0.8415  0 ]]",
        "differs    first at [0, 1], 3·10¹⁴ times the rounding bound",
    ]
    assert "\n51 held, 2 broken, 0 not checked in 3.9 s (" in report


def test_the_mistake_is_told_once_for_its_function():
    verdict = verdicts.diagnosed()
    said = sentences(markdown(verdict))
    for trap in (verdicts.HALVES, verdicts.OPPOSITE):
        assert said.count(trap.name) == 2  # in the table of functions as well
        for sentence in (trap.slip, trap.misconception, trap.hint):
            assert said.count(sentence) == 1
    wrong = verdicts.broken(verdicts.FIRST)
    said = sentences(markdown(verdicts.verdict_of(wrong, diagnoses=verdict.diagnoses)))
    assert "each angle is 1.1 times the right one" in said


def test_what_has_no_failure_says_why_there_is_no_pass():
    for verdict, why in (
        (verdicts.not_run(), "not run: the time limit of 60 s was reached"),
        (verdicts.unloaded(), "it raised SyntaxError (line 3)"),
        (verdicts.faulty(), "ValueError: no such bound (a fault of rope_kv: please report it)"),
    ):
        assert f"```text\n{why}\n```" in markdown(verdict).replace(f"{verdicts.FIRST}: ", "")


def test_a_report_fits_in_a_comment_and_has_every_title():
    wrong = [
        verdicts.broken(name, "calls", f"{'a' * 4000} {name}")
        for name, prop in verdicts.BY_NAME.items()
        if not prop.widens
    ]
    report = markdown(verdicts.verdict_of(*wrong))
    assert 0.9 * MOST < len(report) < 65_536
    for result in wrong:
        assert f"#### {result.property.title}" in report
    assert "had no room here" in report
    assert "had no room here" not in markdown(verdicts.failed())


@settings(deadline=None, max_examples=300)
@given(verdicts.hostile_texts().filter(str.strip))
def test_whatever_a_student_writes_is_code_and_nothing_else(text):
    for verdict, harmless in zip(verdicts.hostile(text), verdicts.hostile("a"), strict=True):
        tokens, inline = blocks(markdown(verdict))
        usual, usual_inline = blocks(markdown(harmless))
        assert [token.type for token in tokens] == [token.type for token in usual]
        html = [token.content.strip() for token in tokens if token.type == "html_block"]
        assert html == [BEGIN, END]
        assert {child.type for child in inline} <= {
            "text", "text_special", "code_inline", "strong_open", "strong_close"
        }  # fmt: skip
        for kind in ("text", "text_special"):
            assert [child.content for child in inline if child.type == kind] == [
                child.content for child in usual_inline if child.type == kind
            ]
        said = "".join(token.content for token in tokens if token.type == "fence")
        assert plain(text) in said or one_line(text) in said


@settings(deadline=None)
@given(verdicts.hostile_texts())
def test_code_holds_any_text_as_it_is(text):
    (block,) = GITHUB.parse(fenced(text))
    assert block.type == "fence"
    assert block.content == plain(text) + "\n"
    (span,) = GITHUB.parseInline(code(text))[0].children
    assert span.type == "code_inline"
    assert span.content == (one_line(text) or "?")


@settings(deadline=None)
@given(verdicts.hostile_texts())
def test_prose_is_text_with_no_markup(text):
    (block,) = GITHUB.parseInline(f"a {prose(text)} z")
    assert {child.type for child in block.children} <= {"text", "text_special"}
    assert "".join(child.content for child in block.children) == f"a {one_line(text)} z"


def test_our_own_sentences_name_nobody():
    from rope_kv import traps

    for trap in traps.all_traps():
        said = f"{trap.slip} {trap.misconception} {trap.hint}"
        assert not re.search(r"(?<!\w)@\w|https?:|www\.", said), trap.name
