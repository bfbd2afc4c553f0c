"""What is found out about a mistake that no trap makes: where it shows, and what it amounts to.

An implementation is called along axes, one thing of the call growing and all else as it was; and
what it answers wrongly is compared with right answers in which other parts stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .answers import Answered, answered
from .axes import AXES, ROW, found_along, rows
from .cases import Case, DecodeCase, FrequencyCase, RotationCase, array, size
from .decode_formula import DECODING
from .implementation import Implementation
from .rotation_formula import FREQUENCIES, ROTATION
from .variants import Formula, equals
from .verdict import Result

# Cases of more numbers than this are not compared with formulas, nor more cases than this.
MOST_NUMBERS = 300
MOST_CASES = 6
MOST_SAID = 3
# Between which errors, in proportion to the numbers, one speaks of which precision.
PRECISIONS = {
    "single precision": (2.0**-30, 2.0**-20),
    "half precision or bfloat16": (2.0**-14, 2.0**-5),
}
NEAR, FAR = (1, 2, 3, 5, 7), (100003, 524287, 1048573)
GROWN = 20  # times as large far away


def measured(function: str, mistakes: Sequence[Result], impl: Implementation) -> tuple[str, ...]:
    """Return what was found out about the mistake in a function, in sentences; perhaps nothing."""
    if function not in PROBES or not impl.capabilities.is_plain:
        return ()
    own = [answered(impl, case) for case in _plain(mistakes)]
    fixed = [answered(impl, case) for case in PROBES[function]]
    wrong = [answer for answer in (*own, *fixed) if not answer.is_right]
    if wrong and (phrase := explained(function, (*own, *fixed))):
        return (f"equals the right answer with {phrase}",)
    # At far positions the errors of any precision are large.
    judged = fixed if function == "apply_rope" else [*own, *fixed]
    said = {precision(function, judged, impl): None}
    for axis in AXES[function]:
        said[found_along(axis, impl, wrong)] = None
    if not wrong and any(result.property.subject == "repeated_calls" for result in mistakes):
        said["right on the first call, wrong on a later one"] = None
    # What is returned is told apart from the numbers in it, which are all that is measured.
    is_odd = any(result.broken is not None and result.broken.kind == "type" for result in mistakes)
    found = [phrase for phrase in said if phrase]
    return tuple(f"as numbers, {one}" if is_odd else one for one in found[:MOST_SAID])


FORMULAS: dict[str, Formula] = {
    "rope_freqs": FREQUENCIES,
    "apply_rope": ROTATION,
    "decode_incremental": DECODING,
}


def explained(function: str, answers: Sequence[Answered]) -> str:
    """Return which other parts of the formula explain all these answers, or ""."""
    known = [
        (_arguments(answer.case), answer.numbers)
        for answer in sorted(answers, key=lambda answer: (answer.is_right, answer.right.size))
        if answer.numbers is not None
    ]
    return equals(FORMULAS[function], known) if len(known) == len(answers) else ""


def _arguments(case: Case) -> tuple[Any, ...]:
    if isinstance(case, RotationCase):
        return array(case.x), case.positions, case.base
    if isinstance(case, DecodeCase):
        return array(case.x), case.decoder()
    return tuple(case)


def _plain(mistakes: Sequence[Result]) -> list[Case]:
    """Return the plain calls in the cases that broke a property by a value."""
    found: dict[Case, None] = {}
    for result in mistakes:
        case = result.counterexample
        if result.broken is None or result.broken.kind != "value" or not result.replays:
            continue
        parts = *getattr(case, "rotations", tuple)(), *getattr(case, "decodes", tuple)()
        for part in parts or (case,):
            if isinstance(part, _PLAIN) and size(part)[0] <= MOST_NUMBERS:
                found[part] = None
    return list(found)[:MOST_CASES]


_PLAIN = (FrequencyCase, RotationCase, DecodeCase)


PROBES: dict[str, tuple[Case, ...]] = {
    "rope_freqs": (FrequencyCase(8, 10000), FrequencyCase(6, 100), FrequencyCase(10, 10)),
    "apply_rope": (
        RotationCase(rows(4, 6), (3, 1, 4, 1), 10000),
        RotationCase(rows(3, 8), (0, 1, 2), 100),
        RotationCase(rows(2, 4), (7, 11), 10),
    ),
    "decode_incremental": (
        DecodeCase(rows(5, 4), 10000, 1),
        DecodeCase(rows(7, 6), 100, 2),
        DecodeCase(rows(3, 2), 10000, 3),
        DecodeCase(rows(70, 4), 100, 2),
    ),
}


def precision(function: str, answers: Sequence[Answered], impl: Implementation) -> str:
    """Return which precision the error is like, and whether it grows with the position, or ""."""
    if decimals := next((n for n in range(2, 13) if all_rounded(answers, n)), 0):
        return f"every number is rounded to {decimals} decimals"
    error = largest_error(answers)
    name = next((name for name, (low, high) in PRECISIONS.items() if low < error < high), "")
    if not name:
        return ""
    if function == "apply_rope":
        near, far = (
            [answered(impl, RotationCase(ROW, (p,), 10000)) for p in places]
            for places in (NEAR, FAR)
        )
        if not largest_error(far) < GROWN * largest_error(near):
            return f"the error grows with the position, as that of {name} does"
    return f"the error is as large as that of {name}"


def largest_error(answers: Sequence[Answered]) -> float:
    """Return the largest error of some answers, in proportion to what is right.

    A frequency is compared with itself, a rotated or decoded number with the largest.
    """
    errors = [0.0]
    for answer in answers:
        is_frequencies = isinstance(answer.case, FrequencyCase)
        whole = np.abs(answer.right) if is_frequencies else np.abs(answer.right).max()
        numbers = np.inf if answer.numbers is None else answer.numbers
        if np.all(whole):
            errors.append(np.max(np.abs(numbers - answer.right) / whole))
    return float(np.max(errors))


def all_rounded(answers: Sequence[Answered], decimals: int) -> bool:
    """Return whether all numbers of some answers have so few decimals."""
    return all(
        answer.numbers is not None
        and np.array_equal(answer.numbers.round(decimals), answer.numbers)
        for answer in answers
    )
