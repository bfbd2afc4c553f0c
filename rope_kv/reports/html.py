"""The report to look at: one HTML page, or a part of one for a notebook.

It needs nothing but itself: no network and no script, and the page forbids both. The pictures
are drawn by matplotlib, where they were asked for and it is installed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from .. import __version__
from ..testing.shown import shown
from ..testing.verdict import Diagnosis, Result, Verdict
from . import sentences, tables, text
from .breaches import Breaches
from .markup import Markup, document, element

STYLE = Path(__file__).with_name("html.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
SIGNS = {"PASS": "✓", "NOT_RUN": "…"}


def page(verdict: Verdict, spec: str = "") -> str:
    """Return the report as a file of its own.

    `spec` is how the implementation was named: the commands to copy name it so.
    """
    broken = _broken(verdict, spec or verdict.implementation, "rk", is_page=True)
    return document(
        f"{verdict.verdict} · {verdict.implementation}",
        element("a", "Skip to what is broken", href="#rk-broken", class_="skip") if broken else "",
        element(
            "main", _header(verdict), *_diagnoses(verdict), *_functions(verdict), broken,
            *_all_results(verdict),
        ),
        policy=POLICY,
        style=_style(),
        class_="rope-kv page",
    )  # fmt: skip


def fragment(verdict: Verdict) -> str:
    """Return the report as a part of another page; its style touches nothing else there."""
    told = f"{verdict.implementation} {verdict.seconds} {verdict.message}"
    mark = f"rk{hashlib.sha256(told.encode(errors='replace')).hexdigest()[:8]}"
    return element(
        "div",
        element("style", Markup(_style())),
        _header(verdict),
        *_diagnoses(verdict),
        *_functions(verdict),
        _broken(verdict, verdict.implementation, mark, is_page=False),
        class_="rope-kv",
    )


def _style() -> str:
    return STYLE.read_text(encoding="utf-8")


def _header(verdict: Verdict) -> Markup:
    """Return the verdict, what it is on, and how many properties hold."""
    word = verdict.verdict
    kind = {"PASS": "pass", "NOT_RUN": "not-run"}.get(word, "fail")
    about = text.heading(
        verdict.implementation, verdict.profile, __version__, verdict.isolation, verdict.against
    )
    lines = [
        element("p", about, class_="where"),
        element("h1", element("span", SIGNS.get(word, "✗"), aria_hidden="true"), f" {word}"),
    ]
    if word == "LOAD_ERROR":
        return element("header", *lines, element("p", verdict.message), class_=kind)
    took = f", in {verdict.seconds:.1f} s" if verdict.seconds else ""
    lines.append(element("p", f"{sentences.counts(verdict)}{took}."))
    lines += [element("p", f"Known to fail: {line}") for line in sentences.known(verdict)]
    if reasons := sentences.not_run(verdict):
        lines.append(element("p", f"Not run: {reasons}."))
    if reasons := sentences.not_checked(verdict):
        lines.append(element("p", f"Not checked: {reasons}."))
    if word == "PASS":
        lines.append(element("p", f"Largest error: {sentences.largest_error(verdict)}."))
    if faults := text.errors(verdict):
        lines.append(element("pre", faults))
    return element("header", *lines, class_=kind)


def _diagnoses(verdict: Verdict) -> list[Markup]:
    """Return what the mistake in each function is, as far as it was found out."""
    if not verdict.diagnoses:
        return []
    found = [_diagnosis(diagnosis) for diagnosis in verdict.diagnoses]
    heading = element("h2", "What the mistake is")
    return [element("section", heading, *found, class_="diagnoses")]


def _diagnosis(found: Diagnosis) -> Markup:
    parts = []
    names = sentences.names(found)
    title = f"{found.function} looks like {names}" if names else found.function
    if len(found.looks_like) > 1:
        parts.append(element("p", "Nothing that was tried tells these apart."))
    for trap in found.looks_like:
        parts.append(element("p", trap.slip, class_="slip"))
        told = (("why one does it", trap.misconception), ("hint", trap.hint))
        parts.append(tables.terms([term for term in told if term[1]]))
    if found.measured:
        parts.append(element("ul", *(element("li", said) for said in found.measured)))
    return element("article", element("h3", title), *parts)


def _functions(verdict: Verdict) -> list[Markup]:
    if not verdict.results:
        return []
    rows = [
        (name, state.replace("_", " "), sentences.function_note(verdict, name, state))
        for name, state in verdict.functions.items()
    ]
    table = tables.listed(("function", "state", "properties"), rows, "Functions")
    return [element("section", element("h2", "Functions"), table)]


def _broken(verdict: Verdict, spec: str, mark: str, *, is_page: bool) -> Markup:
    found = shown(verdict.results)
    if not found.in_full:
        return Markup("")
    breaches = Breaches(found, spec, mark)
    parts = [*breaches.in_full(), *breaches.by_title()]
    notes = [element("p", note) for note in breaches.notes] if is_page else []
    return element("section", element("h2", "What is broken"), *notes, *parts, id=f"{mark}-broken")


def _all_results(verdict: Verdict) -> list[Markup]:
    """Return each property and what came out, folded."""
    if not verdict.results:
        return []
    rows = [
        (_named(result), _outcome(result), _error(result), result.property.law)
        for result in verdict.results
    ]
    headings = ("property", "outcome", "error, in bounds", "law")
    table = tables.listed(headings, rows, "All properties")
    summary = element("summary", element("h2", f"All {len(rows)} properties"))
    return [element("details", summary, table)]


def _named(result: Result) -> str:
    return result.property.title + (" (advice)" if result.property.advice else "")


def _outcome(result: Result) -> str:
    outcome = result.outcome.replace("_", " ")
    told = result.because or result.outcome in ("known", "not_checked")
    return f"{outcome}: {result.message}" if told else outcome


def _error(result: Result) -> str:
    return "" if result.worst_ratio is None else f"{result.worst_ratio:.2g}"
