"""No right implementation of the library contract is accused, in whatever style it is written."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from rope_kv import check
from rope_kv.testing import programs, right
from rope_kv.testing.capabilities import DEFAULTS, NAMES, PLACES, Layout, Precision, Rule
from rope_kv.testing.cases import array
from rope_kv.testing.comparison import ratio
from rope_kv.testing.fitting import fitted
from rope_kv.testing.library_cases import Setup, SetupDecodeCase
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties

RIGHT = sorted((Path(__file__).parent / "right_library").glob("*.py"))
BEYOND = [prop for prop in all_properties() if not prop.of_the_exercise]
by_file = pytest.mark.parametrize("path", RIGHT, ids=[path.stem for path in RIGHT])


@by_file
def test_a_right_implementation_passes_with_a_margin(path, monkeypatch):
    # Of each property a third of the examples: there are many files, and each style is in two.
    monkeypatch.setitem(PROFILES, "fewer", PROFILES["grade"]._replace(examples=20))
    verdict = check(path, profile="fewer", isolation="none")
    assert verdict.verdict == "PASS", str(verdict)
    outcomes = {result.outcome for result in verdict.results}
    assert outcomes <= {"held", "not_checked"}, str(verdict)
    assert max(result.worst_ratio or 0 for result in verdict.results) < 0.5, str(verdict)


def test_every_property_of_the_library_contract_is_checked_on_two_at_least():
    checked = Counter(
        prop.name for path in RIGHT for prop in BEYOND if not prop.lacking(load(path).capabilities)
    )
    assert {prop.name: checked[prop.name] for prop in BEYOND if checked[prop.name] < 2} == {}


def test_every_capability_is_declared_by_two_at_least():
    declared = Counter()
    for path in RIGHT:
        capabilities = load(path).capabilities
        found = {name: getattr(capabilities, name) for name in NAMES}
        declared.update(name for name in NAMES if found[name] != DEFAULTS[name])
        declared.update(found[name] for name in ("layout", "dtype", "positions"))
        declared.update(found["scaling"])
    values = (*get_args(Layout), *get_args(Precision), *PLACES, *get_args(Rule))
    assert {name: declared[name] for name in (*NAMES, *values) if declared[name] < 2} == {}


# Small rows and large ones: a weight of the softmax, or a product, is too small for float16.
VANISHING = (
    SetupDecodeCase(
        ((2**-10, 2**-10, 1.0, 0.0), (0.0, 2**-10, 1.0, 0.0), (0.0, -1.0, -1.0, 4.0)),
        Setup(4, 10),
    ),
    SetupDecodeCase(
        ((0.0, 2**-10), (2**-10, 4.0), (0.0, 0.0), (0.0, 4.0), (0.0, 0.0)),
        Setup(2, 10, heads=2, kv_heads=1, head_dim=4),
    ),
    SetupDecodeCase(
        ((4.0, 2**-10, 0.0, 0.0), (4.0, 0.0, 0.0, 0.0), (4.0, 0.0, 2**-10, 2**-10)),
        Setup(4, 10),
    ),
    SetupDecodeCase(
        ((-4.0, -4.0, 4.0, 4.0), (4.0, 0.0, 0.0, 0.0), (0.0, -4.0, 0.0, 4.0)) * 2, Setup(4, 100)
    ),
)


@pytest.mark.parametrize("name", ["float16_all_through", "float16_products"])
@pytest.mark.parametrize("case", VANISHING, ids=str)
def test_what_vanishes_in_few_digits_is_within_the_bounds(name, case):
    impl = load(Path(__file__).parent / "right_library" / f"{name}.py")
    case = fitted(case, impl.capabilities)
    due = right.decoding(impl, array(case.x), case.setup.decoder())
    assert ratio(programs.decoded(impl, case), due.expected, due.within).max() < 0.5
