"""check: the verdict, and whose mistake it is."""

import json
import subprocess
import sys
import types
from dataclasses import replace

import numpy as np
import pytest

import rope_kv
from rope_kv import check, traps
from rope_kv.reports.document import document
from rope_kv.reports.text import failure
from rope_kv.testing.capabilities import NOTHING_DECLARED
from rope_kv.testing.case_json import to_json
from rope_kv.testing.cases import RotationCase, size
from rope_kv.testing.check import without_false_excuses
from rope_kv.testing.comparison import Broken
from rope_kv.testing.implementation import FUNCTIONS, PARTS
from rope_kv.testing.loading import SpecError, load
from rope_kv.testing.profiles import PROFILES, Profile
from rope_kv.testing.property import Property, all_properties, properties_for
from rope_kv.testing.repetition import explained
from rope_kv.testing.search import search
from rope_kv.testing.verdict import Result, word_for

MODEL = (traps.FOLDER / "_model.py").read_text(encoding="utf-8")
BY_NAME = {prop.name: prop for prop in all_properties()}
RIGHT = "rope_kv.traps._model"
OF_THE_REFERENCE = properties_for(load("rope_kv").capabilities)


def trap(name):
    return str(traps.find_trap(name).path)


def combined(folder, *names):
    """A file with the slips of several traps, each in its own function."""
    text = MODEL
    for name in names:
        found = traps.find_trap(name)
        own = found.path.read_text(encoding="utf-8").split("\n\n\ndef ")
        start = next(part for part in own if part.startswith(found.function))
        right = next(p for p in MODEL.split("\n\n\ndef ") if p.startswith(found.function))
        text = text.replace(right, start)
    path = folder / "combined.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_reference_passes():
    verdict = check("rope_kv")
    assert verdict.verdict == "PASS"
    assert verdict
    assert verdict.functions == dict.fromkeys(PARTS, "held")
    assert len(verdict.results) == len(OF_THE_REFERENCE)
    assert not verdict.with_outcome("not_checked")


def test_a_module_a_path_and_an_object_give_the_same_verdict():
    found = types.SimpleNamespace(**{name: getattr(rope_kv, name) for name in FUNCTIONS})
    assert check(found).verdict == check(RIGHT).verdict == "PASS"


def test_wrong_rotation_is_named_and_decoding_is_not():
    verdict = check(trap("pairs-adjacent-vs-halves"))
    assert verdict.verdict == "FAIL"
    assert not verdict
    assert verdict.functions == {
        "rope_freqs": "held",
        "apply_rope": "broken",
        "decode_incremental": "held",
    }
    because = {r.because for r in verdict.results if r.property.function == "decode_incremental"}
    assert because == {None, "apply_rope"}


def test_wrong_frequencies_are_named_and_nothing_above_is():
    verdict = check(trap("exponent-i-over-d"))
    assert [name for name, state in verdict.functions.items() if state == "broken"] == [
        "rope_freqs"
    ]


def test_wrong_decoding_is_named_and_rotation_is_not():
    verdict = check(trap("values-rotated"))
    assert [name for name, state in verdict.functions.items() if state == "broken"] == [
        "decode_incremental"
    ]


@pytest.mark.parametrize(
    "names",
    [
        ("opposite-direction", "values-rotated"),
        ("pairs-adjacent-vs-halves", "scale-missing"),
        ("exponent-i-over-d", "recompute-all"),
        ("positions-counted-from-one", "cache-off-by-one"),
        ("exponent-i-over-d", "opposite-direction", "values-rotated"),
    ],
)
def test_of_several_wrong_functions_each_is_named(tmp_path, names):
    verdict = check(combined(tmp_path, *names))
    broken = {name for name, state in verdict.functions.items() if state == "broken"}
    assert broken == {traps.find_trap(name).function for name in names}


def test_decoding_that_needs_no_own_rotation_is_held(tmp_path):
    text = (
        MODEL.replace("def apply_rope", "def turn")
        .replace("q = apply_rope(", "q = turn(")
        .replace("k = apply_rope(", "k = turn(")
    )
    path = tmp_path / "a.py"
    path.write_text(text + "\n\ndef apply_rope(x, positions, base=10000):\n    return x * 1.0\n")
    verdict = check(path)
    assert verdict.functions["decode_incremental"] == "held"
    assert not {r.because for r in verdict.results if r.because}


def test_a_wrong_method_is_not_blamed_on_the_method_that_calls_it():
    text = MODEL.replace("even * cos - odd * sin", "even * cos + odd * sin")
    text = text.replace("apply_rope(decoder", "self.apply_rope(decoder").replace(
        "def decode_incremental(", "def decode_incremental(self, "
    )
    namespace = {}
    exec(text, namespace)

    class Model:
        rope_freqs = staticmethod(namespace["rope_freqs"])
        apply_rope = staticmethod(namespace["apply_rope"])
        decode_incremental = namespace["decode_incremental"]

    verdict = check(Model())
    assert verdict.functions == {
        "rope_freqs": "held",
        "apply_rope": "broken",
        "decode_incremental": "held",
    }
    assert "right by itself; wrong only because apply_rope is" in str(verdict)
    with pytest.raises(SpecError, match="Model is a class: name an instance of it"):
        check(Model)


