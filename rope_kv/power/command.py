"""The command power: what the properties find of the known mistakes, measured or stored."""

from __future__ import annotations

import argparse
import sys

from .. import traps, writing
from ..console import Misuse, fitting_reports, is_terminal, show, tell
from ..progress import ChangingLine
from ..reports import power as told
from ..reports.numbers import many
from ..testing.plain import one_line
from .forms import FORMS
from .table import Power, stored

EVERY = 25  # traps between two lines of progress, where they are not written over each other


def run(given: argparse.Namespace) -> int:
    """Print the power table, and write it as asked for; 1 where a trap is not caught."""
    targets = writing.targets_of(given, FORMS)
    power = _stored(given) if given.stored else _measured(given)
    for form, target in targets:
        writing.write(form, target, form.make(power, {}))
    if not any(target == writing.STDOUT for _, target in targets):
        with fitting_reports():
            report = told.report(power, in_full=given.verbose)
        show(report)
    return 0 if all(power.by_trap().values()) else 1


def _stored(given: argparse.Namespace) -> Power:
    return stored().of(tuple(trap.name for trap in _traps(given)))


def _measured(given: argparse.Namespace) -> Power:
    from ..grading.crews import CrewError
    from .measuring import UnmeasuredError, measured

    chosen = _traps(given)
    line = ChangingLine(sys.stderr, len(chosen)) if is_terminal(sys.stderr) else None

    def done(traps: int) -> None:
        said = f"  {traps} of {many(len(chosen), 'trap')}"
        if line:
            line.write(said)
        elif traps % EVERY == 0 or traps == len(chosen):
            tell(said)

    try:
        return measured(chosen, given.jobs, done)
    except (UnmeasuredError, CrewError) as error:
        raise Misuse(one_line(str(error))) from None
    finally:
        if line:
            line.over()


def _traps(given: argparse.Namespace) -> tuple[traps.Trap, ...]:
    """Return the traps that are named, or all; Misuse where there is none of a name."""
    try:
        return tuple(map(traps.find_trap, given.traps)) or traps.all_traps()
    except traps.NoTrapError as error:
        raise Misuse(error.args[0]) from None
