"""No correct implementation is ever accused, however it is written."""

from pathlib import Path

import pytest

from rope_kv import check
from rope_kv.testing.implementation import FUNCTIONS

RIGHT = sorted((Path(__file__).parent / "right").glob("*.py"))


@pytest.mark.parametrize("path", RIGHT, ids=[path.stem for path in RIGHT])
def test_a_right_implementation_passes_with_a_margin(path):
    verdict = check(path)
    assert verdict.verdict == "PASS", [r.message for r in verdict.with_outcome("broken")]
    assert verdict.functions == dict.fromkeys(FUNCTIONS, "held")
    assert max(result.worst_ratio or 0 for result in verdict.results) < 0.5


def test_there_are_a_dozen_styles():
    assert len(RIGHT) >= 12
