"""The report for programs: one JSON object, schema rope-kv/verdict/1."""

from __future__ import annotations

from typing import Any

from ..testing.case_json import to_json
from ..testing.verdict import Result, Verdict

SCHEMA = "rope-kv/verdict/1"


def document(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON data."""
    return {
        "schema": SCHEMA,
        "implementation": verdict.implementation,
        "verdict": verdict.verdict,
        "profile": verdict.profile,
        "isolation": verdict.isolation,
        "seconds": round(verdict.seconds, 3),
        "message": verdict.message,
        "functions": verdict.functions,
        "properties": [_property(result) for result in verdict.results],
    }


def _property(result: Result) -> dict[str, Any]:
    case = result.counterexample
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
        "message": result.message,
        "kind": None if result.broken is None else result.broken.kind,
        "alone": result.replays,
        "after": [to_json(case) for case in result.history],
        "by_chance": result.by_chance,
        "because": result.because,
        "looks_like": None,
    }
