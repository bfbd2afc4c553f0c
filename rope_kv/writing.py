"""The reports that were asked for: where each goes, and that nothing else is lost for it."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .console import Misuse
from .files import write_whole
from .reports.forms import FORMS, Form

if TYPE_CHECKING:
    from .testing.verdict import Verdict

STDOUT = "-"


class Asked(NamedTuple):
    """The reports that were asked for, each with its file; and the options they take."""

    targets: tuple[tuple[Form, str], ...]
    options: dict[str, Any]

    @property
    def takes_stdout(self) -> bool:
        """Whether standard output is for a report, and so for nothing else."""
        return any(target == STDOUT for _, target in self.targets)

    @property
    def with_pictures(self) -> bool:
        """Whether a report shows what has to be measured for it."""
        return any(form.with_pictures for form, _ in self.targets)

    @property
    def with_marks(self) -> bool:
        """Whether a report gives marks, which are for the exercise alone."""
        return any(form.with_marks for form, _ in self.targets)

    def write(self, verdict: Verdict, *, only_always: bool = False) -> None:
        """Write each report; or only those that are written even where there is no verdict."""
        # These come first: nothing that befalls another report keeps them from being written.
        for form, target in sorted(self.targets, key=lambda asked: not asked[0].always):
            if form.always or not only_always:
                write(form, target, form.make(verdict, self.options))


def asked_for(given: argparse.Namespace) -> Asked:
    """Return the reports that the options ask for; Misuse where one of them cannot be written."""
    targets = targets_of(given, FORMS)
    if given.points is not None and not any("points" in form.takes for form, _ in targets):
        raise Misuse("--points says what --gradescope gives points for: name a file for both")
    points = None if given.points is None else _points(given.points)
    return Asked(targets, {"spec": given.implementation, "points": points})


def targets_of(given: argparse.Namespace, forms: tuple[Form, ...]) -> tuple[tuple[Form, str], ...]:
    """Return those of some forms that are asked for, each with its file.

    Misuse where one of them cannot be written.
    """
    targets = [
        (form, target) for form in forms if (target := getattr(given, form.name)) is not None
    ]
    seen: dict[str, Form] = {}
    for form, target in targets:
        place = target if target == STDOUT else os.path.realpath(target)
        if place in seen:
            where = "standard output" if target == STDOUT else target
            both = f"--{seen[place].name} and --{form.name}"
            raise Misuse(f"{both} cannot both go to {where}: choose another name")
        seen[place] = form
        _refuse_to_overwrite(form, target)
    return tuple(targets)


def _points(path: Path) -> dict[str, float]:
    from .reports.points import PointsError, read

    try:
        return read(path)
    except PointsError as error:
        raise Misuse(str(error)) from None


def _refuse_to_overwrite(form: Form, target: str) -> None:
    """Raise Misuse where a report would take the place of anything but an older one."""
    path = Path(target)
    if not target:
        raise Misuse(f"--{form.name} has an empty name: is the variable that should hold it set?")
    if target == STDOUT or (not path.exists() and path.parent.is_dir()):
        return
    if not path.is_file():
        raise Misuse(f"cannot write {target!r}: it is not a file in a folder that exists")
    if _is_appended_to(form, target):
        return
    try:
        is_own = form.is_own(path.read_text(encoding="utf-8"))
    except ValueError:
        is_own = False
    if not is_own:
        raise Misuse(f"{target} exists and is no {form.noun}: choose another name")


def _is_appended_to(form: Form, target: str) -> bool:
    shared = os.environ.get(form.appended_to, "") if form.appended_to else ""
    return bool(shared) and os.path.realpath(shared) == os.path.realpath(target)


def write(form: Form, target: str, content: str) -> None:
    """Write one report: a file, or standard output."""
    if target == STDOUT:
        # A document is the same wherever it is read, whatever the terminal can show.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        print(content, end="")
    elif _is_appended_to(form, target):
        with open(target, "a", encoding="utf-8") as file:
            file.write(f"\n{content}")
    else:
        write_whole(Path(target), content)
