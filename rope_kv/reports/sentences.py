"""What every report says of a verdict, in words; how it is arranged is the business of each."""

from __future__ import annotations

import shlex

from ..testing.comparison import counted
from ..testing.implementation import printable
from ..testing.verdict import Diagnosis, Result, Verdict
from . import numbers

MOST_CALLS = 2  # earlier calls that are shown in full


def counts(verdict: Verdict) -> str:
    """Return how many properties came out how."""
    found = {
        "held": len(verdict.with_outcome("held")),
        "broken": len(verdict.with_outcome("broken")),
        "not checked": len(verdict.with_outcome("not_checked")),
    }
    if known_ones := verdict.with_outcome("known"):
        found["known to fail"] = len(known_ones)
    if skipped := verdict.with_outcome("not_run"):
        found["not run"] = len(skipped)
    return ", ".join(f"{count} {word}" for word, count in found.items())


def counts_against(verdict: Verdict) -> str:
    """Return the same, and which old version it was compared with, if with any."""
    said = counts(verdict)
    return f"{said}, against {printable(verdict.against)}" if verdict.against else said


def not_checked(verdict: Verdict) -> str:
    """Return what must be declared for the other properties to be checked; "" for nothing."""
    reasons = dict.fromkeys(result.message for result in verdict.with_outcome("not_checked"))
    prefix = "declare "
    parts = [reason.removeprefix(prefix) for reason in reasons if reason.startswith(prefix)]
    others = [reason for reason in reasons if not reason.startswith(prefix)]
    return "; ".join(([prefix + ", ".join(parts)] if parts else []) + others)


def known(verdict: Verdict) -> list[str]:
    """Return what is known to fail, and why: a line for each property."""
    return [
        f"{result.property.title}: {result.message}" for result in verdict.with_outcome("known")
    ]


def not_run(verdict: Verdict) -> str:
    """Return why properties were not run; "" where all were."""
    reasons = dict.fromkeys(result.message for result in verdict.with_outcome("not_run"))
    return "; ".join(reasons)


def largest_error(verdict: Verdict) -> str:
    """Return how near to its bound the largest error is that is none."""
    worst = max((result.worst_ratio or 0.0 for result in verdict.with_outcome("held")), default=0)
    return f"{worst:.2g} of its rounding bound"


def function_note(verdict: Verdict, name: str, state: str) -> str:
    """Return what there is to say of one function, in a few words."""
    if state == "not_checked":
        return "not declared"
    if state == "held" and (cause := _cause(verdict, name)):
        return f"right by itself; wrong only because {cause} is"
    results = [r for r in verdict.results if r.property.function == name and not r.property.advice]
    unchecked = sum(result.outcome == "not_checked" for result in results)
    held = sum(result.outcome == "held" for result in results)
    note = f"{held} of {len(results) - unchecked} properties hold"
    if known_ones := sum(result.outcome == "known" for result in results):
        note += f", {known_ones} known to fail"
    if unchecked:
        note += f", {unchecked} not checked"
    found = verdict.diagnosis(name)
    return f"{note}; looks like {names(found)}" if found and found.looks_like else note


def told(found: Diagnosis | None) -> list[tuple[str, str]]:
    """Return labels and sentences: what the mistake looks like, and what was measured of it.

    Of several traps that nothing tells apart, each is told.
    """
    if found is None:
        return []
    said: list[tuple[str, str]] = []
    for trap in found.looks_like:
        said += [
            ("or like" if said else "looks like", f"{trap.name}: {trap.slip}"),
            ("often", trap.misconception),
            ("hint", trap.hint),
        ]
    return said + [("measured", sentence) for sentence in found.measured]


def names(found: Diagnosis) -> str:
    """Return the names of the known mistakes that a mistake looks like."""
    return " or ".join(trap.name for trap in found.looks_like)


def _cause(verdict: Verdict, name: str) -> str | None:
    """Return the function at the bottom of what is wrong with one that is right by itself."""
    blamed = {r.property.function: r.because for r in verdict.results if r.because}
    cause = blamed.get(name)
    while cause in blamed and verdict.functions[cause] == "held":
        cause = blamed[cause]
    return cause


def when(result: Result) -> str:
    """Return when the case breaks the property, where it does not always do so; else nothing."""
    if result.by_chance:
        return "not deterministic: the same calls are answered otherwise in another run"
    if result.replays:
        return ""
    if not result.history:
        return (
            "this case alone, with nothing called before it, is answered rightly: "
            "the answer depends on earlier calls, or on chance"
        )
    shown = "; then ".join(str(case) for case in result.history[-MOST_CALLS:])
    more = len(result.history) - MOST_CALLS
    others = f", and {counted(more, 'case')} before" if more > 0 else ""
    return (
        "depends on earlier calls: this case alone is answered rightly, "
        f"and wrongly after {shown}{others}"
    )


def where(at: tuple[int, ...], ratio: float | None) -> str:
    """Return which entry is the first that differs, and how far it is off."""
    place = f"first at [{', '.join(map(str, at))}]" if at else "the one number"
    return f"{place}, {numbers.times(ratio)}" if ratio is not None else place


def worst_case(result: Result) -> str:
    """Return the case with the largest error, where that is far larger than the shown one."""
    broken, worst = result.broken, result.worst_broken
    if broken is None or worst is None or not broken.ratio or not worst.ratio:
        return ""
    if worst.ratio <= 1000 * broken.ratio:
        return ""
    return f"{result.worst_case}: {numbers.times(worst.ratio)}"


def replay_command(result: Result, spec: str) -> str:
    """Return the command that runs the stored case again; "" where none is stored."""
    if not result.saved_as:
        return ""
    command = ["rope-kv", "replay", result.saved_as, "--impl", spec]
    if result.against:
        command += ["--against", result.against]
    return printable(shlex.join(command))
