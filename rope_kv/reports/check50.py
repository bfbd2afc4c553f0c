"""The report in the form of check50: each result is true, false, or null for not known."""

from __future__ import annotations

from typing import Any

from .. import __version__
from ..testing.capabilities import NOTHING_DECLARED
from ..testing.case_json import to_json
from ..testing.comparison import EXPECTED_AND_YOURS, Broken
from ..testing.plain import one_line, plain
from ..testing.property import Property, properties_for
from ..testing.verdict import Result, Verdict
from . import numbers, sentences, text

SLUG = "rope_kv"
LOADS = "loads"
# Some versions of check50 put a cause into their page unescaped.
NO_TAGS = str.maketrans("<>", "‹›")


def check50(verdict: Verdict, spec: str = "") -> dict[str, Any]:
    """Return the data of check50's JSON: a check that the code loads, then one for each property.

    Null is what is not known: what was not run, and what a fault of rope_kv hides. Advice that
    does not hold is null as well, since it fails nothing.
    """
    spec = spec or verdict.implementation
    checks = [_check(verdict, result, spec) for result in verdict.results]
    if not checks:
        cause = {"rationale": "can't check until the code loads", "help": None}
        checks = [_result(prop, None, cause) for prop in properties_for(NOTHING_DECLARED)]
    return {"slug": SLUG, "results": [_loads(verdict), *checks], "version": __version__}


def _loads(verdict: Verdict) -> dict[str, Any]:
    passed = {"LOAD_ERROR": False, "GRADER_ERROR": None}.get(verdict.verdict, True)
    if verdict.results:
        passed = True
    name = one_line(verdict.implementation)
    return {
        "name": LOADS,
        "description": f"{name} loads",
        "passed": passed,
        "log": [],
        "cause": None if passed else _cause(verdict.message),
        "data": {},
        "dependency": None,
    }


def _check(verdict: Verdict, result: Result, spec: str) -> dict[str, Any]:
    prop, found = result.property, verdict.diagnosis(result.property.function)
    data = {
        "function": prop.function,
        "law": prop.law,
        "examples": result.examples,
        "worst_ratio": result.worst_ratio,
        "counterexample": result.counterexample and to_json(result.counterexample),
    }
    if result.outcome == "held":
        return _result(prop, True, None, data)
    if result.outcome != "broken":
        fault = "a fault of rope_kv: " if result.outcome == "error" else ""
        return _result(prop, None, _cause(f"{fault}{result.message}"), data)
    advice = "advice, which fails nothing: " if prop.advice else ""
    help = f"catches: {prop.catches}"
    if found is not None and not prop.advice:
        told = sentences.told(found)
        help = " ".join(f"{label}: {sentence}" for label, sentence in told) or help
    cause = _cause(f"{advice}{result.message}", help) | _values(result.broken)
    log = plain(text.failure(result, spec)).split("\n")
    return _result(prop, None if prop.advice else False, cause, data, log)


def _result(
    prop: Property,
    passed: bool | None,
    cause: dict[str, Any] | None,
    data: dict[str, Any] | None = None,
    log: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "name": prop.name,
        "description": f"{prop.function}: {prop.title}",
        "passed": passed,
        "log": log or [],
        "cause": cause,
        "data": data or {},
        "dependency": LOADS,
    }


def _cause(rationale: str, help: str | None = None) -> dict[str, Any]:
    return {
        "rationale": one_line(rationale).translate(NO_TAGS),
        "help": help and one_line(help).translate(NO_TAGS),
    }


def _values(broken: Broken | None) -> dict[str, str]:
    """Return the numbers of a breach under check50's names, where these are what they are."""
    if broken is None or broken.expected is None or broken.yours is None:
        return {}
    if broken.sides != EXPECTED_AND_YOURS:
        return {}
    matrices = [broken.expected, broken.yours]
    expected, actual = numbers.rows(matrices, broken.at, numbers.digits(broken))
    return {"expected": "\n".join(expected), "actual": "\n".join(actual)}
