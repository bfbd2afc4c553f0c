"""What is wrong is named where it is known, measured where it is not, and never guessed."""

import ast
import types
from pathlib import Path

import numpy as np
import pytest

from rope_kv import oracle, traps
from rope_kv.sandbox.choosing import open_implementation
from rope_kv.sandbox.submission import Limits
from rope_kv.testing import counterexample
from rope_kv.testing.axes import rows
from rope_kv.testing.cases import DecodeCase, FrequencyCase, RotationCase
from rope_kv.testing.check import check
from rope_kv.testing.diagnosis import confirmed, diagnosis
from rope_kv.testing.loading import load
from rope_kv.testing.measurement import FORMULAS, measured
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import replay, search
from rope_kv.tests.test_traps import FIXTURES, TRAPS

# Slips of twenty traps, written by somebody who had not seen the code of any.
RESTYLED = sorted((Path(__file__).parent / "restyled").glob("*.py"))
PROPERTIES = {prop.name: prop for prop in all_properties()}
FEWER = PROFILES["grade"]._replace(examples=20)
# A case of each defining property that no change of a formula leaves right.
DEFINING = {
    "rope_freqs": ("pair_i_turns_by_base_to_the_minus_2i_over_d", FrequencyCase(8, 100)),
    "apply_rope": (
        "negative_positions_turn_the_other_way",
        RotationCase(rows(4, 6), (3, -1, 4, 1), 100),
    ),
    "decode_incremental": (
        "long_histories_decode_like_short_ones",
        DecodeCase(rows(70, 4), 100, 1),
    ),
}


def wrong(**functions):
    """An implementation that is right but for these functions."""
    right = {"rope_freqs": oracle.frequencies, "apply_rope": right_rope, **functions}
    return load(types.SimpleNamespace(__name__="wrong", **right))


def right_rope(x, positions, base=10000):
    return oracle.rotate(x, positions, base)


def decoded_with(decode):
    """decode_incremental whose numbers are those of a function of x and the decoder."""

    def decode_incremental(decoder, x_embedded):
        return decode(np.asarray(x_embedded, dtype=np.float64), decoder)

    return decode_incremental


def mistakes(impl, function):
    """What the properties of one function find, most of them with a third of the examples."""
    found = [
        search(prop, impl, FEWER) for prop in PROPERTIES.values() if prop.function == function
    ]
    return [result for result in found if result.outcome == "broken"]


def said_of(impl, function):
    found = diagnosis(function, mistakes(impl, function), impl)
    assert found is not None
    assert found.looks_like == ()
    return found.measured


@pytest.mark.parametrize("trap", TRAPS, ids=[trap.name for trap in TRAPS])
def test_a_trap_is_named_from_its_own_counterexample(trap):
    stored, impl = counterexample.load(FIXTURES / trap.shown_by), load(trap.path)
    broken = replay(stored.property, impl, stored.case)
    found = diagnosis(trap.function, [broken], impl)
    assert {known.name for known in found.looks_like} == {trap.name, *trap.same_as}


@pytest.mark.parametrize(
    "trap", [trap for trap in TRAPS if trap.same_as], ids=lambda trap: trap.name
)
def test_traps_that_do_the_same_say_so_of_each_other(trap):
    for name in trap.same_as:
        other = traps.find_trap(name)
        assert trap.name in other.same_as
        assert trap.function == other.function


@pytest.mark.parametrize("isolation", ["none", "isolated"])
def test_the_text_and_the_verdict_name_the_mistake(isolation):
    verdict = check(traps.find_trap("pairs-adjacent-vs-halves").path, isolation=isolation)
    (found,) = verdict.diagnoses
    assert [trap.name for trap in found.looks_like] == ["pairs-adjacent-vs-halves"]
    text = " ".join(str(verdict).split())
    assert "looks like pairs-adjacent-vs-halves: Pairs are taken as (i, i + d/2)" in text
    assert "hint Rotate [1, 0, 0, 0] by one position" in text
    assert text.count("The best known code splits") == 1
    assert "decode_incremental held right by itself" in text


def test_nothing_is_said_of_what_is_right():
    assert check("rope_kv.traps._model").diagnoses == ()


@pytest.mark.parametrize("path", RESTYLED, ids=[path.stem for path in RESTYLED])
def test_the_same_slip_in_another_style_has_the_same_name(path):
    impl, trap = load(path), traps.find_trap(path.stem)
    found = diagnosis(trap.function, mistakes(impl, trap.function), impl)
    assert trap.name in [known.name for known in found.looks_like]


