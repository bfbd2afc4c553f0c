"""Programs of sessions: fitted to what is declared, and run with the patience that is due."""

import pytest

from rope_kv import traps
from rope_kv.testing.capabilities import Capabilities
from rope_kv.testing.fitting import fitted
from rope_kv.testing.library_cases import ProgramCase, Setup, Step
from rope_kv.testing.loading import load
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import replay

PROPERTIES = {prop.name: prop for prop in all_properties()}
ROW = ((0.0, 0.0),)


def feed(session=0, rows=1):
    return Step("feed", session, rows=ROW * rows)


@pytest.mark.parametrize("path", ["rope_kv", traps.FOLDER / "_ring_model.py"])
def test_a_ring_may_refuse_to_go_back_to_what_it_dropped_before_an_earlier_crop(path):
    steps = (feed(rows=3), Step("crop", number=2), Step("crop", number=1), feed())
    case = ProgramCase(Setup(2, window=2), steps)
    prop = PROPERTIES["a_ring_is_cropped_rightly_or_refuses"]
    assert replay(prop, load(path), case).outcome == "held"


def test_a_session_that_cannot_be_had_takes_its_steps_with_it():
    steps = (
        feed(), Step("fork", 0), Step("start", 1), Step("crop", 1, 1), feed(1), feed(2)
    )  # fmt: skip
    without_forks = Capabilities(sessions=True, chunks=True, crop=True)
    case = fitted(ProgramCase(Setup(2), steps), without_forks)
    assert case.steps == (feed(), Step("start", 0), feed(1))


def test_there_is_room_for_tokens_that_cannot_be_forgotten():
    steps = (feed(rows=2), Step("crop", number=0), feed(rows=2))
    case = ProgramCase(Setup(2), steps, capacity=2)
    declared = Capabilities(chunks=True, crop=True, capacity=True)
    assert fitted(case, declared) == case
    assert fitted(case, Capabilities(chunks=True, capacity=True)).capacity == 4
