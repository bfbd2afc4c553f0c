"""The report for people: what broke, the smallest input that shows it, and a summary."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..testing.comparison import ENDING, Broken
from ..testing.implementation import printable
from ..testing.property import Property
from ..testing.shown import shown
from ..testing.verdict import Diagnosis, Result, Verdict
from . import numbers, sentences

WIDTH = 100
NARROWEST = 30  # Fewer columns leave no room beside the labels.
LABEL = 13
# Breaches that are not of the law: what breaks it otherwise does not explain them.
SELF_EXPLAINING = ("raised", "unwritten", *ENDING)
ASCII: dict[str, str | int | None] = {
    "θ": "theta", "ᵢ": "_i", "₀": "_0", "₁": "_1", "₂": "2", "₊": "+", "·": "*", "⟨": "<",
    "⟩": ">", "−": "-", "≠": "!=", "≥": ">=", "≤": "<=", "∈": "in", "∉": "not in", "∅": "{}",
    "∩": "&", "⇒": "=>", "↦": "->", "←": "<-", "′": "'", "√": "sqrt ", "ᵀ": "^T", "π": "pi",
    "∂": "d", "×": "x", "…": "...", "ℝ": "R", "⁰": "0", "¹": "1", "²": "^2", "³": "3",
    "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9", "⁻": "-", "^": "^",
}  # fmt: skip


_width: ContextVar[int] = ContextVar("width", default=WIDTH)


@contextmanager
def fitting(width: int) -> Iterator[None]:
    """Break the lines of what is made in the block for a terminal that may be narrow.

    Commands to copy stay whole.
    """
    token = _width.set(max(NARROWEST, min(width, WIDTH)))
    try:
        yield
    finally:
        _width.reset(token)


def is_narrow() -> bool:
    """Return whether there is less room than usual."""
    return _width.get() < WIDTH


def ascii_only(text: str) -> str:
    """Return the text in ASCII, its mathematics spelled out."""
    # A power of ten is the only place where several raised digits follow each other.
    text = text.replace("·10", "*10^").replace("2²⁰", "2^20").replace("2³¹", "2^31")
    translated = text.translate(str.maketrans(ASCII))
    return translated.encode("ascii", "backslashreplace").decode("ascii")


ISOLATIONS = {
    "none": "in process, not isolated",
    "process": "isolation level process (protects against bugs, not against malice)",
}


def isolation(level: str) -> str:
    """Return where code runs, in words."""
    return ISOLATIONS.get(level, f"isolation level {level}")


def heading(verdict_of: str, profile: str, version: str, level: str, against: str = "") -> str:
    """Return the first line of a report."""
    of = printable(verdict_of) + (f" against {printable(against)}" if against else "")
    return fitted(f"rope_kv {version} · {of} · profile {profile} · {isolation(level)}")


def failure(result: Result, spec: str, found: Diagnosis | None = None) -> str:
    """Return the text of one broken property, with what was found out about the mistake."""
    prop, broken = result.property, result.broken
    lines = [title(result)]
    if broken is not None and broken.kind == "missing":
        return "\n".join([*lines, *_labelled("found", broken.sentence)])
    lines += _labelled("law", prop.law)
    if result.counterexample is not None:
        lines += _labelled("smallest", str(result.counterexample))
    if broken is None:
        lines += _labelled("found", result.message)
    else:
        if broken.sentence:
            lines += _labelled("found", broken.sentence)
        lines += _values(result)
    if found is not None:
        lines += diagnosed(found)
    elif prop.advice:
        lines += _labelled("advice", prop.catches)
    elif broken is None or broken.kind not in SELF_EXPLAINING:
        lines += _labelled("catches", prop.catches)
    if note := sentences.when(result):
        lines += _labelled("note", note)
    if command := sentences.replay_command(result, spec):
        # One line, however long: it is there to be copied.
        lines.append(f"  {'replay':<{LABEL - 2}}{command}")
    return "\n".join(lines)


def diagnosed(found: Diagnosis | None) -> list[str]:
    """Return the lines that say what the mistake looks like, or what was measured of it."""
    return [line for label, said in sentences.told(found) for line in _labelled(label, said)]


def report(verdict: Verdict, spec: str = "") -> str:
    """Return the whole report of a verdict."""
    return "\n\n".join([*failures(verdict, spec or verdict.implementation), summary(verdict)])


def failures(verdict: Verdict, spec: str) -> Iterator[str]:
    """Yield the text of each broken property, and of those that say nothing new their titles."""
    found = shown(verdict.results)
    said: set[str] = set()
    for result in found.in_full:
        function = result.property.function
        yield failure(result, spec, None if function in said else verdict.diagnosis(function))
        said.add(function)
    for reason, results in found.by_title.items():
        yield "\n".join([reason, *map(title, results)])


def summary(verdict: Verdict) -> str:
    """Return the last lines: each function, then the count and the verdict."""
    if verdict.verdict == "LOAD_ERROR":
        return f"LOAD_ERROR  {printable(verdict.message)}"
    took = f"  ({verdict.seconds:.1f} s)" if verdict.seconds else ""
    lines = list(_function_lines(verdict))
    lines += [
        "",
        fitted(f"{verdict.verdict}  {sentences.counts_against(verdict)}{took}", " " * 6),
    ]
    for line in sentences.known(verdict):
        lines += wrapped(f"known: {line}", " " * 6, " " * 13)
    if reasons := sentences.not_run(verdict):
        lines.append(fitted(f"      not run: {reasons}", " " * 15))
    if reasons := sentences.not_checked(verdict):
        lines += wrapped(f"not checked: {reasons}", " " * 6, " " * 19)
    if verdict.verdict == "PASS":
        largest = sentences.largest_error(verdict)
        lines.append(fitted(f"      largest error: {largest}", " " * 6))
    return "\n".join(lines)


def errors(verdict: Verdict) -> str:
    """Return the faults of our own, one a line."""
    return "\n".join(
        f"{result.property.name}: {result.message} (a fault of rope_kv: please report it)"
        for result in verdict.with_outcome("error")
    )


def property_line(prop: Property) -> str:
    """Return one property for the table: name, law, what it catches."""
    kind = "  (advice: fails nothing)" if prop.advice else ""
    return "\n".join(
        [
            f"{prop.name}{kind}",
            *_labelled("law", prop.law),
            *_labelled("catches", prop.catches),
            *([] if prop.of_the_exercise else _labelled("needs", ", ".join(prop.all_needs))),
        ]
    )


def title(result: Result) -> str:
    """Return the line that names a broken property."""
    word = "advice" if result.property.advice else "FAIL"
    named = f"{result.property.function} · {result.property.title}"
    room = _width.get() - len(word) - 1
    *above, last = textwrap.wrap(
        named, room, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )
    return "\n".join([*above, f"{last:<{room}} {word}"])


def _function_lines(verdict: Verdict) -> Iterator[str]:
    states = {name: state.replace("_", " ") for name, state in verdict.functions.items()}
    room = max(8, *map(len, states.values())) + 1
    for name, state in states.items():
        note = sentences.function_note(verdict, name, verdict.functions[name])
        yield fitted(f"{name:<20}{state:<{room}}{note}", " " * 20)


def _values(result: Result) -> list[str]:
    broken = result.broken
    if broken is None or broken.yours is None:
        return []
    shown = [broken.yours] if broken.expected is None else [broken.expected, broken.yours]
    matrices = _matrices(shown, broken)
    lines = []
    for side, matrix in zip(broken.sides[-len(shown) :], matrices, strict=True):
        lines += _aligned(side, matrix)
    if broken.at is not None:
        lines += _labelled("differs", sentences.where(broken.at, broken.ratio_at))
    if worst := sentences.worst_case(result):
        lines += _labelled("worst", worst)
    return lines


def _matrices(shown: list[numbers.Array], broken: Broken) -> list[list[str]]:
    """Return matrices as lines, with so many columns as a narrow terminal has room for."""
    digits = numbers.digits(broken)
    for most in range(numbers.MOST_COLUMNS, 0, -1):
        matrices = numbers.rows(shown, broken.at, digits, most)
        longest = max(len(line) for matrix in matrices for line in matrix)
        if not is_narrow() or longest <= _width.get() - LABEL:
            break
    return matrices


def _labelled(label: str, text: str) -> list[str]:
    return wrapped(text, f"  {label:<{LABEL - 2}}", " " * LABEL)


def wrapped(text: str, first: str, others: str) -> list[str]:
    """Return a text in lines that fit, with what the first and the others begin with."""
    return textwrap.wrap(
        text,
        _width.get(),
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
        break_long_words=False,
    )


def fitted(line: str, indent: str = "  ") -> str:
    """Return a line that is broken only where a terminal has no room for it."""
    if not is_narrow() or len(line) <= _width.get():
        return line
    return "\n".join(wrapped(line, "", indent))


def _aligned(label: str, lines: list[str]) -> list[str]:
    return [
        f"  {label if i == 0 else '':<{LABEL - 2}}{line}".rstrip() for i, line in enumerate(lines)
    ]
