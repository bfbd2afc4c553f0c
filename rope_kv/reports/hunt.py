"""What is said of a hunt: one line while it goes on, and a table of its properties at the end."""

from __future__ import annotations

from collections.abc import Iterable

from ..testing.hunt import Hunt, Standing, Tally
from ..testing.plain import one_line
from . import numbers


def duration(seconds: float) -> str:
    """Return a time in its two largest units: 45s, 12m05s, 7h59m."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def line(standing: Standing) -> str:
    """Return how a hunt stands, what matters most first."""
    if standing.left is None:
        parts = [f"{duration(standing.passed)} so far"]
    else:
        parts = [f"{duration(standing.left)} left"]
    parts += [*_counted(standing), f"now {standing.title}"]
    return " · ".join(parts)


def summary(hunt: Hunt) -> str:
    """Return the last lines: a row for each property that was searched, and the count of all."""
    searched = [tally for tally in hunt.tallies if tally.latest is not None]
    standing = hunt.standing()
    said = [f"{duration(standing.passed)}, {hunt.over}", *_counted(standing)]
    if left := len(hunt.tallies) - len(searched):
        said.append(f"{left} properties had no turn")
    return "\n".join([*_rows(searched), "", " · ".join(said)])


def _counted(standing: Standing) -> list[str]:
    parts = [numbers.many(standing.cases, "case")]
    if standing.branches is not None:
        parts.append(numbers.many(standing.branches, "branch", "branches"))
    if standing.worst is not None:
        parts.append(f"largest error {numbers.about(standing.worst)} × bound")
    return [*parts, f"{standing.broken} broken"]


def _rows(tallies: Iterable[Tally]) -> list[str]:
    rows = [("", "cases", "error", "property"), *map(_row, tallies)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        f"{outcome:<{widths[0]}}  {cases:>{widths[1]}}  {error:>{widths[2]}}  {title}"
        for outcome, cases, error, title in rows
    ]


def _row(tally: Tally) -> tuple[str, str, str, str]:
    """Return the outcome of a property, its cases, its largest error in bounds, and its title."""
    latest = tally.latest
    if latest is None:
        return "", "", "", ""
    is_advice = tally.of.advice and latest.outcome == "broken"
    outcome = "advice" if is_advice else latest.outcome.replace("_", " ")
    error = "" if tally.worst is None else numbers.about(tally.worst)
    title = f"{tally.of.function} · {tally.of.title}"
    if latest.saved_as is not None:
        title += f"  ({one_line(latest.saved_as)})"
    elif latest.outcome != "broken" and latest.message:
        title += f"  ({one_line(latest.message)})"
    return outcome, f"{tally.cases:,}", error, title
