"""Each library behind the contract does what its adapter says, where it is installed."""

import ast
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from rope_kv import adapters, check
from rope_kv.adapters import ADAPTERS
from rope_kv.cli import main
from rope_kv.testing.counterexample import load
from rope_kv.testing.loading import load as load_implementation
from rope_kv.testing.profiles import PROFILES

FOLDER = Path(adapters.__file__).parent
# What several adapters of one library share.
SHARED = ("torch_calls", "transformers_config", "operators", "_mlx_llama")
every_adapter = pytest.mark.parametrize(
    "adapter", ADAPTERS, ids=[adapter.name for adapter in ADAPTERS]
)


def is_there(adapter):
    try:
        return bool(version(adapter.package))
    except PackageNotFoundError:
        return False


def needs(adapter):
    """Skip where the library is not there; the sentence says how to have it."""
    if not is_there(adapter):
        pytest.skip(f"{adapter.package} is missing: pip install 'rope_kv[{adapter.package}]'")


def test_an_adapter_whose_library_is_missing_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "rope_kv.adapters.onnx", raising=False)
    assert main(["check", "rope_kv.adapters.onnx:reference"]) == 1
    assert "it needs onnx: pip install 'rope_kv[onnx]'" in capsys.readouterr().out


def test_every_file_has_an_adapter_and_every_adapter_a_name_in_its_file():
    named = {}
    for adapter in ADAPTERS:
        stem, _, name = adapter.name.partition(":")
        named.setdefault(stem, set()).add(name)
    stems = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", *SHARED}
    assert stems == set(named)
    for stem, names in named.items():
        tree = ast.parse((FOLDER / f"{stem}.py").read_text(encoding="utf-8"))
        assigned = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assert names <= assigned


def test_every_stored_case_is_of_an_adapter():
    folders = {path.parent.relative_to(FOLDER / "known") for path in FOLDER.glob("known/*/*/*")}
    assert folders
    assert folders <= {Path(*adapter.name.split(":")) for adapter in ADAPTERS}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("known/*/*/*.json")), ids=lambda p: p.name)
def test_a_stored_case_can_be_replayed_and_says_why_it_is_kept(path):
    stored = load(path)
    assert len(stored.why) > 30
    assert stored.found["against"] == f"rope_kv.adapters.{':'.join(path.parts[-3:-1])}"


@every_adapter
def test_each_known_failure_has_a_stored_case(adapter):
    needs(adapter)
    impl = load_implementation(adapter.spec)
    stored = {load(path).property.name for path in impl.known_cases.glob("*.json")}
    assert stored == set(impl.known_failures)


@every_adapter
def test_a_library_does_what_its_adapter_says(adapter, monkeypatch):
    needs(adapter)
    # A third of the examples: there are many adapters, and the libraries take their time.
    monkeypatch.setitem(PROFILES, "fewer", PROFILES["grade"]._replace(examples=20))
    verdict = check(adapter.spec, profile="fewer")
    assert verdict.verdict == "PASS", str(verdict)


def test_the_command_lists_each_adapter_and_how_to_have_its_library(capsys):
    assert main(["adapters"]) == 0
    said = capsys.readouterr().out
    for adapter in ADAPTERS:
        assert f"{adapter.spec}\n" in said
    assert said.count("pip install 'rope_kv[") == sum(not is_there(one) for one in ADAPTERS)