MORE_THAN_A_TRAP = """
from rope_kv import apply_rope, rope_freqs
from rope_kv.cache import KVCache, RingCache
from rope_kv.session import Session as Right

capabilities = dict.fromkeys(("chunks", "crop", "fork", "reset", "length", "heads"), True)
capabilities |= {"window": True, "sinks": True, "capacity": True}


def start(decoder, *, capacity=None):
    width = decoder.kv_heads * decoder.head_dim
    if decoder.window is None or capacity is not None:
        return Session(decoder, KVCache(width, capacity), apply_rope)
    return Session(decoder, RingCache(width, decoder.window, decoder.sinks), apply_rope)


class Session(Right):
"""


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("fork-is-the-session-itself", "def fork(self): return self"),
        ("reset-leaves-the-position", "def reset(self): self._cache.crop(0)"),
    ],
)
def test_a_trap_is_named_in_code_that_can_do_more(tmp_path, name, method):
    file = tmp_path / "more.py"
    file.write_text(f"{MORE_THAN_A_TRAP}    {method}\n")
    impl = load(file)
    found = diagnosis("start", mistakes(impl, "start"), impl)
    assert [trap.name for trap in found.looks_like] == [name]


def combined(lower, upper):
    """The source of a rotation trap with the decoding of another trap."""
    trees = [ast.parse(traps.find_trap(name).path.read_text()).body[1:] for name in (lower, upper)]
    is_decoding = [
        [isinstance(node, ast.FunctionDef) and node.name == "decode_incremental" for node in tree]
        for tree in trees
    ]
    kept = [node for node, is_it in zip(trees[0], is_decoding[0], strict=True) if not is_it]
    kept += [node for node, is_it in zip(trees[1], is_decoding[1], strict=True) if is_it]
    return "\n".join(map(ast.unparse, kept))


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("pairs-adjacent-vs-halves", "cache-off-by-one"),
        ("exponent-i-over-d", "recompute-keys"),
        ("angles-in-float32", "scale-missing"),
        ("tables-in-float16", "output-fed-back"),
    ],
)
def test_of_two_mistakes_both_are_named(tmp_path, lower, upper):
    file = tmp_path / "both.py"
    file.write_text(combined(lower, upper))
    verdict = check(file, isolation="none")
    assert [trap.name for found in verdict.diagnoses for trap in found.looks_like] == [
        lower,
        upper,
    ]


def test_a_mistake_that_is_made_anew_in_decoding_is_named_there(tmp_path):
    right = (traps.FOLDER / "_model.py").read_text()
    halves = traps.find_trap("pairs-adjacent-vs-halves").path.read_text()
    (rotation,) = [
        ast.unparse(node).replace("apply_rope", "turned")
        for node in ast.parse(halves).body
        if isinstance(node, ast.FunctionDef) and node.name == "apply_rope"
    ]
    head, decode = right.split("def decode_incremental")
    file = tmp_path / "inlined.py"
    decode = decode.replace("apply_rope(", "turned(")
    file.write_text(f"{head}{rotation}\n\n\ndef decode_incremental{decode}")
    (found,) = check(file, isolation="none").diagnoses
    assert found.function == "decode_incremental"
    assert [trap.name for trap in found.looks_like] == ["pairs-adjacent-vs-halves"]


def changes():
    """Each change of one part of a formula: the function, the part, and the words for it."""
    return [
        pytest.param(function, part, words, id=f"{function}: {words}")
        for function, formula in FORMULAS.items()
        for part, choices in formula.parts.items()
        for words in choices
    ]


@pytest.mark.parametrize(("function", "part", "words"), changes())
def test_every_change_of_a_formula_is_found_in_its_own_words(function, part, words):
    formula = FORMULAS[function]
    made = {part: formula.parts[part][words]}
    if function == "rope_freqs":
        impl = wrong(rope_freqs=lambda d, base=10000: formula.compute(d, base, **made))
    elif function == "apply_rope":

        def apply_rope(x, positions, base=10000):
            x = np.asarray(x, dtype=np.float64)
            return formula.compute(x, [int(p) for p in positions], base, **made)

        impl = wrong(apply_rope=apply_rope)
    else:
        impl = wrong(decode_incremental=decoded_with(lambda x, w: formula.compute(x, w, **made)))
    name, case = DEFINING[function]
    broken = replay(PROPERTIES[name], impl, case)
    assert broken.outcome == "broken"
    assert measured(function, [broken], impl) == (f"equals the right answer with {words}",)


def test_two_changes_of_a_formula_are_found_together():
    formula = FORMULAS["apply_rope"]
    made = {
        "places": formula.parts["places"]["the positions counted from one"],
        "turn": formula.parts["turn"]["the opposite direction"],
    }
    impl = wrong(
        apply_rope=lambda x, p, base=10000: formula.compute(np.asarray(x, float), p, base, **made)
    )
    (said,) = measured("apply_rope", mistakes(impl, "apply_rope")[:1], impl)
    assert said == (
        "equals the right answer with the positions counted from one and the opposite direction"
    )


def rope_but(condition, instead):
    """apply_rope that is right but where a condition on its arguments holds."""

    def apply_rope(x, positions, base=10000):
        rows = right_rope(x, positions, base)
        return instead(rows, x) if condition(x, np.asarray(positions), base) else rows

    return wrong(apply_rope=apply_rope)


