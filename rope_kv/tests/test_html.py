"""The HTML report: whole, inert whatever is in it, readable, and of true pictures."""

import functools
import itertools
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rope_kv
from rope_kv import traps
from rope_kv.reports import drawing, grids, html, pictures, plots, timeline
from rope_kv.reports.html import fragment, page
from rope_kv.reports.markup import element
from rope_kv.testing.attention import Attention
from rope_kv.testing.capabilities import NOTHING_DECLARED
from rope_kv.testing.cases import DecodeCase, RotationCase
from rope_kv.testing.comparison import Broken
from rope_kv.testing.implementation import FUNCTIONS, printable
from rope_kv.testing.precision import POSITIONS, Precision
from rope_kv.testing.property import all_properties, properties_for
from rope_kv.testing.scene import Projection, Scene, Turn, Work
from rope_kv.testing.verdict import Diagnosis, Result, Verdict

BY_NAME = {prop.name: prop for prop in all_properties()}
EXERCISE = properties_for(NOTHING_DECLARED)
DECODING = "incremental_decoding_equals_the_full_forward"
ROTATION = "each_adjacent_pair_turns_by_its_own_angle"
TRAPS = ("pairs-adjacent-vs-halves", "angles-in-float32", "window-of-four", "recompute-keys")
HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
BLOCKS = {"p", "div", "dl", "ul", "table", "section", "article", "figure", "h2", "h3", "h4", "pre"}


@functools.cache
def verdict_on(name, pictures=True):
    found = traps.find_trap(name)
    verdict = rope_kv.check(found.path, isolation="none", pictures=pictures)
    return replace(verdict, diagnoses=(Diagnosis(found.function, (found,)),))


def tree(text):
    """The page as XML: every element is closed, every attribute quoted, every letter allowed."""
    return ElementTree.fromstring(text)


def tags(text):
    return [node.tag.removeprefix(SVG) for node in tree(text).iter()]


