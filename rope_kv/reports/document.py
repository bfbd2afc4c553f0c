"""The report for programs: one JSON object, as verdict.schema.json says."""

from __future__ import annotations

from typing import Any

from ..testing.case_json import to_json
from ..testing.plain import plain
from ..testing.verdict import Diagnosis, Result, Verdict

SCHEMA = "rope-kv/verdict/1"


def document(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON data."""
    return {
        "schema": SCHEMA,
        "implementation": plain(verdict.implementation),
        "against": plain(verdict.against),
        "verdict": verdict.verdict,
        "profile": verdict.profile,
        "isolation": verdict.isolation,
        "seconds": round(verdict.seconds, 3),
        "message": plain(verdict.message),
        "functions": verdict.functions,
        "diagnoses": [_diagnosis(found) for found in verdict.diagnoses],
        "properties": [_property(verdict, result) for result in verdict.results],
    }


def _diagnosis(found: Diagnosis) -> dict[str, Any]:
    return {
        "function": found.function,
        "looks_like": [
            {
                "name": trap.name,
                "slip": trap.slip,
                "misconception": trap.misconception,
                "hint": trap.hint,
            }
            for trap in found.looks_like
        ],
        "measured": [plain(sentence) for sentence in found.measured],
    }


def _property(verdict: Verdict, result: Result) -> dict[str, Any]:
    case = result.counterexample
    found = verdict.diagnosis(result.property.function) if result.outcome == "broken" else None
    return {
        "name": result.property.name,
        "function": result.property.function,
        "law": result.property.law,
        "outcome": result.outcome,
        "advice": result.property.advice,
        "examples": result.examples,
        "worst_ratio": result.worst_ratio,
        "seconds": round(result.seconds, 3),
        "counterexample": None if case is None else to_json(case),
        "message": plain(result.message),
        "kind": None if result.broken is None else result.broken.kind,
        "alone": result.replays,
        "after": [to_json(case) for case in result.history],
        "by_chance": result.by_chance,
        "because": result.because,
        "looks_like": found.looks_like[0].name if found and found.looks_like else None,
    }
