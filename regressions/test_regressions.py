"""Every stored counterexample, replayed against the implementation under test."""

from collections.abc import Callable
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parent.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_stored_counterexample_holds(replay_file: Callable[[Path], None], path: Path) -> None:
    replay_file(path)
