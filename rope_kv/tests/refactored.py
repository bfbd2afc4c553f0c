"""The refactors in refactors/, and what the tests of --against have in common."""

from pathlib import Path

from rope_kv import check
from rope_kv.cli import main
from rope_kv.testing.profiles import PROFILES, Profile

FOLDER = Path(__file__).parent / "refactors"
OLD = str(FOLDER / "old.py")
RIGHT = ("fused", "preallocated", "table")
# What no oracle of ours knows: a scale of its own, and pairs turned the other way.
OWN_CONVENTION = (
    ("/ np.sqrt(q.shape[2])", "/ q.shape[2]"),
    (
        "even * cos - odd * sin, even * sin + odd * cos",
        "even * cos + odd * sin, odd * cos - even * sin",
    ),
)


def prepare(tmp_path, monkeypatch):
    """Go to an empty folder, and make searches short: what differs here shows in a few cases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PROFILES, "grade", Profile("grade", 20, attempts=100, patience=20.0))


def run(capsys, *arguments):
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def written(name, *changes, source="old"):
    """A file here: one of the refactors, with passages replaced."""
    text = (FOLDER / f"{source}.py").read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    Path(name).write_text(text, encoding="utf-8")
    return name


def compared(new, old=OLD, **more):
    return check(new, against=old, **{"laws": "none", "isolation": "none", **more})


def broken(verdict):
    return {result.property.name: result for result in verdict.with_outcome("broken")}
