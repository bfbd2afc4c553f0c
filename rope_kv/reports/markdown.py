"""The report for a pull request or the summary of a GitHub job: Markdown.

All that others can have written stands in code, inline or fenced: nothing is markup there, no link
is made of it and nobody is mentioned.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from .. import __version__
from ..testing.plain import one_line, plain
from ..testing.shown import shown
from ..testing.verdict import Diagnosis, Result, Verdict
from . import sentences, text

BEGIN, END = "<!-- rope-kv/markdown/1 -->", "<!-- rope-kv/markdown/1 end -->"
MOST = 60_000  # GitHub refuses a comment of more than 65 536 characters.
NO_ROOM = "What has only a title had no room here: `rope-kv check` shows it."
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&@:$])")


def markdown(verdict: Verdict, spec: str = "") -> str:
    """Return the verdict as Markdown: a table of the functions, then a section for each failure.

    Where it would be longer than a comment may be, the last failures have only their titles.
    """
    parts = [BEGIN, *_head(verdict)]
    size, is_whole = sum(map(len, parts)), True
    for heading, *body in _sections(verdict, spec or verdict.implementation):
        needed = sum(map(len, body))
        fits = size + needed < MOST
        parts += [heading, *(body if fits else [])]
        size += len(heading) + (needed if fits else 0)
        is_whole = is_whole and fits
    return "\n\n".join([*parts, *([] if is_whole else [NO_ROOM]), END]) + "\n"


def code(said: str) -> str:
    """Return a line as inline code, whatever is in it."""
    said = one_line(said) or "?"
    ticks = "`" * (_longest_run(said) + 1)
    return f"{ticks} {said} {ticks}" if "`" in said else f"{ticks}{said}{ticks}"


def fenced(said: str) -> str:
    """Return lines as a block of code, whatever is in them."""
    said = plain(said)
    fence = "`" * max(3, _longest_run(said) + 1)
    return f"{fence}text\n{said}\n{fence}"


def prose(said: str) -> str:
    """Return a line of our own in which nothing is markup."""
    return _MARKUP.sub(r"\\\1", one_line(said))


def _longest_run(said: str) -> int:
    return max(map(len, re.findall("`+", said)), default=0)


def _head(verdict: Verdict) -> Iterator[str]:
    against = f" against {code(verdict.against)}" if verdict.against else ""
    yield f"### rope_kv: {verdict.verdict} for {code(verdict.implementation)}{against}"
    where = (
        f"profile {verdict.profile}, {text.isolation(verdict.isolation)}, rope_kv {__version__}"
    )
    if verdict.message:
        yield fenced(verdict.message)
    if errors := text.errors(verdict):
        yield fenced(errors)
    if verdict.results:
        yield f"{sentences.counts(verdict)} in {verdict.seconds:.1f} s ({where})"
        rows = [
            f"| `{name}` | {state.replace('_', ' ')} | "
            f"{prose(sentences.function_note(verdict, name, state))} |"
            for name, state in verdict.functions.items()
        ]
        yield "\n".join(["| function | state | properties |", "| --- | --- | --- |", *rows])
    if lines := sentences.known(verdict):
        yield fenced("\n".join(f"known: {line}" for line in lines))
    if reasons := sentences.not_run(verdict):
        yield fenced(f"not run: {reasons}")
    if reasons := sentences.not_checked(verdict):
        yield fenced(f"not checked: {reasons}")


def _sections(verdict: Verdict, spec: str) -> Iterator[list[str]]:
    """Yield a heading and what is under it, for each function and each of its failures."""
    for name in verdict.functions:
        found = shown(result for result in verdict.results if result.property.function == name)
        if found.in_full:
            yield [f"### `{name}`", *_mistake(verdict.diagnosis(name))]
        for result in found.in_full:
            _, *lines = text.failure(result, spec).split("\n")
            yield [_title(result), fenced(textwrap.dedent("\n".join(lines)))]
        for reason, results in found.by_title.items():
            titles = "\n".join(f"- {result.property.title}" for result in results)
            yield [f"{reason}\n\n{titles}"]


def _title(result: Result) -> str:
    advice = " (advice, fails nothing)" if result.property.advice else ""
    return f"#### {result.property.title}{advice}"


def _mistake(found: Diagnosis | None) -> Iterator[str]:
    """Yield what the mistake in a function looks like, and what was measured of it."""
    for trap in found.looks_like if found else ():
        yield f"**Looks like {code(trap.name)}.** {prose(trap.slip)} {prose(trap.misconception)}"
        yield f"**Hint:** {prose(trap.hint)}"
    if found and found.measured:
        yield fenced("\n".join(map(one_line, found.measured)))
