"""The overview of a class: it counts rightly, is well-formed, and harmless whatever is in it."""

import re
from urllib.parse import unquote
from xml.etree import ElementTree

import classes
import pytest
import verdicts
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_kv.grading import tallies
from rope_kv.grading.overview import FOLDER, page, policy
from rope_kv.grading.rows import Row
from rope_kv.reports.html import STYLE
from rope_kv.testing.implementation import FUNCTIONS
from rope_kv.traps import find_trap

CLASS = [
    classes.passed("ada"),
    classes.passed("bob", identical=("cy",)),
    classes.failed("cy", identical=("bob",)),
    classes.failed("di"),
    classes.failed("eve", "decode_incremental", looks_like=classes.UNTOLD),
    classes.failed("fay", "decode_incremental", "TIMEOUT", looks_like=(), message="no answer"),
    classes.missing("gus"),
]


def made(rows, **facts):
    facts = {"title": "Homework 3", "about": [("profile", "grade")], "out_of": 10.0, **facts}
    return page(rows, **facts)


def tree(text):
    return ElementTree.fromstring(text)


def words(node):
    return " ".join(" ".join(node.itertext()).split()).replace(" ,", ",")


def of_class(root, name):
    return [one for one in root.iter() if name in (one.get("class") or "").split()]


def test_a_page_says_how_many_pass_fail_and_could_not_be_judged():
    (counts,) = of_class(tree(made(CLASS)), "counts")
    assert [words(one) for one in counts] == [
        "2 pass",
        "4 fail 3 FAIL, 1 TIMEOUT",
        "1 could not be judged 1 MISSING",
    ]


def test_every_verdict_is_a_pass_a_failure_or_open_and_only_pass_is_a_pass():
    kinds = {word: tallies.kind(Row("x", "", word)) for word in (*verdicts_known(), "NEW")}
    assert [word for word, of in kinds.items() if of == "pass"] == ["PASS"]
    assert {word for word, of in kinds.items() if of == "open"} == {
        "NOT_RUN",
        "GRADER_ERROR",
        "MISSING",
        "NEW",
    }


def verdicts_known():
    from typing import get_args

    from rope_kv.testing.verdict import Word

    return (*get_args(Word), "MISSING")


def test_a_page_says_how_it_was_graded_and_what_points_there_are():
    head = next(tree(made(CLASS)).iter("header"))
    assert "students 7 profile grade points mean 7.33, median 6, of 10" in words(head)
    without = [row._replace(points=None) for row in CLASS]
    text = made(without, out_of=None)
    assert "points" not in words(next(tree(text).iter("header")))
    assert len(of_class(tree(text), "points")) == 0


def test_mistakes_are_ranked_with_what_they_are_and_who_made_them():
    mistakes, same = of_class(tree(made(CLASS)), "mistakes")
    first, second = map(words, mistakes)
    assert first == (
        f"2 of 7 pairs-adjacent-vs-halves in apply_rope {find_trap(classes.HALVES[0]).slip} cy, di"
    )
    slips = " ".join(find_trap(name).slip for name in classes.UNTOLD)
    untold = "recompute-all or recompute-keys in decode_incremental"
    assert second == f"1 of 7 {untold} {slips} eve"
    assert words(same) == "2 files bob, cy"


def test_a_mistake_of_many_is_folded():
    text = made([classes.failed(f"student {i}") for i in range(13)])
    (mistakes,) = of_class(tree(text), "mistakes")
    assert words(next(mistakes.iter("summary"))) == "13 students"


def test_each_property_is_there_with_its_law_and_how_many_obey_it():
    root = tree(made(CLASS))
    rows = [row for table in of_class(root, "tallies") for row in table.iter("tr")]
    order = [prop.title for name in FUNCTIONS for prop in classes.PROPERTIES
             if prop.function == name]  # fmt: skip
    assert [row[0].text for row in rows] == order
    told = {row[0].text: words(row[1]) for row in rows}
    laws = {row[0].text: words(row[0][0]) for row in rows}
    for prop in classes.PROPERTIES:
        broken = {"rope_freqs": 0, "apply_rope": 2, "decode_incremental": 2}[prop.function]
        assert told[prop.title] == ("6 of 6" if not broken else f"4 of 6 {broken} broken")
        assert laws[prop.title] == " ".join(prop.law.split())


