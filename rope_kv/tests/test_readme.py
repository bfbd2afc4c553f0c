"""The README shows what is true: its failure text, its table, its numbers, its commands."""

import re
from pathlib import Path

import pytest

from rope_kv import traps
from rope_kv.adapters import ADAPTERS
from rope_kv.cli import main
from rope_kv.reports.forms import FORMS
from rope_kv.testing.property import all_properties, comparing_properties

PATH = Path(__file__).parents[2] / "README.md"
HALVES = traps.find_trap("pairs-adjacent-vs-halves").path

if not PATH.is_file():
    pytest.skip("the README is only in a clone", allow_module_level=True)
README = PATH.read_text(encoding="utf-8")
CHANGELOG = PATH.with_name("CHANGELOG.md").read_text(encoding="utf-8")


def test_the_failure_text_is_what_check_prints(capsys):
    main(["check", str(HALVES), "--no-record"])
    printed = capsys.readouterr().out
    shown = README.split("```")[1].strip()
    assert shown in printed
    functions = README.split("rope_freqs          held")[1].split("\n\n")[0]
    assert functions in printed


def test_the_table_has_every_property_and_its_law():
    table = [line for line in README.splitlines() if line.startswith("| ")]
    for prop in all_properties():
        advice = " (advice)" if prop.advice else ""
        law = prop.law.replace("|", "\\|")
        assert f"| {prop.title}{advice} | {law} |" in table


def test_the_numbers_are_right():
    right, library = (
        list((Path(__file__).parent / name).glob("*.py")) for name in ("right", "right_library")
    )
    assert f"rope_kv is {len(all_properties())} properties" in README
    assert f"# {len(traps.all_traps())} of them" in README
    assert f"one of the {len(traps.all_traps())} known ones" in README
    assert f"{len(right)} correct implementations of the exercise and {len(library)}" in README
    assert f"# {len(ADAPTERS)} of them, and what" in README
    assert f"- {len(comparing_properties())} that compare two versions" in CHANGELOG
    hostile = list((Path(__file__).parent / "hostile").glob("r*.py"))
    assert f"Each of the {len(hostile)} files" in README


def test_every_option_it_names_exists(capsys):
    commands = ["check", "replay", "new", "properties", "adapters", "traps"]
    commands += ["grade", "hunt", "power"]
    options = set()
    for command in commands:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        options |= set(re.findall(r"--[\w-]+", capsys.readouterr().out))
    for command, rest in re.findall(r"^rope-kv (\w+)(.*)", README, re.M):
        assert command in commands
        assert set(re.findall(r"--[\w-]+", rest.partition("#")[0])) <= options
    assert {f"--{form.name}" for form in FORMS} <= set(re.findall(r"--[\w-]+", README))


def test_the_refactor_it_shows_breaks_as_it_says(capsys):
    new, old = (
        str(Path(__file__).parent / "refactors" / f"{name}.py")
        for name in ("preallocated_stale", "old")
    )
    main(["check", new, "--against", old, "--laws", "none", "--no-isolate", "--no-record"])
    section = README.split("### Guard a refactor")[1].split("\n## ")[0]
    assert section.split("```")[3].strip() in capsys.readouterr().out


def test_the_adapter_it_shows_is_whole(tmp_path, monkeypatch, capsys):
    pytest.importorskip("transformers", reason="pip install 'rope_kv[transformers]'")
    adapter = README.split("for `rope-kv check llama_adapter`")[1].split("```python\n")[1]
    (tmp_path / "llama_adapter.py").write_text(adapter.split("```")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "llama_adapter", "--quiet"]) == 0, capsys.readouterr().out
