"""The report for Gradescope: what an autograder leaves in results.json."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..testing.plain import one_line, plain
from ..testing.property import all_properties
from ..testing.shown import shown
from ..testing.verdict import Verdict
from . import sentences, text
from .points import DEFAULT

SCHEMA = "rope-kv/gradescope/1"
UNGRADED = "This was not graded, which says nothing about it. Please tell your teacher:"
FORGED = (
    "The file sent what only rope_kv may send, so that nothing it answered can be believed: "
    "it gets no points."
)


def gradescope(
    verdict: Verdict, points: Mapping[str, float] | None = None, spec: str = ""
) -> dict[str, Any]:
    """Return the data of results.json.

    `points` are what functions and properties are worth, by name. A function gives all of its
    points if all its properties hold, and else none: a wrong one obeys most laws, so a share of
    the points would be a mark for nothing. One that is wrong only because a lower one is gives
    its points, and what was not run gives none.

    Where rope_kv is at fault there is no score, neither points nor zero.
    """
    tests = list(_tests(verdict, points or DEFAULT, spec or verdict.implementation))
    is_graded = verdict.verdict != "GRADER_ERROR"
    return {
        "extra_data": {
            "schema": SCHEMA,
            "implementation": one_line(verdict.implementation),
            "verdict": verdict.verdict,
            "profile": verdict.profile,
            "isolation": verdict.isolation,
        },
        # Rounded, since 0.1 and 0.2 are 0.3 to a student.
        **({"score": round(math.fsum(t.get("score", 0) for t in tests), 6)} if is_graded else {}),
        "execution_time": round(verdict.seconds, 1),
        "output": plain(_output(verdict)),
        # As text, so that what a student wrote is no part of the page.
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "tests": tests if is_graded else [],
    }


def _output(verdict: Verdict) -> str:
    if verdict.verdict == "GRADER_ERROR":
        return "\n".join([UNGRADED, verdict.message or text.errors(verdict)])
    forged = [FORGED, ""] if verdict.verdict == "PROTOCOL" else []
    return "\n".join([*forged, text.summary(verdict)])


def _tests(verdict: Verdict, points: Mapping[str, float], spec: str) -> Iterator[dict[str, Any]]:
    """Yield a test for each function, and for each property that gives points."""
    for name, state in verdict.functions.items():
        yield _test(verdict, name, state == "held", points.get(name), _said(verdict, name, spec))
    results = {result.property.name: result for result in verdict.results}
    for prop in all_properties():
        if prop.name not in points:
            continue
        result = results.get(prop.name)
        if result is None:
            said, held = verdict.message, False
        else:
            held = result.outcome == "held"
            said = text.failure(result, spec) if result.outcome == "broken" else result.message
        yield _test(verdict, prop.title, held, points[prop.name], said or "It holds.")


def _test(verdict: Verdict, name: str, held: bool, worth: float | None, said: str) -> Any:
    passed = held and verdict.verdict != "PROTOCOL"
    return {
        "name": name,
        "status": "passed" if passed else "failed",
        **({} if worth is None else {"score": worth if passed else 0, "max_score": worth}),
        "output": plain(said),
        "output_format": "text",
    }


def _said(verdict: Verdict, name: str, spec: str) -> str:
    """Return what there is to say of a function: its state, its mistake, and what is broken."""
    if not verdict.results:
        return verdict.message
    note = sentences.function_note(verdict, name, verdict.functions[name])
    results = [result for result in verdict.results if result.property.function == name]
    reasons = dict.fromkeys(result.message for result in results if result.outcome == "not_run")
    found = shown(results)
    return "\n\n".join(
        [
            "\n".join([note, *(f"not run: {reason}" for reason in reasons)]),
            *filter(None, ["\n".join(text.diagnosed(verdict.diagnosis(name)))]),
            *(text.failure(result, spec) for result in found.in_full),
            *(
                "\n".join([reason, *(f"  {result.property.title}" for result in others)])
                for reason, others in found.by_title.items()
            ),
        ]
    )
