"""The sandbox against files that mean harm: each one, at each level that this machine has."""

import os
import re
import tempfile
from pathlib import Path

import pytest

import rope_kv
from rope_kv.sandbox import process, zygotes
from rope_kv.sandbox.levels import LEVELS
from rope_kv.testing import check as checking
from rope_kv.testing.profiles import PROFILES, Profile
from rope_kv.testing.property import all_properties, properties_of

HERE = Path(__file__).parent / "hostile"
PACKAGE = Path(rope_kv.__file__).parent.parent
FILES = sorted(path.stem for path in HERE.glob("r*.py"))
LABEL = re.compile(
    r"^# (?P<what>verdict|says|rows|levels|time limit|call timeout|leaves nothing)"
    r"(?: at (?P<level>\w+))?(?:: (?P<value>.*))?$",
    re.M,
)


# What shows each of the mistakes here; the sandbox is the same for all properties.
NEEDED = {
    "frequencies_are_a_float64_vector_with_one_entry_a_pair",
    "pair_i_turns_by_base_to_the_minus_2i_over_d",
    "the_base_of_frequencies_may_be_given_by_name",
    "each_adjacent_pair_turns_by_its_own_angle",
    "rotation_is_linear",
    "rows_may_be_integers_and_lie_in_memory_in_any_way",
    "incremental_decoding_equals_the_full_forward",
    "long_histories_decode_like_short_ones",
    "project_q_sees_each_row_once_in_order",
    "project_k_sees_each_row_once_in_order",
    "the_full_forward_is_never_called",
    "project_out_turns_each_attended_row_once",
    "rotation_returns_a_float64_array_like_x",
    "rotation_leaves_its_arguments_unchanged",
    "a_rotated_array_is_not_touched_by_later_calls",
    "rotation_does_not_depend_on_earlier_calls",
    "decoding_does_not_depend_on_earlier_calls",
    # Of sessions and batches, where a file declares them.
    "any_chunks_give_what_the_whole_gives",
    "a_fork_and_its_origin_go_their_own_ways",
    "the_length_is_the_number_of_tokens_seen",
    "each_row_that_is_fed_is_projected_once",
    "rows_that_were_fed_are_their_owners_again",
    "each_row_of_a_batch_is_that_sequence_alone",
}


def works(level):
    try:
        zygotes.start(level, 512 << 20).close()
    except process.SandboxError:
        return False
    return True


WORKING = [level for level in LEVELS if works(level)]


def labels_of(name, level):
    """Return what a file says of itself that holds at a level."""
    found = {}
    for label in LABEL.finditer((HERE / f"{name}.py").read_text(encoding="utf-8")):
        if label["level"] in (None, level):
            found[label["what"]] = label["value"] or ""
    return found


@pytest.fixture
def hostile_profile(monkeypatch):
    """Search for what is needed here alone, and not for long."""
    needed = [prop for prop in all_properties() if prop.name in NEEDED]
    assert len(needed) == len(NEEDED)
    monkeypatch.setattr(
        checking,
        "properties_of",
        lambda impl, laws: [prop for prop in needed if prop in properties_of(impl, laws)],
    )
    profile = Profile("hostile", examples=10, attempts=60, patience=4.0)
    monkeypatch.setitem(PROFILES, "hostile", profile)
    monkeypatch.setenv("TEACHERS_SECRET", "1")


@pytest.fixture(scope="module")
def folder():
    """Give a folder that everyone may write to."""
    with tempfile.TemporaryDirectory(prefix="rope-kv-hostile-") as name:
        os.chmod(name, 0o777)
        yield Path(name)


def written(name, place):
    """Write a hostile file, all of it, beside the folder that it may try to write to."""
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    right = (HERE / "_right.py").read_text(encoding="utf-8")
    source = right + (HERE / f"{name}.py").read_text(encoding="utf-8")
    source = source.replace("@FOLDER@", str(place)).replace("@PACKAGE@", str(PACKAGE))
    path = place.with_suffix(".py")
    path.write_text(source, encoding="utf-8")
    return path


@pytest.mark.parametrize("level", WORKING)
@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_gets_the_right_verdict_and_does_no_harm(
    name, level, hostile_profile, folder
):
    labels = labels_of(name, level)
    if level not in labels.get("levels", level):
        pytest.skip(f"its author says why it does not run at the level {level}")
    found = checking.check(
        written(name, folder / f"{name}-{level}"),
        profile="hostile",
        isolation=level,
        call_timeout=float(labels.get("call timeout", 2)),
        time_limit=float(labels.get("time limit", 30)),
    )
    verdict, isolation, report = found.verdict, found.isolation, str(found)
    broken = found.with_outcome("broken")
    smallest = [len(getattr(result.counterexample, "x", ())) for result in broken]
    assert verdict in labels["verdict"].split(), report
    assert isolation == level
    assert labels.get("says", "") in " ".join(report.split()), report
    if "rows" in labels:
        assert smallest[0] == int(labels["rows"]), report
    assert all(letter.isprintable() or letter == "\n" for letter in report)
    assert len(report) < 200_000
    left = list((folder / f"{name}-{level}").iterdir())
    if "leaves nothing" in labels:
        assert not left
        assert (
            not [line for line in commands() if labels["leaves nothing"] in line]
            or not (labels["leaves nothing"])
        )
    assert all(path.stat().st_size == 0 for path in left if not path.is_symlink())


def commands():
    """Return the command lines of all processes."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found
