"""The overview in a browser: it fits, sorts, filters, and runs nothing that a student wrote."""

import classes
import pytest
from browser import measured

from rope_kv.grading.overview import page

NAMES = """[...inside.querySelectorAll("table.students tbody tr")].filter((row) => !row.hidden)
  .map((row) => row.querySelector("bdi").textContent)"""
CLICK = """const click = (label) => [...inside.querySelectorAll("table.students button")]
  .find((one) => one.textContent === label).click();"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("overview")
    facts = {"title": "Homework " + "3" * 80, "about": [("profile", "grade")], "out_of": 10.0}
    rows = [*classes.hostile(), *classes.of_size(1000)]
    (folder / "large.html").write_text(page(rows, **facts), encoding="utf-8")
    few = [
        classes.passed("student 10"),
        classes.failed("student 9"),
        classes.missing("Zoë"),
        classes.failed("ada", "decode_incremental", "TIMEOUT", looks_like=(), points=9.5),
    ]
    (folder / "few.html").write_text(page(few, **facts), encoding="utf-8")
    return folder


@pytest.mark.parametrize("width", [320, 375, 760, 1281, 1400])
def test_a_class_of_a_thousand_fits_into_any_width(folder, width):
    told, complaints = measured(
        folder / "large.html",
        """rows: inside.querySelectorAll("table.students tbody tr").length,
        shown: inside.getElementById("shown").textContent,
        outside: [...inside.querySelectorAll("main *")].filter((one) =>
          box(one).width > 0 && box(one).right > root.clientWidth + 1).length,""",
        width,
    )
    assert complaints == []
    assert told["wide"] <= width
    assert told["content"] <= told["wide"]
    assert told["outside"] == 0
    assert told["rows"] == 1000 + len(classes.HOSTILE)
    assert told["shown"] == f"{told['rows']} of {told['rows']} shown"


def test_a_click_on_a_heading_sorts_and_another_turns_it_round(folder):
    told, complaints = measured(
        folder / "few.html",
        f"""before: {NAMES},
        ...(() => {{
          {CLICK}
          const after = (label) => (click(label), {NAMES});
          const sorted = () => [...inside.querySelectorAll("[aria-sort]")]
            .map((one) => [one.textContent, one.getAttribute("aria-sort")]);
          return {{
            names: after("student"), up: sorted(), turned: after("student"), down: sorted(),
            points: after("points of 10"), most: after("points of 10"),
            verdicts: after("verdict"), last: sorted(),
          }};
        }})(),""",
        1400,
    )
    assert complaints == []
    assert told["before"] == ["student 10", "student 9", "Zoë", "ada"]
    assert told["names"] == ["ada", "student 9", "student 10", "Zoë"]
    assert told["up"] == [["student", "ascending"]]
    assert told["turned"] == told["names"][::-1]
    assert told["down"] == [["student", "descending"]]
    assert told["points"] == ["student 9", "ada", "student 10", "Zoë"]
    assert told["most"] == ["student 10", "ada", "student 9", "Zoë"]
    assert told["verdicts"] == ["student 10", "student 9", "ada", "Zoë"]
    assert told["last"] == [["verdict", "ascending"]]


def test_the_headings_can_be_reached_by_keyboard(folder):
    told, _ = measured(
        folder / "few.html",
        """buttons: [...inside.querySelectorAll("thead button")].map((one) => {
          one.focus(); return inside.activeElement === one ? one.tabIndex : -1; }),
        headings: inside.querySelectorAll("thead th").length,""",
        1400,
    )
    assert told["buttons"] == [0] * told["headings"]


def test_a_word_and_a_verdict_filter_the_students(folder):
    told, complaints = measured(
        folder / "few.html",
        f"""...(() => {{
          const find = inside.getElementById("find");
          const verdict = inside.getElementById("verdict");
          const set = (one, value, event) => {{
            one.value = value; one.dispatchEvent(new Event(event)); return {NAMES};
          }};
          return {{
            words: set(find, " STUDENT ", "input"), both: set(verdict, "FAIL", "change"),
            one: set(find, "", "input"), shown: inside.getElementById("shown").textContent,
            none: set(find, "nobody", "input"), all: (set(find, "", "input"),
              set(verdict, "", "change")),
            options: [...verdict.options].map((one) => one.textContent),
          }};
        }})(),""",
        375,
    )
    assert complaints == []
    assert told["words"] == ["student 10", "student 9"]
    assert told["both"] == told["one"] == ["student 9"]
    assert told["shown"] == "1 of 4 shown"
    assert told["none"] == []
    assert len(told["all"]) == 4
    assert told["options"] == ["any", "PASS (1)", "FAIL (1)", "TIMEOUT (1)", "MISSING (1)"]


def test_a_page_is_dark_where_that_is_preferred(folder):
    light, _ = measured(folder / "few.html", "", 375)
    dark, complaints = measured(folder / "few.html", "", 375, dark=True)
    assert complaints == []
    assert (light["ink"], light["paper"]) == ("rgb(27, 27, 27)", "rgb(255, 255, 255)")
    assert (dark["ink"], dark["paper"]) == ("rgb(236, 236, 236)", "rgb(22, 22, 22)")


def test_without_its_script_all_is_there_and_nothing_that_needs_it(folder):
    text = (folder / "few.html").read_text(encoding="utf-8")
    start, end = text.index("<script>"), text.index("</script>")
    bare = folder / "bare.html"
    bare.write_text(text[:start] + text[end + len("</script>") :], encoding="utf-8")
    told, complaints = measured(
        bare,
        f"""names: {NAMES}, filter: box(inside.querySelector(".filter")).height,
        headings: box(inside.querySelector("thead")).height,""",
        375,
    )
    assert complaints == []
    assert told["names"] == ["student 10", "student 9", "Zoë", "ada"]
    assert told["filter"] == told["headings"] == 0
    assert told["content"] <= told["wide"]


@pytest.mark.parametrize("added", ["<script>document.body.remove()</script>",
                                   "<style>body { color: red !important }</style>"])  # fmt: skip
def test_another_script_or_style_would_be_refused(folder, added):
    """So the silence of the other tests says something."""
    text = (folder / "few.html").read_text(encoding="utf-8")
    page = folder / "with-more.html"
    page.write_text(text.replace("</main>", f"{added}</main>"), encoding="utf-8")
    told, complaints = measured(page, f"names: {NAMES},", 375)
    assert len(told["names"]) == 4
    assert told["ink"] == "rgb(27, 27, 27)"
    assert any("Content Security Policy" in line for line in complaints)
