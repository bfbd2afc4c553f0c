"""The report for people: what broke, the smallest input that shows it, and a summary."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator

from ..testing.comparison import ENDING, counted
from ..testing.implementation import printable
from ..testing.property import Property
from ..testing.verdict import Diagnosis, Result, Verdict
from . import numbers

WIDTH = 100
LABEL = 13
# Breaches that are not of the law: what breaks it otherwise does not explain them.
SELF_EXPLAINING = ("raised", "unwritten", *ENDING)
MOST_CALLS = 2  # earlier calls that are shown in full
ASCII: dict[str, str | int | None] = {
    "θ": "theta", "ᵢ": "_i", "₀": "_0", "₁": "_1", "₂": "2", "₊": "+", "·": "*", "⟨": "<",
    "⟩": ">", "−": "-", "≠": "!=", "≥": ">=", "≤": "<=", "∈": "in", "∉": "not in", "∅": "{}",
    "∩": "&", "⇒": "=>", "↦": "->", "←": "<-", "′": "'", "√": "sqrt ", "ᵀ": "^T", "π": "pi",
    "∂": "d", "×": "x", "…": "...", "ℝ": "R", "⁰": "0", "¹": "1", "²": "^2", "³": "3",
    "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9", "⁻": "-", "^": "^",
}  # fmt: skip


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


def heading(verdict_of: str, profile: str, version: str, level: str) -> str:
    """Return the first line of a report."""
    return f"rope_kv {version} · {printable(verdict_of)} · profile {profile} · {isolation(level)}"


def failure(result: Result, spec: str, found: Diagnosis | None = None) -> str:
    """Return the text of one broken property, with what was found out about the mistake."""
    prop, broken = result.property, result.broken
    lines = [_title(result)]
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
        lines += _diagnosed(found)
    elif prop.advice:
        lines += _labelled("advice", prop.catches)
    elif broken is None or broken.kind not in SELF_EXPLAINING:
        lines += _labelled("catches", prop.catches)
    if note := _when(result):
        lines += _labelled("note", note)
    if result.saved_as:
        # One line, however long: it is there to be copied.
        command = printable(shlex.join(["rope-kv", "replay", result.saved_as, "--impl", spec]))
        lines.append(f"  {'replay':<{LABEL - 2}}{command}")
    return "\n".join(lines)


def _diagnosed(found: Diagnosis) -> list[str]:
    """Return the lines that say what the mistake looks like, or what was measured of it."""
    if not found.looks_like:
        return [line for said in found.measured for line in _labelled("measured", said)]
    trap = found.looks_like[0]
    names = " or ".join(trap.name for trap in found.looks_like)
    return [
        *_labelled("looks like", f"{names}: {trap.slip}"),
        *_labelled("often", trap.misconception),
        *_labelled("hint", trap.hint),
    ]


def report(verdict: Verdict, spec: str = "") -> str:
    """Return the whole report of a verdict."""
    return "\n\n".join([*failures(verdict, spec or verdict.implementation), summary(verdict)])


def failures(verdict: Verdict, spec: str) -> Iterator[str]:
    """Yield the text of each broken property, and of those that say nothing new their titles."""
    broken = [result for result in verdict.results if result.outcome == "broken"]
    names = {result.property.name for result in broken}
    alone = {result.property.function for result in broken if result.replays}
    seen: set[tuple[str, str]] = set()
    diagnosed_functions: set[str] = set()
    titles: dict[str, list[str]] = {}
    for result in broken:
        prop, key = result.property, (result.property.function, result.message)
        kind = result.broken.kind if result.broken is not None else "raised"
        if kind == "missing" and key in seen:
            continue
        if kind in ("raised", "unwritten", "type") and key in seen:
            titles.setdefault("for the same reasons:", []).append(_title(result))
        elif prop.widens in names:
            titles.setdefault("by the same laws, on other inputs:", []).append(_title(result))
        elif not result.replays and prop.function in alone:
            titles.setdefault("only after earlier calls:", []).append(_title(result))
        else:
            is_first = prop.function not in diagnosed_functions
            diagnosed_functions.add(prop.function)
            yield failure(result, spec, verdict.diagnosis(prop.function) if is_first else None)
        seen.add(key)
    for reason, lines in titles.items():
        yield "\n".join([reason, *lines])


def summary(verdict: Verdict) -> str:
    """Return the last lines: each function, then the count and the verdict."""
    if verdict.verdict == "LOAD_ERROR":
        return f"LOAD_ERROR  {printable(verdict.message)}"
    lines = [_function_line(verdict, name, state) for name, state in verdict.functions.items()]
    worst = max((result.worst_ratio or 0.0 for result in verdict.with_outcome("held")), default=0)
    counts = {
        "held": len(verdict.with_outcome("held")),
        "broken": len(verdict.with_outcome("broken")),
        "not checked": len(verdict.with_outcome("not_checked")),
    }
    not_run = verdict.with_outcome("not_run")
    if not_run:
        counts["not run"] = len(not_run)
    parts = ", ".join(f"{count} {word}" for word, count in counts.items())
    lines += ["", f"{verdict.verdict}  {parts}  ({verdict.seconds:.1f} s)"]
    if not_run:
        reasons = dict.fromkeys(result.message for result in not_run)
        lines.append(f"      not run: {'; '.join(reasons)}")
    if verdict.verdict == "PASS":
        lines.append(f"      largest error: {worst:.2g} of its rounding bound")
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
        ]
    )


def _title(result: Result) -> str:
    word = "advice" if result.property.advice else "FAIL"
    title = f"{result.property.function} · {result.property.title}"
    return f"{title:<{WIDTH - len(word) - 1}} {word}"


def _function_line(verdict: Verdict, name: str, state: str) -> str:
    results = [r for r in verdict.results if r.property.function == name and not r.property.advice]
    held = sum(result.outcome == "held" for result in results)
    notes = f"{held} of {len(results)} properties hold"
    if state == "held" and (cause := _cause(verdict, name)):
        notes = f"right by itself; wrong only because {cause} is"
    if (found := verdict.diagnosis(name)) is not None and found.looks_like:
        notes += f"; looks like {' or '.join(trap.name for trap in found.looks_like)}"
    return f"{name:<20}{state:<9}{notes}"


def _cause(verdict: Verdict, name: str) -> str | None:
    """Return the function at the bottom of what is wrong with one that is right by itself."""
    blamed = {r.property.function: r.because for r in verdict.results if r.because}
    cause = blamed.get(name)
    while cause in blamed and verdict.functions[cause] == "held":
        cause = blamed[cause]
    return cause


def _values(result: Result) -> list[str]:
    broken = result.broken
    if broken is None or broken.yours is None:
        return []
    digits = 4
    if broken.expected is not None and broken.at is not None:
        digits = numbers.digits_to_differ(broken.expected[broken.at], broken.yours[broken.at])
    shown = [broken.yours] if broken.expected is None else [broken.expected, broken.yours]
    matrices = numbers.rows(shown, broken.at, digits)
    lines = []
    for side, matrix in zip(broken.sides[-len(shown) :], matrices, strict=True):
        lines += _aligned(side, matrix)
    if broken.at is not None:
        lines += _labelled("differs", _where(broken.at, broken.ratio_at))
    worst = result.worst_broken
    if (
        worst is not None
        and worst.ratio is not None
        and broken.ratio is not None
        and worst.ratio > 1000 * broken.ratio
    ):
        lines += _labelled("worst", f"{result.worst_case}: {numbers.times(worst.ratio)}")
    return lines


def _when(result: Result) -> str:
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


def _where(at: tuple[int, ...], ratio: float | None) -> str:
    place = f"first at [{', '.join(map(str, at))}]" if at else "the one number"
    return f"{place}, {numbers.times(ratio)}" if ratio is not None else place


def _labelled(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"  {label:<{LABEL - 2}}",
        subsequent_indent=" " * LABEL,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _aligned(label: str, lines: list[str]) -> list[str]:
    return [
        f"  {label if i == 0 else '':<{LABEL - 2}}{line}".rstrip() for i, line in enumerate(lines)
    ]
