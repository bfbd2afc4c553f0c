"""--against: every report says against what, and a kept case is replayed against it."""

import html
import shlex
import xml.etree.ElementTree as ElementTree

import pytest
from refactored import FOLDER, OLD, compared, prepare, run

from rope_kv import check
from rope_kv.reports.document import document
from rope_kv.reports.html import page
from rope_kv.reports.junit import junit
from rope_kv.reports.markdown import markdown


@pytest.fixture(autouse=True)
def _prepared(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch)


def test_every_report_says_against_what_and_shows_both():
    verdict = compared(FOLDER / "preallocated_stale.py")
    assert f"against {OLD}" in str(verdict)
    assert f"against {OLD}" in repr(verdict)
    assert document(verdict)["against"] == OLD
    assert document(check(OLD, exercise=True, isolation="none"))["against"] == ""
    assert f"against `{OLD}`" in markdown(verdict)
    assert f"against {html.escape(OLD)}" in page(verdict)
    root = ElementTree.fromstring(junit(verdict))
    assert root.find(".//property[@name='against']").get("value") == OLD
    for report in (str(verdict), markdown(verdict), junit(verdict)):
        assert "old        [[" in report
        assert "new        [[" in report


def test_a_kept_case_is_replayed_against_the_old_version(capsys):
    new = str(FOLDER / "preallocated_stale.py")
    given = (new, "--against", OLD, "--no-isolate")
    _, out, _ = run(capsys, "check", *given, "--laws", "none", "--record", "kept")
    line = next(line for line in out.splitlines() if line.startswith("  replay"))
    command = shlex.split(line)[2:]
    assert command[-4:] == ["--impl", new, "--against", OLD]
    status, out, _ = run(capsys, *command)
    assert status == 1
    assert "what a returned in step 3 differs" in out
    assert run(capsys, *command[:-3], OLD, *command[-2:])[0] == 0
    status, out, _ = run(capsys, *command[:-2])
    assert (status, out) == (0, f"{new}: 0 held, 0 broken, 1 not checked of 1\n")
