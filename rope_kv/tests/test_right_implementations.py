"""No correct implementation is ever accused, however it is written and wherever it runs."""

import concurrent.futures
import multiprocessing
from pathlib import Path

import pytest

from rope_kv import check
from rope_kv.testing.implementation import FUNCTIONS

RIGHT = sorted((Path(__file__).parent / "right").glob("*.py"))


def judged(path):
    """Return what matters of a verdict; in a process of its own, two at a time."""
    verdict = check(path)
    worst = max(result.worst_ratio or 0 for result in verdict.results)
    return verdict.verdict, verdict.functions, verdict.isolation, worst, str(verdict)


@pytest.fixture(scope="module")
def running():
    """Give what comes of every file, two at a time."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        yield {path: pool.submit(judged, str(path)) for path in RIGHT}


@pytest.mark.parametrize("path", RIGHT, ids=[path.stem for path in RIGHT])
def test_a_right_implementation_passes_with_a_margin(path, running):
    verdict, functions, isolation, worst, report = running[path].result(timeout=300)
    assert verdict == "PASS", report
    assert functions == dict.fromkeys(FUNCTIONS, "held")
    assert isolation != "none"
    assert worst < 0.5


@pytest.mark.parametrize("path", RIGHT[::4], ids=[path.stem for path in RIGHT[::4]])
def test_it_passes_in_process_as_well(path):
    verdict = check(path, isolation="none")
    assert verdict.verdict == "PASS", str(verdict)


def test_there_are_a_dozen_styles():
    assert len(RIGHT) >= 12
