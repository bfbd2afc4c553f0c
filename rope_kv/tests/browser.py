"""A page in a browser: measured from a page around it, whose script its own policy forbids."""

import html
import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

AROUND = """<!DOCTYPE html><meta charset="utf-8">
<iframe id="frame" src="{page}" style="border:0; width:{width}px; height:900px"></iframe>
<pre id="told">nothing</pre>
<script>
const measure = (inside) => {{
  const root = inside.documentElement;
  const box = (one) => one.getBoundingClientRect();
  return {{
    wide: root.clientWidth, content: root.scrollWidth,
    ink: getComputedStyle(inside.body).color, paper: getComputedStyle(inside.body).backgroundColor,
    {measures}
  }};
}};
frame.onload = () => {{ told.textContent = JSON.stringify(measure(frame.contentDocument)); }};
</script>
"""


def measured(page, measures, width, dark=False):
    """What a browser makes of a page at some width, and what it has to complain of.

    `measures` are the fields of an object in JavaScript, which may use `inside`, the document.
    """
    around = page.with_name(f"around-{width}-{dark}.html")
    around.write_text(
        AROUND.format(page=page.name, width=width, measures=measures), encoding="utf-8"
    )
    done = subprocess.run(
        [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--allow-file-access-from-files", "--enable-logging=stderr", "--dump-dom",
            "--virtual-time-budget=3000", f"--user-data-dir={page.with_name('profile')}",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--window-size=1400,1000",
            around.as_uri(),
        ],
        capture_output=True, text=True, encoding="utf-8", timeout=120,
    )  # fmt: skip
    told = re.search('<pre id="told">(.*?)</pre>', done.stdout, re.S)
    assert told is not None, done.stderr
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(told[1])), complaints
