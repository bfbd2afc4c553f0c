"""No correct implementation is ever accused, however it is written and wherever it runs."""

from pathlib import Path

import pytest

from rope_kv import check
from rope_kv.testing.implementation import FUNCTIONS
from rope_kv.testing.profiles import PROFILES

RIGHT = sorted((Path(__file__).parent / "right").glob("*.py"))


@pytest.mark.parametrize("path", RIGHT, ids=[path.stem for path in RIGHT])
def test_a_right_implementation_passes_with_a_margin(path, monkeypatch):
    # Of each property a third of the examples: isolated, a right file takes the longest.
    monkeypatch.setitem(PROFILES, "fewer", PROFILES["grade"]._replace(examples=20))
    verdict = check(path, profile="fewer")
    assert verdict.verdict == "PASS", str(verdict)
    assert verdict.functions == dict.fromkeys(FUNCTIONS, "held")
    assert verdict.isolation != "none"
    assert max(result.worst_ratio or 0 for result in verdict.results) < 0.5


@pytest.mark.parametrize("path", RIGHT[::4], ids=[path.stem for path in RIGHT[::4]])
def test_it_passes_in_process_with_all_examples(path):
    verdict = check(path, isolation="none")
    assert verdict.verdict == "PASS", str(verdict)


def test_there_are_a_dozen_styles():
    assert len(RIGHT) >= 12
