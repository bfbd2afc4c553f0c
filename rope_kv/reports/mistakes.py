"""What is said of the mistake in a function: the same sentences in every report."""

from __future__ import annotations

import textwrap

from ..testing.verdict import Diagnosis
from .text import LABEL, WIDTH


def told(found: Diagnosis | None) -> list[tuple[str, str]]:
    """Return labels and sentences: what the mistake looks like, and what was measured of it.

    Of several traps that nothing tells apart, each is named.
    """
    if found is None:
        return []
    sentences: list[tuple[str, str]] = []
    for trap in found.looks_like:
        sentences += [
            ("looks like" if not sentences else "or like", f"{trap.name}: {trap.slip}"),
            ("often", trap.misconception),
            ("hint", trap.hint),
        ]
    return sentences + [("measured", said) for said in found.measured]


def lines(found: Diagnosis | None) -> list[str]:
    """Return the sentences as lines of text, under the same margin as a failure's."""
    return [
        line
        for label, sentence in told(found)
        for line in textwrap.wrap(
            sentence,
            WIDTH,
            initial_indent=f"  {label:<{LABEL - 2}}",
            subsequent_indent=" " * LABEL,
            break_on_hyphens=False,
            break_long_words=False,
        )
    ]