class Tags(HTMLParser):
    """The elements of a page as a reader of HTML sees them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("name", TRAPS)
def test_a_page_is_well_formed_and_each_id_is_there_once(name):
    text = page(verdict_on(name))
    root = tree(text)
    seen = Tags(text)
    assert [tag.lower() for tag in tags(text)] == seen.tags
    assert not {one for one in seen.attributes if one.startswith("on")}
    assert seen.attributes.isdisjoint({"src", "srcset", "action"})
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    for node in root.iter():
        for name, value in node.items():
            if name.endswith("href"):
                assert value.removeprefix("#") in ids
            if name in ("aria-labelledby", "aria-describedby"):
                assert value in ids
            for used in re.findall(r"url\(#([^)]*)\)", value):
                assert used in ids
        if node.tag == "p":
            assert BLOCKS.isdisjoint(child.tag for child in node.iter() if child is not node)


@pytest.mark.parametrize("name", TRAPS)
def test_a_page_can_be_read_without_seeing_it(name):
    root = tree(page(verdict_on(name)))
    assert root.get("lang") == "en"
    levels = [int(n.tag[1]) for n in root.iter() if re.fullmatch("h[1-6]", n.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    drawn = list(root.iter(f"{SVG}svg"))
    assert drawn
    assert all(one.get("role") == "img" and one.get("aria-labelledby") for one in drawn)
    for caption in root.iter("figcaption"):
        assert re.search(r"\d", caption.text)
    for table in root.iter("table"):
        assert [cell.get("scope") for cell in table.find("thead").iter("th")]
        assert {cell.get("scope") for cell in table.find("tbody").iter("th")} == {"row"}
    skip = next(root.find("body").iter("a"))
    assert skip.get("href") == "#rk-broken"


def test_the_verdict_and_what_the_mistake_is_come_first():
    verdict = verdict_on("window-of-four")
    text = page(verdict)
    found = traps.find_trap("window-of-four")
    told = ("FAIL", found.name, found.slip, found.misconception, found.hint, "rope_freqs",
            BY_NAME[DECODING].law, "0.4034", BY_NAME[DECODING].catches)  # fmt: skip
    body = text[text.index("<main") :]
    places = [body.index(str(element("p", one))[3:-4]) for one in told]
    assert places == sorted(places)


def test_a_diagnosis_says_what_was_measured_and_which_traps_cannot_be_told_apart():
    two = tuple(traps.find_trap(name) for name in ("window-of-four", "ring-of-64"))
    measured = "Turned by 2·θ where θ is due."
    verdict = replace(
        verdict_on("window-of-four"),
        diagnoses=(Diagnosis("decode_incremental", two), Diagnosis("apply_rope", (), (measured,))),
    )
    text = page(verdict)
    assert "decode_incremental looks like window-of-four or ring-of-64" in text
    assert "Nothing that was tried tells these apart." in text
    assert f"<li>{measured}</li>" in text


def hostile(text):
    """A verdict with some text in every place to which others can write."""
    broken = Broken(text, expected=np.eye(2), yours=np.zeros((2, 2)), at=(0, 0), ratio_at=1e9)
    case = RotationCase(((1.0, 0.0),), (1,), 10000)
    results = (
        Result(BY_NAME[ROTATION], "broken", counterexample=case, broken=broken, message=text,
               saved_as=text, by_chance=True),
        Result(BY_NAME[DECODING], "broken", broken=Broken(text, "missing"), message=text),
        Result(BY_NAME["rotation_is_linear"], "not_run", message=text),
        Result(BY_NAME["position_0_leaves_a_row_as_it_is"], "error", message=text),
    )  # fmt: skip
    diagnoses = (Diagnosis("apply_rope", (), (text,)),)
    return Verdict(text, "GRADER_ERROR", text, text, 1.0, results, text, diagnoses)


HARMLESS = "a word"


@settings(max_examples=300, deadline=None)
@given(
    text=st.one_of(
        st.text(min_size=1, max_size=40),
        st.text(st.characters(categories=["Cc", "Cf", "Cs", "Co", "Zl", "Zp"]), min_size=1),
        st.lists(
            st.sampled_from(
                ["<script>alert(1)</script>", '"', "'", "-->", "<!--", "]]>", "&amp;", "&#0;",
                 "</style>", "</title>", "<svg onload=x>", "\x00", "\x1b[2J", "\u202e", "`",
                 "{", "\ud800"]
            ),
            min_size=1,
        ).map("".join),
    )
)  # fmt: skip
def test_text_of_others_is_nothing_but_text(text):
    for report in (page, fragment):
        shown = report(hostile(text))
        assert tags(shown) == tags(report(hostile(HARMLESS)))
        assert Tags(shown).tags == Tags(report(hostile(HARMLESS))).tags
        assert Tags(shown).attributes == Tags(report(hostile(HARMLESS))).attributes
        shown.encode("utf-8")
        said = [" ".join("".join(node.itertext()).split()) for node in tree(shown).iter("li")]
        assert " ".join(printable(text).split()) in said


def test_a_page_forbids_scripts_and_the_network():
    text = page(verdict_on("window-of-four"))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src &#x27;none&#x27;" in policy
    assert "script" not in re.sub("Content-Security-Policy.*?/>", "", text)
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    assert "@import" not in text


@pytest.mark.parametrize("word", ["PASS", "LOAD_ERROR", "NOT_RUN"])
def test_a_verdict_without_anything_broken_is_a_page_too(word, tmp_path):
    if word == "PASS":
        verdict = rope_kv.check("rope_kv.traps._model")
    elif word == "LOAD_ERROR":
        path = tmp_path / "a.py"
        path.write_text("1 / 0")
        verdict = rope_kv.check(path)
    else:
        verdict = rope_kv.check("rope_kv", time_limit=0.0)
    text = page(verdict)
    assert tree(text).find(".//h1").find("span").tail == f" {word}"
    assert "What is broken" not in text
    assert ("ZeroDivisionError" in text) == (word == "LOAD_ERROR")
    assert ("Not run:" in text) == (word == "NOT_RUN")
    assert "Skip to" not in text


def test_without_matplotlib_the_page_says_what_to_install_and_lacks_nothing_else(monkeypatch):
    verdict = verdict_on("pairs-adjacent-vs-halves")
    with_pictures = page(verdict)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    without = page(verdict)
    assert without.count(drawing.INSTALL.replace("'", "&#x27;")) == 1
    assert "<svg" not in without
    assert "<svg" in with_pictures
    headings = re.findall(r"<h[123].*?</h[123]>", without)
    assert headings == re.findall(r"<h[123].*?</h[123]>", with_pictures)
    assert re.findall("<td.*?</td>", without) == re.findall("<td.*?</td>", with_pictures)


def test_without_scenes_there_is_no_picture_and_the_page_says_why(monkeypatch):
    monkeypatch.setattr(drawing, "can_draw", lambda: pytest.fail("matplotlib was looked for"))
    verdict = verdict_on("window-of-four", pictures=False)
    assert "pictures=True" in page(verdict)
    assert "<svg" not in fragment(verdict)
    assert "pictures=True" not in fragment(verdict)


def test_a_notebook_shows_the_report_and_keeps_its_own_style():
    verdict = verdict_on("window-of-four")
    shown = verdict._repr_html_()
    assert tree(shown).get("class") == "rope-kv"
    assert "<svg" in shown
    assert "All 54" not in shown
    style = html.STYLE.read_text(encoding="utf-8")
    rules = re.sub(r"@media[^{]*\{", "", style)
    for selector in re.findall(r"([^{}]+)\{", rules):
        for one in selector.split(","):
            assert re.match(r"\s*(div)?\.rope-kv\b", one), one
    assert len(verdict_on("window-of-four", pictures=False)._repr_html_()) < 15_000
    one, other = (replace(verdict, implementation=name)._repr_html_() for name in ("a", "b"))
    ids = [set(re.findall(' id="([^"]*)"', text)) for text in (one, other)]
    assert ids[0].isdisjoint(ids[1])


def test_a_verdict_is_one_line_in_a_console():
    verdict = verdict_on("window-of-four")
    assert repr(verdict) == "<FAIL window_of_four.py: 49 held, 4 broken, 0 not checked>"


def test_a_page_is_small_and_the_same_every_time_and_matplotlib_is_left_as_it_was():
    before = matplotlib.rcParams.copy()
    verdict = verdict_on("angles-in-float32")
    assert page(verdict) == page(verdict)
    assert len(page(verdict)) < 100_000
    assert matplotlib.rcParams.copy() == before
    assert "matplotlib.pyplot" not in sys.modules
    assert "dc:date" not in page(verdict)


def test_a_page_of_very_many_failures_is_below_a_megabyte():
    weights = np.tril(np.random.RandomState(0).rand(24, 24))
    case = DecodeCase(tuple((float(t), 1.0) for t in range(24)), 10000, 0)
    results = []
    for number, prop in enumerate(EXERCISE):
        values = np.random.RandomState(number).rand(24, 24)
        results.append(
            Result(
                replaced(prop), "broken", counterexample=case,
                broken=Broken("", expected=values, yours=values + weights, at=(0, 0), ratio=9.0),
                scene=Scene(attention=Attention(case, weights, weights * values)),
            )
        )  # fmt: skip
    text = page(Verdict("a.py", "FAIL", "grade", results=tuple(results)))
    assert len(text) < 1_000_000
    assert "Pictures are of the first ones alone" in text
    assert text.count("<article>") == len(EXERCISE)


def replaced(prop):
    return prop._replace(widens="")


def test_the_same_picture_is_there_once():
    text = page(verdict_on("pairs-adjacent-vs-halves"))
    assert text.count("Each pair as an arrow in its plane</h4>") == 1
    (link,) = re.findall(r'href="#([^"]*)">Each pair as an arrow in its plane: as above', text)
    assert f'<figure id="{link}">' in text


def test_captions_say_what_the_pictures_show():
    halves = page(verdict_on("pairs-adjacent-vs-halves"))
    assert "(1, 0) should go to (0.5403, 0.8415), yours goes to (0.5403, 0)." in halves
    assert "Of 4 entries 2 differ, by 0.84 at most." in halves
    window = page(verdict_on("window-of-four"))
    assert "Output 4 should give token 0 the weight 0.166, yours gives it 0;" in window
    single = page(verdict_on("angles-in-float32"))
    assert "30 are wrong, the first at position 1;" in single
    assert "off: too little to see." in single
    keys = page(verdict_on("recompute-keys"))
    assert "project_k: 16 calls of 1, 2, 3, 4, 5, 6, … rows, 136 in all." in keys
    assert "project_q: 16 calls of 1 row." in keys


ANY_FLOAT = st.one_of(
    st.floats(width=64), st.sampled_from([0.0, 1.0, 1e308, -1e308, 5e-324, np.nan, np.inf])
)


def arrays(rows, columns):
    entries = st.lists(ANY_FLOAT, min_size=rows * columns, max_size=rows * columns)
    return entries.map(lambda values: np.array(values).reshape(rows, columns))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), rows=st.integers(1, 5), pairs=st.integers(1, 3))
def test_whatever_the_numbers_are_there_is_a_drawing_of_them(data, rows, pairs):
    expected = data.draw(arrays(rows, 2 * pairs))
    yours = data.draw(arrays(rows, 2 * pairs))
    case = RotationCase(tuple(map(tuple, expected.tolist())), tuple(range(rows)), 10000)
    square = DecodeCase(case.x, 10000, 0)
    ratios = tuple(abs(float(value)) for value in yours.ravel()[: len(POSITIONS)])
    turned = Turn(case, np.nan_to_num(expected), yours)
    weights = (np.abs(np.nan_to_num(m[:, :1])) * np.ones(rows) for m in (expected, yours))
    drawn = [
        pictures.turn(turned, "a"),
        grids.errors(expected, yours, ("expected", "yours"), "b"),
        plots.entries(expected.ravel(), yours.ravel(), ("expected", "yours"), "c"),
        plots.precision(Precision(2, 10.0, POSITIONS[: len(ratios)], ratios), "d"),
        grids.attention(Attention(square, *weights), "e"),
    ]
    for picture in drawn:
        if picture is not None:
            root = tree(picture.svg)
            values = [value for node in root.iter() for value in node.attrib.values()]
            assert not [value for value in values if re.search(r"\b(nan|inf)\b", value)]
            assert picture.caption


def test_a_history_of_calls_without_end_is_cut():
    case = DecodeCase(((1.0, 0.0),) * 300, 10000, 0)
    calls = tuple(Projection("project_q", (t + 1, 2)) for t in range(300))
    picture = timeline.work(Work(case, calls), "a")
    assert "Shown are the first 96 of 300 calls." in picture.caption
    assert "project_out is never called." in picture.caption
    assert len(picture.svg) < 30_000
    assert timeline.work(Work(case, ()), "a") is None
    odd = tuple(Projection("project_k", shape) for shape in ((), (2,), (0, 2), (3, 2, 2)))
    assert tree(timeline.work(Work(case, odd), "a").svg)
    none = (Projection("project_k", (0, 2)),)
    assert tree(timeline.work(Work(case, none), "a").svg)


def test_a_full_forward_is_never_shown_as_usual_work():
    case = DecodeCase(((1.0, 0.0),), 10000, 0)
    for name, role in (("forward_full", "yours"), ("project_q", "expected")):
        picture = timeline.work(Work(case, (Projection(name, (1, 2)),)), "a")
        assert f"fill: var(--{role})" in picture.svg
        assert ("orange, and so is forward_full." in picture.caption) == (role == "yours")


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "print"])
def test_text_and_lines_stand_out_from_what_is_behind_them(scheme):
    style = html.STYLE.read_text(encoding="utf-8")
    blocks = [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in style.split("--ink:")[1:]]
    inks = re.findall(r"--ink: (#\w{6})", style)
    colours = blocks[scheme] | {"ink": inks[scheme]}
    text = [("ink", "paper"), ("ink", "panel"), ("ink", "differs"), ("ink", "heat"),
            ("soft", "paper"), ("soft", "panel"), ("expected", "paper"), ("yours", "paper"),
            ("before", "paper"), ("pass", "paper"), ("fail", "paper")]  # fmt: skip
    for front, back in text:
        assert contrast(colours[front], colours[back]) >= 4.5, (front, back)
    assert contrast(colours["deep"], colours["paper"]) >= 3


def test_every_role_of_a_drawing_has_a_colour():
    style = html.STYLE.read_text(encoding="utf-8")
    for role in drawing.ROLES:
        assert style.count(f"--{role}:") == 3


def test_all_functions_are_in_the_page():
    root = tree(page(verdict_on("recompute-keys")))
    first = [row.find("th").text for row in root.find(".//table").find("tbody")]
    assert tuple(first) == FUNCTIONS
    assert Path(html.STYLE).is_file()
