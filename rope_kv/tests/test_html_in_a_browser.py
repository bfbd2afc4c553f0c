"""The HTML report in a browser: no error, no scrolling sideways, pictures of some size."""

import html
import json
import re
import shutil
import subprocess

import pytest

import rope_kv
from rope_kv import traps
from rope_kv.reports.html import page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

# A page around the report, whose own policy forbids a script: this one measures it from outside.
AROUND = """<!DOCTYPE html><meta charset="utf-8">
<iframe id="frame" src="report.html" style="border:0; width:{width}px; height:900px"></iframe>
<pre id="told">nothing</pre>
<script>
frame.onload = () => {{
  const inside = frame.contentDocument, root = inside.documentElement;
  const pictures = [...inside.querySelectorAll("svg")];
  const box = (one) => one.getBoundingClientRect();
  const texts = pictures.flatMap((one) => [...one.querySelectorAll("text")]);
  told.textContent = JSON.stringify({{
    wide: root.clientWidth, content: root.scrollWidth, pictures: pictures.length,
    narrowest: Math.min(...pictures.map((one) => box(one).width)),
    outside: texts.filter((one) => box(one).left < box(one.ownerSVGElement).left - 2
      || box(one).right > box(one.ownerSVGElement).right + 2).map((one) => one.textContent),
    overlapping: pictures.flatMap((one) => {{
      const inIt = [...one.querySelectorAll("text")].filter((text) => text.textContent.trim());
      return inIt.flatMap((a, i) => inIt.slice(i + 1).filter((b) =>
        box(a).left < box(b).right - 1 && box(b).left < box(a).right - 1
        && box(a).top < box(b).bottom - 4 && box(b).top < box(a).bottom - 4
      ).map((b) => a.textContent + " | " + b.textContent));
    }}),
    smallest: Math.min(...texts.map((one) =>
      parseFloat(one.style.fontSize) * one.getScreenCTM().a)),
    ink: getComputedStyle(inside.body).color, paper: getComputedStyle(inside.body).backgroundColor,
    folded: inside.querySelectorAll("details:not([open])").length,
  }});
}};
</script>
"""


def measured(folder, width, dark=False):
    """What a browser makes of a report at some width, and what it has to complain of."""
    around = folder / f"around-{width}-{dark}.html"
    around.write_text(AROUND.format(width=width), encoding="utf-8")
    done = subprocess.run(
        [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--allow-file-access-from-files", "--enable-logging=stderr", "--dump-dom",
            "--virtual-time-budget=3000", f"--user-data-dir={folder / 'profile'}",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--window-size=1400,1000",
            around.as_uri(),
        ],
        capture_output=True, text=True, encoding="utf-8", timeout=120,
    )  # fmt: skip
    told = re.search('<pre id="told">(.*?)</pre>', done.stdout, re.S)
    assert told is not None, done.stderr
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(told[1])), complaints


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
    told, complaints = measured(folder, width)
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
    light, _ = measured(folder, 390)
    dark, complaints = measured(folder, 390, dark=True)
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
    told, complaints = measured(folder, 390)
    assert told["pictures"] >= 4
    assert any("Content Security Policy" in line for line in complaints)
