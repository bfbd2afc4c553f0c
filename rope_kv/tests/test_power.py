"""The power table: it is what the properties do, and it can be read."""

import json
import random
import re
import sys
from pathlib import Path

import pytest

from rope_kv import traps
from rope_kv.cli import main
from rope_kv.grading.work import versions
from rope_kv.power.argued import ARGUED
from rope_kv.power.measuring import catches
from rope_kv.power.table import STORED, Catch, Power, PowerError, read, stored, written
from rope_kv.reports import power as told
from rope_kv.reports.power_page import page
from rope_kv.testing.property import all_properties

README = Path(__file__).parents[2] / "README.md"
SAMPLE = 3  # traps that are measured again in each run
# Who draws other cases finds in time what took so few of them.
SOON = 5
MEASURE = "rope-kv power --json rope_kv/power/measured.json"
ROW, COLUMN = "each_adjacent_pair_turns_by_its_own_angle", "positions-ignored"
SMALL = Power(
    "grade",
    {"numpy": "2"},
    (ROW, "each_pair_keeps_its_length", "rotation_is_linear"),
    (COLUMN, "reflection"),
    (
        Catch(ROW, COLUMN, 3, 4),
        Catch("rotation_is_linear", COLUMN, 2, 9),
        Catch(ROW, "reflection", 3, 4),
    ),
)


def test_the_stored_table_is_of_these_properties_and_traps():
    judged = tuple(prop.name for prop in all_properties() if not prop.advice)
    names = tuple(trap.name for trap in traps.all_traps())
    assert (stored().properties, stored().traps) == (judged, names), f"stale: {MEASURE}"


def test_every_trap_is_caught():
    assert [name for name, found in stored().by_trap().items() if not found] == []


def test_every_property_adds_something_or_says_why_it_is_kept():
    adds_nothing = {name for name, added in stored().added().items() if not added}
    assert adds_nothing == set(ARGUED)
    assert all(reason.endswith(".") and len(reason) > 20 for reason in ARGUED.values())


# What is found again by id depends on what else is in memory.
BY_ID = ("identity", "id")


def test_a_few_traps_measured_again_give_what_is_stored():
    for name in random.sample(stored().traps, SAMPLE):
        found, before = catches(name), stored().of((name,)).catches
        assert found, name
        if name.endswith(BY_ID):
            continue
        # How small a case gets may depend on the machine, where calls are slow.
        after = {catch.property: catch.after for catch in found}
        was_after = {catch.property: catch.after for catch in before}
        if versions() != stored().versions:
            was_after = {prop: cases for prop, cases in was_after.items() if cases <= SOON}
            after = {prop: was_after[prop] for prop in after if prop in was_after}
        assert after == was_after, f"{name}, stale: {MEASURE}"


@pytest.mark.skipif(not README.is_file(), reason="the README is only in a clone")
def test_the_readme_has_the_table_in_short():
    readme = README.read_text(encoding="utf-8")
    assert told.summary(stored()) in readme, "stale: rope-kv power --stored --markdown -"


def test_a_table_is_read_as_it_was_written():
    assert read(written(SMALL)) == SMALL
    assert written(stored()) == STORED.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "document", ["", "[]", "{}", '{"form": "other"}', '{"form": "rope_kv power", "traps": 3}']
)
def test_what_is_no_table_is_told_so(document):
    with pytest.raises(PowerError, match="no table of rope_kv power"):
        read(document)


def test_what_a_property_adds_is_what_no_other_does():
    added = SMALL.added()
    assert added[ROW].alone == ("reflection",)
    assert added[ROW].smallest == (COLUMN,)
    assert added["rotation_is_linear"].soonest == (COLUMN,)
    assert not added["each_pair_keeps_its_length"]


def test_two_that_do_the_same_add_nothing_to_each_other():
    catches = (Catch(ROW, COLUMN, 3, 4), Catch("rotation_is_linear", COLUMN, 3, 4))
    both = SMALL._replace(traps=(COLUMN,), catches=catches)
    assert not any(both.added().values())


def test_the_report_has_a_line_for_each_property():
    report = told.report(SMALL)
    assert "2 of 2 traps" in report
    assert re.search(r"^ +2 +1 +3 +4  each adjacent pair turns by its own angle$", report, re.M)
    assert re.search(r"^ +0 +0 +- +-  each pair keeps its length$", report, re.M)
    assert "alone: reflection" in report
    assert COLUMN in told.report(SMALL, in_full=True)


def test_a_trap_that_is_missed_is_named():
    missed = SMALL._replace(catches=SMALL.catches[:2])
    assert re.search(r"^ +missed +reflection$", told.report(missed), re.M)


def test_the_page_has_every_property_and_trap_and_no_script():
    html = page(SMALL)
    assert "<script" not in html
    assert "default-src &#x27;none&#x27;" in html
    for prop in SMALL.properties:
        assert prop.replace("_", " ") in html
    for trap in SMALL.traps:
        assert f"<code>{trap}</code>" in html


def test_the_command_measures_the_traps_that_are_named(tmp_path, capsys):
    name = "forward-full-returned"
    table, html = tmp_path / "table.json", tmp_path / "table.html"
    assert main(["power", name, "--json", str(table), "--html", str(html), "--jobs", "1"]) == 0
    printed = capsys.readouterr()
    assert "1 of 1 trap" in printed.out
    assert "1 of 1 trap\n" in printed.err
    assert read(table.read_text(encoding="utf-8")).catches == tuple(catches(name))
    assert name in html.read_text(encoding="utf-8")


def test_what_is_stored_is_shown_without_measuring(capsys):
    assert main(["power", "--stored", "--json", "-"]) == 0
    assert capsys.readouterr().out == STORED.read_text(encoding="utf-8")
    assert main(["power", "reflection", "--stored", "-v"]) == 0
    assert "1 of 1 trap" in capsys.readouterr().out


def test_the_table_fits_into_40_columns(capsys, monkeypatch):
    terminals = pytest.importorskip("terminals", reason="there is no pty on this system")
    terminal = terminals.Terminal(40)
    monkeypatch.setattr(sys, "stdout", terminal.file)
    assert main(["power", "reflection", "cache-off-by-one", "--stored", "-v"]) == 0
    lines = terminal.written().splitlines()
    assert "2 of 2 traps" in " ".join(lines)
    assert [line for line in lines if len(line) >= 40 and " " in line.strip()] == []


def test_progress_is_one_line_of_a_terminal_and_gone_in_the_end(capsys, monkeypatch):
    terminals = pytest.importorskip("terminals", reason="there is no pty on this system")
    terminal = terminals.Terminal(40)
    monkeypatch.setattr(sys, "stderr", terminal.file)
    monkeypatch.setenv("TERM", "xterm")
    assert main(["power", "forward-full-returned", "--jobs", "1"]) == 0
    written = terminal.written()
    assert "1 of 1 trap" in written
    assert "".join(terminals.lines(written, 40)).strip() == ""


def test_a_name_of_no_trap_is_told(capsys):
    assert main(["power", "no-such-trap"]) == 2
    assert "there is no trap 'no-such-trap'" in capsys.readouterr().err


def test_a_file_of_another_kind_is_not_overwritten(tmp_path, capsys):
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps({"form": "other"}), encoding="utf-8")
    assert main(["power", "reflection", "--json", str(kept)]) == 2
    assert "exists and is no power table" in capsys.readouterr().err
    assert json.loads(kept.read_text(encoding="utf-8")) == {"form": "other"}
