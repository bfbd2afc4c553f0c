"""The HTML report in a browser: no error, no scrolling sideways, pictures of some size."""

import pytest
from browser import measured

import rope_kv
from rope_kv import traps
from rope_kv.reports.html import page

MEASURES = """
pictures: inside.querySelectorAll("svg").length,
...(() => {
  const pictures = [...inside.querySelectorAll("svg")];
  const texts = pictures.flatMap((one) => [...one.querySelectorAll("text")]);
  return {
    narrowest: Math.min(...pictures.map((one) => box(one).width)),
    outside: texts.filter((one) => box(one).left < box(one.ownerSVGElement).left - 2
      || box(one).right > box(one.ownerSVGElement).right + 2).map((one) => one.textContent),
    overlapping: pictures.flatMap((one) => {
      const inIt = [...one.querySelectorAll("text")].filter((text) => text.textContent.trim());
      return inIt.flatMap((a, i) => inIt.slice(i + 1).filter((b) =>
        box(a).left < box(b).right - 1 && box(b).left < box(a).right - 1
        && box(a).top < box(b).bottom - 4 && box(b).top < box(a).bottom - 4
      ).map((b) => a.textContent + " | " + b.textContent));
    }),
    smallest: Math.min(...texts.map((one) =>
      parseFloat(one.style.fontSize) * one.getScreenCTM().a)),
    folded: inside.querySelectorAll("details:not([open])").length,
  };
})(),
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a report of everything that is wide: a long history, many columns, a path."""
    folder = tmp_path_factory.mktemp("report")
    path = traps.find_trap("window-of-sixteen").path
    verdict = rope_kv.check(path, isolation="none", pictures=True, record=folder / ("long" * 20))
    rotated = rope_kv.check(
        traps.find_trap("pairs-adjacent-vs-halves").path, isolation="none", pictures=True
    )
    results = (*verdict.with_outcome("broken"), *rotated.with_outcome("broken"))
    joined = rope_kv.Verdict("name-" * 30, "FAIL", "grade", results=results)
    (folder / "report.html").write_text(page(joined), encoding="utf-8")
    return folder


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_a_page_fits_into_any_width_and_its_pictures_can_be_read(folder, width):
    told, complaints = measured(folder / "report.html", MEASURES, width)
    assert complaints == []
    assert told["wide"] <= width
    assert told["content"] <= told["wide"]
    assert told["pictures"] >= 4
    assert told["narrowest"] > 200
    assert told["outside"] == []
    assert told["overlapping"] == []
    assert told["smallest"] >= 9 or width == 320
    assert told["folded"] == 1


def test_a_page_is_dark_where_that_is_preferred(folder):
    light, _ = measured(folder / "report.html", MEASURES, 390)
    dark, complaints = measured(folder / "report.html", MEASURES, 390, dark=True)
    assert complaints == []
    assert (light["ink"], light["paper"]) == ("rgb(27, 27, 27)", "rgb(255, 255, 255)")
    assert (dark["ink"], dark["paper"]) == ("rgb(236, 236, 236)", "rgb(22, 22, 22)")


def test_a_script_would_be_refused(folder):
    """So the silence of the other tests says something."""
    text = (folder / "report.html").read_text(encoding="utf-8")
    folder = folder / "with-script"
    folder.mkdir()
    (folder / "report.html").write_text(
        text.replace("</main>", "<script>document.body.remove()</script></main>"), encoding="utf-8"
    )
    told, complaints = measured(folder / "report.html", MEASURES, 390)
    assert told["pictures"] >= 4
    assert any("Content Security Policy" in line for line in complaints)