def doubled(rows, x):
    return rows * 2.25 - 0.25


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (lambda x, p, base: max(p) > 700, "right up to position 700, wrong from position 701 on"),
        (lambda x, p, base: len(x) > 20, "right up to 20 rows, wrong from 21 rows on"),
        (lambda x, p, base: x.shape[1] > 4, "right up to width 4, wrong from width 6 on"),
        (lambda x, p, base: min(p) < 0, "wrong only with negative positions"),
        (lambda x, p, base: base != 10000, "right only with base 10000"),
        (lambda x, p, base: x.dtype.kind == "i", "wrong only with rows as an int64 array"),
        (lambda x, p, base: p.dtype == np.int32, "wrong only with positions as an int32 array"),
    ],
)
def test_where_a_rotation_is_wrong_is_said(condition, said):
    assert said in said_of(rope_but(condition, doubled), "apply_rope")


def test_from_which_row_on_decoding_is_wrong_is_said():
    def decode(x, decoder):
        rows = oracle.forward(x, decoder)
        rows[20:] += 1
        return rows

    impl = wrong(decode_incremental=decoded_with(decode))
    found = measured("decode_incremental", mistakes(impl, "decode_incremental"), impl)
    assert "right up to row 19, wrong from row 20 on" in found


def test_an_error_that_grows_like_that_of_a_precision_is_said():
    def apply_rope(x, positions, base=10000):
        x = np.asarray(x, dtype=np.float64)
        exponents = np.arange(0, x.shape[1], 2, dtype=np.float32) / np.float32(x.shape[1])
        theta = np.exp(-np.log(np.float32(base)) * exponents)
        angles = np.outer(np.asarray(positions).astype(np.float32), theta)
        turned = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * angles.astype(np.float64))
        return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)

    impl = wrong(apply_rope=apply_rope)
    found = diagnosis("apply_rope", mistakes(impl, "apply_rope"), impl)
    assert "the error grows with the position, as that of single precision does" in found.measured


def test_numbers_that_are_rounded_are_said_to_be():
    impl = wrong(rope_freqs=lambda d, base=10000: oracle.frequencies(d, base).round(7))
    assert "every number is rounded to 7 decimals" in said_of(impl, "rope_freqs")


def test_what_is_measured_of_numbers_that_are_no_array_says_so():
    impl = wrong(rope_freqs=lambda d, base=10000: 1)
    assert said_of(impl, "rope_freqs") == ("as numbers, right at d = 2, wrong from d = 4 on",)


def test_what_is_wrong_from_the_second_call_on_is_said(tmp_path):
    file = tmp_path / "second.py"
    right = (traps.FOLDER / "_model.py").read_text()
    file.write_text(
        right.replace("    return rotated", "    calls.append(x)\n    return rotated * len(calls)")
        + "\n\ncalls = []\n"
    )
    found = check(file, isolation="none").diagnosis("apply_rope")
    assert "right on the first call, wrong on a later one" in found.measured


@pytest.mark.parametrize(
    "slip",
    [
        "x[:, 0] += positions[0]",
        "x = x * (1 + 1e-3 * np.sin(x))",
        "x = np.sort(x, axis=1)",
        "positions = np.asarray(positions) ** 3",
    ],
)
def test_a_mistake_that_is_like_none_is_not_named(tmp_path, slip):
    file = tmp_path / "other.py"
    right = (traps.FOLDER / "_model.py").read_text()
    asarray = "    x = np.asarray(x, dtype=np.float64)\n"
    file.write_text(right.replace(asarray, f"    x = np.array(x, dtype=np.float64)\n    {slip}\n"))
    verdict = check(file, isolation="none")
    assert verdict.verdict == "FAIL"
    assert [found.looks_like for found in verdict.diagnoses if found.looks_like] == []


@pytest.mark.parametrize("end", ["while True: pass", "import os; os._exit(3)"])
def test_no_more_is_asked_of_what_hangs_or_crashes_when_it_is_probed(tmp_path, end):
    file = tmp_path / "ends.py"
    right = (traps.FOLDER / "_model.py").read_text()
    slip = f"    if len(x) > 1:\n        {end}\n    x = x + 1\n    angles ="
    file.write_text(right.replace("    angles =", slip))
    case = RotationCase(((1.0, 0.0),), (1,), 10000)
    impl = open_implementation(file, "process", Limits(0.5, 512 << 20))
    try:
        broken = replay(PROPERTIES["each_adjacent_pair_turns_by_its_own_angle"], impl, case)
        assert broken.broken.kind == "value"
        assert diagnosis("apply_rope", [broken], impl) is None
    finally:
        impl.close()


def test_another_failure_confirms_a_diagnosis_or_does_not():
    impl = load(traps.find_trap("pairs-adjacent-vs-halves").path)
    found = mistakes(impl, "apply_rope")
    named = diagnosis("apply_rope", found[:1], impl)
    assert confirmed(named, found[:2], impl)
    other = load(traps.find_trap("opposite-direction").path)
    assert not confirmed(named, mistakes(other, "apply_rope")[:1], other)
