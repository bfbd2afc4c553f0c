"""What a search tries again without asking Hypothesis: the same cases, and so the same verdict."""

import json

import pytest

from rope_kv import traps
from rope_kv.reports.document import document
from rope_kv.testing import rehearsal, search
from rope_kv.testing.check import check
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties

PROPERTIES = {prop.name: prop for prop in all_properties()}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Nothing was rehearsed before."""
    monkeypatch.setattr(rehearsal, "_kept", {})


@pytest.fixture
def drawn(monkeypatch):
    """The names of the properties that Hypothesis was asked for."""
    asked = []
    real = search._draw

    def draw(searched, *others):
        asked.append(searched.name)
        real(searched, *others)

    monkeypatch.setattr(search, "_draw", draw)
    return asked


def told(implementation, **options):
    """The verdict as JSON data, without what it took."""
    verdict = document(check(implementation, isolation="none", **options))
    for part in (verdict, *verdict["properties"]):
        del part["seconds"]
    return json.dumps(verdict)


def test_what_holds_is_drawn_once_and_judged_the_same(drawn):
    first = told("rope_kv", exercise=True)
    assert len(drawn) == 54
    assert told("rope_kv", exercise=True) == first
    assert len(drawn) == 54


@pytest.mark.parametrize(
    "name",
    ["pairs-adjacent-vs-halves", "cache-off-by-one", "table-of-2048-ends", "recompute-keys",
     "answer-buffer-reused", "angles-memo-by-length"],
)  # fmt: skip
def test_what_is_broken_is_searched_as_if_nothing_was_rehearsed(name, drawn):
    path = traps.find_trap(name).path
    first = told(path)
    asked = len(drawn)
    told("rope_kv", exercise=True)
    drawn.clear()
    assert told(path) == first
    assert 0 < len(drawn) < asked


def test_where_something_is_random_nothing_is_rehearsed(drawn):
    prop = PROPERTIES["each_pair_keeps_its_length"]
    for _ in range(2):
        search.search(prop, load("rope_kv"), PROFILES["dev"])
    assert len(drawn) == 2


def test_other_profiles_and_declarations_have_cases_of_their_own(drawn):
    prop = PROPERTIES["each_pair_keeps_its_length"]
    impl = load("rope_kv")
    first = search.search(prop, impl, PROFILES["grade"])
    assert search.search(prop, impl, PROFILES["ci"]).examples > first.examples
    impl.declare_nothing()
    search.search(prop, impl, PROFILES["grade"])
    assert len(drawn) == 3


def test_no_more_is_kept_than_one_process_needs(monkeypatch, drawn):
    monkeypatch.setattr(rehearsal, "MOST_KEPT", 2)
    impl = load("rope_kv")
    names = list(PROPERTIES)[:3]
    for name in names:
        search.search(PROPERTIES[name], impl, PROFILES["grade"])
    assert len(rehearsal._kept) == 2
    search.search(PROPERTIES[names[2]], impl, PROFILES["grade"])
    assert len(drawn) == 3
    search.search(PROPERTIES[names[0]], impl, PROFILES["grade"])
    assert len(drawn) == 4