def test_what_was_not_found_out_is_neither_held_nor_broken():
    outcomes = {"each_pair_keeps_its_length": "not_run", "a_new": "error", "another": "known"}
    row = classes.passed("ada")._replace(outcomes=outcomes)
    first, *others = tallies.tallies([row, classes.passed("bob")])
    assert (first.function, first.held, first.unknown) == ("rope_freqs", 1, 0)
    found = {one.title: one for one in others}
    assert found["each pair keeps its length"][3:] == (1, 0, 1)
    assert found["a new"] == ("", "a new", "", 0, 0, 1)
    assert found["another"].held == 1


def test_a_bar_is_as_long_as_its_parts():
    root = tree(made(CLASS))
    for bar in of_class(root, "bar"):
        widths = [int(one.get("width")) for one in bar]
        assert bar.get("viewBox") == f"0 0 {sum(widths)} 1"
        assert [int(one.get("x")) for one in bar] == [sum(widths[:i]) for i in range(len(widths))]
    assert [int(one.get("width")) for one in of_class(root, "bar")[0]] == [2, 4, 1]


def test_each_student_has_a_row_with_links_to_the_reports():
    rows = of_class(tree(made(CLASS)), "students")[0].find("tbody")
    assert [words(row.find("th/a")) for row in rows if row.find("th/a") is not None] == [
        row.name for row in CLASS if row.report
    ]
    links = [link.get("href") for link in rows[0].iter("a")]
    assert links == ["./reports/ada.html", "./reports/ada.txt", "./reports/ada.json"]
    assert list(rows[6].iter("a")) == []
    assert "no .py file in the folder: it is empty" in words(rows[6])


@pytest.mark.parametrize(
    "report", ["reports/Zoë #1?%20", "//evil.example/x", "javascript:x", "\udcff"]
)
def test_a_link_leads_to_the_report_beside_the_page_whatever_it_is_called(report):
    rows = of_class(tree(made([classes.passed("ada", report=report)])), "students")[0].find(
        "tbody"
    )
    href = next(rows.iter("a")).get("href")
    assert re.fullmatch(r"\./[A-Za-z0-9_.~%/-]+", href)
    assert unquote(href, errors="surrogateescape") == f"./{report}.html"


def test_every_cell_is_under_its_heading():
    table = of_class(tree(made(CLASS)), "students")[0]
    headings = [words(one) for one in table.find("thead/tr")]
    assert headings == [
        "student", "verdict", "points of 10", *FUNCTIONS, "broken", "looks like", "identical to",
        "message",
    ]  # fmt: skip
    for row in table.find("tbody"):
        assert [cell.get("data-label") for cell in row] == headings


def test_the_policy_allows_what_is_in_the_page_and_nothing_else():
    root = tree(made(CLASS))
    (style,), (script,) = list(root.iter("style")), list(root.iter("script"))
    stated = next(one for one in root.iter("meta") if one.get("http-equiv")).get("content")
    assert stated == policy(style.text, script.text)
    assert "unsafe" not in stated
    assert style.text == STYLE.read_text("utf-8") + (FOLDER / "overview.css").read_text("utf-8")
    assert not any(one.get("style") for one in root.iter())


def test_the_same_class_gives_the_same_page_and_nobody_at_all_gives_one():
    assert made(CLASS) == made(list(CLASS))
    (counts,) = of_class(tree(made([], out_of=None)), "counts")
    assert words(counts) == "0 pass 0 fail 0 could not be judged"


def test_what_means_harm_is_text():
    text = made(classes.hostile(), title=classes.HOSTILE[0], about=[(classes.HOSTILE[1],) * 2])
    root = tree(text)
    assert [one.tag for one in root.iter("script")] == ["script"]
    assert not list(root.iter("img"))
    assert "\u202e" not in text


@settings(max_examples=40)
@given(said=st.lists(verdicts.hostile_texts(), min_size=6, max_size=6))
def test_whatever_students_write_the_page_is_well_formed_and_has_the_same_elements(said):
    name, file, message, other, trap, state = said
    plain = Row("a", "b", "FAIL", "c", {"apply_rope": "d"}, {"apply_rope": ("e",)}, {},
                ("f",), None, "g")  # fmt: skip
    row = Row(
        name, file or "b", "FAIL", message, {"apply_rope": state or "d"}, {"apply_rope": (trap,)},
        {}, (other,), None, "g",
    )  # fmt: skip
    found, expected = tree(made([row])), tree(made([plain]))
    assert [one.tag for one in found.iter()] == [one.tag for one in expected.iter()]
    assert [sorted(one.keys()) for one in found.iter()] == [
        sorted(one.keys()) for one in expected.iter()
    ]
