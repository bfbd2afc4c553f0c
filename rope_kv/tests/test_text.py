"""What a person reads, whole: one failure of each kind, kept as it should look."""

from pathlib import Path

import hypothesis
import pytest

from rope_kv import traps
from rope_kv.reports import text
from rope_kv.sandbox.choosing import open_implementation
from rope_kv.sandbox.submission import Limits
from rope_kv.testing.diagnosis import diagnosis
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties
from rope_kv.testing.repetition import explained
from rope_kv.testing.search import search

GOLDEN = Path(__file__).parent / "golden"
PROPERTIES = {prop.name: prop for prop in all_properties()}
# The first version that ends a search for `state` at the case that is kept.
SHRINKS_ALIKE = (6, 152, 9)
MODEL = (traps.FOLDER / "_model.py").read_text(encoding="utf-8")


def trap(name):
    return traps.find_trap(name).path.read_text(encoding="utf-8")


def with_line(line):
    """A right solution with one more line in apply_rope."""
    return MODEL.replace("    angles =", f"    {line}\n    angles =")


KINDS = {
    "value": (trap("pairs-adjacent-vs-halves"), "each_adjacent_pair_turns_by_its_own_angle"),
    "large": (trap("last-pair-not-turned"), "long_inputs_turn_row_by_row_like_short_ones"),
    "precision": (trap("angles-in-float32"), "far_positions_turn_as_exactly_as_near_ones"),
    "shape": (trap("result-with-extra-axis"), "rotation_returns_a_float64_array_like_x"),
    "type": (trap("freqs-as-list"), "frequencies_are_a_float64_vector_with_one_entry_a_pair"),
    "raised": (with_line("[][len(x)]"), "each_adjacent_pair_turns_by_its_own_angle"),
    "crash": (with_line("import os; os._exit(7)"), "each_adjacent_pair_turns_by_its_own_angle"),
    "hang": (with_line("while True: pass"), "each_adjacent_pair_turns_by_its_own_angle"),
    "trace": (trap("recompute-keys"), "project_k_sees_each_row_once_in_order"),
    "purity": (trap("input-written-in-place"), "rotation_leaves_its_arguments_unchanged"),
    "state": (trap("cache-at-module-level"), "decoding_does_not_depend_on_earlier_calls"),
    "unknown": (
        with_line("x = np.roll(x, 3, axis=1)"),
        "each_adjacent_pair_turns_by_its_own_angle",
    ),
    "measured": (
        MODEL.replace("np.outer(positions,", "np.outer(np.minimum(positions, 700),"),
        "far_positions_turn_as_exactly_as_near_ones",
    ),
    "missing": (
        MODEL.replace("def apply_rope", "def aply_rope"),
        "position_0_leaves_a_row_as_it_is",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_reads_as_it_should(kind, tmp_path):
    if kind == "state" and hypothesis.__version_info__ < SHRINKS_ALIKE:
        pytest.skip("older versions of Hypothesis end at another case, which is as small")
    source, name = KINDS[kind]
    file = tmp_path / "student.py"
    file.write_text(source, encoding="utf-8")
    # On a busy machine only what hangs may take too long.
    call_timeout = 0.5 if kind == "hang" else 60.0
    impl = open_implementation(file, "process", Limits(call_timeout, 512 << 20))
    try:
        result = explained(search(PROPERTIES[name], impl, PROFILES["grade"]), impl)
        found = diagnosis(result.property.function, [result], impl)
    finally:
        impl.close()
    shown = text.failure(result, "student.py", found) + "\n"
    assert shown == (GOLDEN / f"{kind}.txt").read_text(encoding="utf-8")
    assert max(map(len, shown.splitlines())) <= text.WIDTH
    assert text.ascii_only(shown).isascii()
    with text.fitting(39):
        narrow = text.failure(result, "student.py", found)
    for line in narrow.splitlines():
        assert len(line) <= 39 or is_one_word(line), line


def is_one_word(line):
    """Whether nothing stands beside the label but what cannot be broken."""
    return " " not in line[text.LABEL :].strip()