def test_a_wrong_callable_object_is_not_blamed_on_another_that_calls_it(tmp_path):
    text = MODEL.replace("even * cos - odd * sin", "even * cos + odd * sin")
    text = text.replace("def decode_incremental", "def _decode").replace(
        "def apply_rope", "def _rope"
    )
    path = tmp_path / "a.py"
    path.write_text(
        "import functools\n"
        + text
        + "\n\nclass Decode:\n    def __call__(self, *arguments):\n"
        + "        return _decode(*arguments)\n\n\n"
        + "apply_rope = functools.partial(_rope)\ndecode_incremental = Decode()\n"
    )
    assert check(path).functions == {
        "rope_freqs": "held",
        "apply_rope": "broken",
        "decode_incremental": "held",
    }


def test_a_missing_function_is_said_and_the_rest_runs(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(MODEL.split("def decode_incremental")[0], encoding="utf-8")
    verdict = check(path)
    assert verdict.verdict == "FAIL"
    assert verdict.functions == {
        "rope_freqs": "held",
        "apply_rope": "held",
        "decode_incremental": "missing",
    }
    sentences = {r.message for r in verdict.with_outcome("broken")}
    assert sentences == {"decode_incremental is missing: a.py has no function of that name"}


def test_an_excuse_needs_a_mistake_to_point_at(tmp_path):
    """A rotation that is wrong only where no rotation property looks must not be let through."""
    text = MODEL.replace(
        "    return rotated\n", "    return -rotated if np.allclose(x[0, 0], 12.3) else rotated\n"
    ).replace("row = x_embedded[t : t + 1]", "row = x_embedded[t : t + 1] * 0 + 12.3")
    path = tmp_path / "a.py"
    path.write_text(text, encoding="utf-8")
    assert check(path).verdict == "FAIL"


def test_what_was_seen_once_is_not_excused_by_what_cannot_be_seen_again():
    broken = Broken("decode_incremental raised ValueError", "raised")
    decode, rotate, freqs = (
        Result(next(prop for prop in BY_NAME.values() if prop.function == name), "held")
        for name in ("decode_incremental", "apply_rope", "rope_freqs")
    )
    seen = replace(decode, outcome="broken", broken=broken)
    decode = replace(decode, because="apply_rope", unexcused=seen)
    rotate = replace(rotate, because="rope_freqs", unexcused=replace(rotate, outcome="broken"))
    asked = []

    def again(prop):
        asked.append(prop.function)
        return Result(prop, "held")

    judged = without_false_excuses([decode, rotate, freqs], again)
    assert asked == ["apply_rope"]
    assert [result.outcome for result in judged] == ["held", "broken", "held"]
    rotate = replace(rotate, unexcused=None)
    judged = without_false_excuses([decode, rotate, freqs], again)
    assert [result.outcome for result in judged] == ["broken", "held", "held"]
    assert word_for((decode,)) == "FAIL"


def test_a_file_that_does_not_load_is_a_verdict_and_one_that_is_not_there_is_not(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("1 / 0\n")
    verdict = check(path)
    assert verdict.verdict == "LOAD_ERROR"
    assert "ZeroDivisionError" in verdict.message
    with pytest.raises(SpecError, match="there is no file"):
        check(tmp_path / "b.py")
    with pytest.raises(ValueError, match="profile must be one of grade, dev, ci, hunt"):
        check("rope_kv", profile="fast")


def test_the_document_is_strict_json_of_the_promised_form(tmp_path):
    for target in (trap("zero-row-becomes-nan"), tmp_path / "broken.py", RIGHT):
        (tmp_path / "broken.py").write_text("def")
        data = json.loads(json.dumps(document(check(target)), allow_nan=False))
        assert data["schema"] == "rope-kv/verdict/1"
        assert data["verdict"] in ("FAIL", "LOAD_ERROR", "PASS")
        assert set(data["functions"]) == set(FUNCTIONS)
        for entry in data["properties"]:
            assert entry["outcome"] in ("held", "broken", "not_checked", "not_run", "error")
            assert (entry["outcome"] == "broken") == bool(entry["counterexample"])
            named = "zero-row-becomes-nan" if entry["outcome"] == "broken" else None
            assert entry["looks_like"] == named
            assert entry["alone"] or entry["outcome"] == "broken"
            assert entry["after"] == []
            assert entry["law"]


def test_check_works_without_pytest():
    code = (
        "import sys, rope_kv; sys.modules['pytest'] = None;"
        f"v = rope_kv.check({RIGHT!r}); assert v.verdict == 'PASS'; print(len(v.results))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(properties_for(NOTHING_DECLARED))


def test_a_text_names_what_is_compared_and_every_digit_of_the_input():
    text = str(check(trap("exponent-i-over-d")))
    assert "|x pairs|" not in text
    assert "|y pairs|" in str(check(trap("pairs-adjacent-vs-halves")))
    case = RotationCase(((0.1 + 0.2, 1e-30),), (3,), 1000001)
    shown = "apply_rope([[0.30000000000000004, 1e-30]], positions=[3], base=1000001)"
    assert str(case) == shown


def test_a_slip_is_not_accused_of_what_it_does_right():
    """A softmax that is too sharp still depends on each token, and on the base."""
    for name in ("scale-missing", "scale-multiplied"):
        names = {r.property.name for r in check(trap(name)).with_outcome("broken")}
        assert "incremental_decoding_equals_the_full_forward" in names
        assert not names & {
            "each_output_depends_on_every_visible_token",
            "decoding_follows_the_base_of_its_decoder",
        }


def test_advice_fails_nothing():
    verdict = check(trap("key-at-position-zero").replace("key_at_position_zero", "_model"))
    assert verdict.verdict == "PASS"
    late = check(load_right("output_at_end"))
    advice = [r for r in late.results if r.property.advice and r.outcome == "broken"]
    assert late.verdict == "PASS"
    assert len(advice) == 1


def load_right(name):
    from pathlib import Path

    return Path(__file__).parent / "right" / f"{name}.py"


def test_a_search_is_bounded_after_its_first_failure():
    tries = []

    def wrong(x, positions, base=10000):
        tries.append(1)
        return np.asarray(x) * 2.0

    prop = BY_NAME["each_adjacent_pair_turns_by_its_own_angle"]
    profile = Profile("short", examples=60, attempts=10, patience=60)
    result = search(prop, load(types.SimpleNamespace(apply_rope=wrong)), profile)
    assert result.outcome == "broken"
    assert result.examples <= 60 + 10
    assert len(tries) < 200


def test_the_smallest_case_is_small_and_the_worst_is_kept():
    prop = BY_NAME["far_positions_turn_as_exactly_as_near_ones"]
    result = search(prop, load(trap("angles-in-float32")), PROFILES["grade"])
    assert size(result.counterexample)[0] <= 4
    assert result.worst_broken.ratio >= result.broken.ratio
    assert result.replays


def test_chance_is_called_by_its_name():
    stream = np.random.RandomState(0)

    def chancy(x, positions, base=10000):
        right = rope_kv.apply_rope(x, positions, base)
        return right * (2 if stream.random_sample() < 0.05 else 1)

    prop = BY_NAME["each_adjacent_pair_turns_by_its_own_angle"]
    impl = load(types.SimpleNamespace(apply_rope=chancy))
    result = search(prop, impl, PROFILES["grade"], excusing=False)
    assert result.outcome == "broken"
    assert result.by_chance or not result.replays


def test_a_failure_that_needs_earlier_calls_is_shown_with_them(tmp_path):
    path = tmp_path / "bomb.py"
    path.write_text(
        MODEL.replace("def apply_rope(", "calls = []\n\n\ndef apply_rope(").replace(
            "    x = np.asarray(x, dtype=np.float64)\n    angles",
            "    calls.append(1)\n    x = np.asarray(x, dtype=np.float64) + len(calls) // 40\n"
            "    angles",
        )
    )
    impl = load(path)
    prop = BY_NAME["each_adjacent_pair_turns_by_its_own_angle"]
    result = explained(search(prop, impl, PROFILES["grade"]), impl)
    assert result.outcome == "broken"
    assert not result.replays
    assert not result.by_chance
    assert 39 <= len(result.history) <= 64
    assert "depends on earlier calls: this case alone is answered" in failure(result, "bomb.py")


def test_a_fault_of_a_property_is_ours_and_no_verdict_on_the_code():
    def body(impl, case):
        raise ZeroDivisionError("a fault")

    right = BY_NAME["each_adjacent_pair_turns_by_its_own_angle"]
    faulty = Property(**{**right._asdict(), "body": body})
    result = search(faulty, load("rope_kv"), PROFILES["grade"])
    assert result.outcome == "error"
    assert "a fault" in result.message


@pytest.mark.parametrize("prop", all_properties(), ids=lambda prop: prop.name)
def test_a_property_says_what_it_is(prop):
    assert prop.law
    assert prop.catches or prop.advice
    assert prop.function in PARTS
    assert prop.case_type.__doc__


def test_names_of_properties_are_unique():
    assert len({prop.name for prop in all_properties()}) == len(all_properties())


def test_a_case_counts_its_numbers():
    case = RotationCase(((1.0, 0.0),), (3,), 10000)
    assert size(case)[0] == 4
    assert to_json(case) == {"x": [[1.0, 0.0]], "positions": [3], "base": 10000}
