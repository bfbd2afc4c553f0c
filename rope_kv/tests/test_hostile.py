"""The sandbox against files that mean harm: each one, at each level that this machine has."""

import concurrent.futures
import multiprocessing
import os
import re
import tempfile
from pathlib import Path

import pytest

import rope_kv
from rope_kv.sandbox import process
from rope_kv.testing import check as checking
from rope_kv.testing.profiles import PROFILES, Profile
from rope_kv.testing.property import all_properties

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
    "rotation_returns_a_float64_array_like_x",
    "rotation_leaves_its_arguments_unchanged",
    "a_rotated_array_is_not_touched_by_later_calls",
    "rotation_does_not_depend_on_earlier_calls",
    "decoding_does_not_depend_on_earlier_calls",
}


def works(level):
    try:
        process.start(level, 512 << 20).close()
    except process.SandboxError:
        return False
    return True


LEVELS = [level for level in process.LEVELS if works(level)]


def labels_of(name, level):
    """Return what a file says of itself that holds at a level."""
    found = {}
    for label in LABEL.finditer((HERE / f"{name}.py").read_text(encoding="utf-8")):
        if label["level"] in (None, level):
            found[label["what"]] = label["value"] or ""
    return found


def judged(path, level, time_limit, call_timeout):
    """Return the verdict, the report, and the smallest case of the first broken property."""
    needed = [prop for prop in all_properties() if prop.name in NEEDED]
    assert len(needed) == len(NEEDED)
    checking.all_properties = lambda: needed
    PROFILES["hostile"] = Profile("hostile", examples=10, attempts=60, patience=4.0)
    os.environ["TEACHERS_SECRET"] = "1"
    verdict = checking.check(
        path, profile="hostile", isolation=level, call_timeout=call_timeout, time_limit=time_limit
    )
    broken = verdict.with_outcome("broken")
    smallest = [len(getattr(result.counterexample, "x", ())) for result in broken]
    return verdict.verdict, verdict.isolation, str(verdict), smallest


@pytest.fixture(scope="module")
def folder():
    """Give a folder that everyone may write to."""
    with tempfile.TemporaryDirectory(prefix="rope-kv-hostile-") as name:
        os.chmod(name, 0o777)
        yield Path(name)


@pytest.fixture(scope="module")
def running(folder):
    """Give what comes of every file at every level, two at a time."""
    right = (HERE / "_right.py").read_text(encoding="utf-8")
    context = multiprocessing.get_context("spawn")
    running = {}
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        for name in FILES:
            for level in LEVELS:
                labels = labels_of(name, level)
                if level not in labels.get("levels", level):
                    continue
                place = folder / f"{name}-{level}"
                place.mkdir(mode=0o777)
                place.chmod(0o777)
                source = right + (HERE / f"{name}.py").read_text(encoding="utf-8")
                source = source.replace("@FOLDER@", str(place)).replace("@PACKAGE@", str(PACKAGE))
                path = place.with_suffix(".py")
                path.write_text(source, encoding="utf-8")
                limits = float(labels.get("time limit", 30)), float(labels.get("call timeout", 2))
                running[name, level] = pool.submit(judged, str(path), level, *limits)
        yield running


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_gets_the_right_verdict_and_does_no_harm(name, level, running, folder):
    labels = labels_of(name, level)
    if (name, level) not in running:
        pytest.skip(f"its author says why it does not run at the level {level}")
    verdict, isolation, report, smallest = running[name, level].result(timeout=120)
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
