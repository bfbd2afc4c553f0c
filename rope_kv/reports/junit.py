"""The report for CI systems: JUnit XML, as Jenkins, GitLab and GitHub's reporters read it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import PurePath

from .. import __version__
from ..testing.comparison import ENDING
from ..testing.plain import one_line, plain
from ..testing.verdict import Result, Verdict
from . import text


def junit(verdict: Verdict, spec: str = "") -> str:
    """Return the verdict as JUnit XML: a test case for each property.

    A wrong answer is a failure; a crash, a call that does not return, a forged answer and a fault
    of rope_kv are errors; what was not run is skipped. Advice fails nothing. Where no property
    was run there is one case, that the code loads, and it is an error.
    """
    spec = spec or verdict.implementation
    cases = [_case(verdict, result, spec) for result in verdict.results] or [_not_loaded(verdict)]
    counts = {"tests": str(len(cases))}
    for word, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[word] = str(sum(case.find(tag) is not None for case in cases))
    seconds = f"{verdict.seconds:.3f}"
    suite = ET.Element(
        "testsuite", {"name": one_line(verdict.implementation), **counts, "time": seconds}
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("rope_kv", __version__),
        ("verdict", verdict.verdict),
        ("profile", verdict.profile),
        ("isolation", verdict.isolation),
        *([("against", one_line(verdict.against))] if verdict.against else []),
    ):
        ET.SubElement(properties, "property", {"name": name, "value": value})
    suite.extend(cases)
    ET.SubElement(suite, "system-out").text = plain(text.report(verdict, spec))
    # The plugins that are strict know no count of skipped cases here.
    del counts["skipped"]
    root = ET.Element("testsuites", {"name": "rope_kv", **counts, "time": seconds})
    root.append(suite)
    ET.indent(root, " ")
    content = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{content}\n'


def _case(verdict: Verdict, result: Result, spec: str) -> ET.Element:
    prop, broken = result.property, result.broken
    case = _test(verdict, prop.function, prop.title, result.seconds)
    if result.outcome == "broken":
        failure = text.failure(result, spec)
        if prop.advice:
            ET.SubElement(case, "system-out").text = plain(failure)
        else:
            kind = "raised" if broken is None else broken.kind
            # What ended a process is an error to JUnit, and a wrong answer a failure.
            tag = "error" if kind in ENDING else "failure"
            said = "\n".join([failure, *text.diagnosed(verdict.diagnosis(prop.function))])
            where = f"{result.counterexample}: " if kind == "value" else ""
            _outcome(case, tag, kind, f"{where}{result.message}", said)
    elif result.outcome == "error":
        _outcome(case, "error", "GRADER_ERROR", f"a fault of rope_kv: {result.message}")
    elif result.outcome != "held":
        _outcome(case, "skipped", result.outcome, result.message)
    elif result.because:
        ET.SubElement(case, "system-out").text = plain(result.message)
    return case


def _not_loaded(verdict: Verdict) -> ET.Element:
    case = _test(verdict, "", "the code loads", verdict.seconds)
    _outcome(case, "error", verdict.verdict, verdict.message, verdict.message)
    return case


def _test(verdict: Verdict, function: str, name: str, seconds: float) -> ET.Element:
    """Return a test case in the class of its function, in the package of the implementation.

    So a page that groups by package and class shows the implementations apart.
    """
    package = PurePath(verdict.implementation).name.replace(".py:", ".").removesuffix(".py")
    named = re.sub(r"[^\w.]+", "_", one_line(package)).strip(".") or "implementation"
    classname = f"{named}.{function}" if function else named
    return ET.Element("testcase", {"classname": classname, "name": name, "time": f"{seconds:.3f}"})


def _outcome(case: ET.Element, tag: str, kind: str, message: str, said: str = "") -> None:
    outcome = ET.SubElement(case, tag, {"type": kind, "message": one_line(message)})
    outcome.text = plain(said) or None
