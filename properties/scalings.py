"""What the properties of scaling draw: rules with their numbers, and calls that use them."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from rope_kv import oracle_scaling
from rope_kv.testing.library_cases import (
    PartialRotationCase,
    ScaledCallsCase,
    ScaledFrequencyCallsCase,
    ScaledFrequencyCase,
    Scaling,
)
from rope_kv.testing.scaling_bounds import is_well_conditioned

from .values import EDGES, FINE, NEAR, entries, matrix, one_of, scaled, some

RULES = tuple(oracle_scaling.RULES)
FACTORS = (2.0, 4.0, 1.5, 8.0, 1.0, 32.0, 1.25)
BASES = (10000, 100, 500000, 10, 1000000, 500)
ORIGINAL = (4096, 2048, 8192, 64, 16, 32)
SHORT = (2, 1, 3, 4)


@st.composite
def scalings(
    draw: st.DrawFn,
    d: int,
    base: float,
    rules: tuple[str, ...] = RULES,
    originals: tuple[int, ...] = SHORT,
) -> Scaling:
    """Draw a rule and its numbers, for d entries that are turned; d of at least 4."""
    rule = draw(one_of(*rules))
    factor = draw(one_of(*FACTORS))
    if rule in ("linear", "ntk"):
        return Scaling(rule, factor)
    scaling = Scaling(rule, factor, draw(one_of(*originals)))
    if rule == "yarn":
        numbers = draw(one_of((), (32.0, 1.0), (16.0, 2.0), (32.0, 1.0, 1.25), (4.0, 0.5, 1.0)))
        scaling = scaling._replace(numbers=numbers, original_max_position=draw(one_of(*ORIGINAL)))
        # Where rounding alone decides which pairs a band holds, more than one answer is right.
        assume(is_well_conditioned(d, base, scaling.mapping()))
    elif rule == "llama3":
        numbers = draw(one_of((1.0, 4.0), (0.5, 2.0), (2.0, 32.0)))
        scaling = scaling._replace(numbers=numbers, original_max_position=draw(one_of(*ORIGINAL)))
    elif rule == "longrope":
        tables = tuple(draw(one_of(1.0, 1.5, 2.0, 4.0, 16.0)) for _ in range(d))
        # Of one position there is no logarithm to divide by.
        original = max(2, scaling.original_max_position)
        scaling = scaling._replace(numbers=tables, original_max_position=original)
    return scaling


@st.composite
def scaled_frequencies(draw: st.DrawFn, *rules: str) -> ScaledFrequencyCase:
    """Draw a call of rope_freqs by one of some rules, on both sides of the original length."""
    d, base = draw(one_of(4, 6, 8, 16, 64, 128)), draw(one_of(*BASES))
    if "longrope" in rules:
        d = min(d, 16)
    scaling = draw(scalings(d, base, rules, (*ORIGINAL, *SHORT)))
    return ScaledFrequencyCase(d, base, with_length(draw, scaling))


@st.composite
def scaled_rotations(draw: st.DrawFn, rules: tuple[str, ...] = RULES) -> PartialRotationCase:
    """Draw a call of apply_rope by one of some rules, of the whole row or of a part."""
    width, base = draw(one_of(4, 6, 8, 10)), draw(one_of(*BASES))
    turned = draw(one_of(0, *range(4, width, 2)))
    scaling = draw(scalings(turned or width, base, rules, (*SHORT, *ORIGINAL)))
    count = draw(one_of(1, 2, 3))
    data = draw(some(count * (width + 1)))
    places, x = entries(data[:count], NEAR + EDGES), matrix(data[count:], width)
    return PartialRotationCase(x, places, base, turned, with_length(draw, scaling))


@st.composite
def partial_rotations(draw: st.DrawFn) -> PartialRotationCase:
    """Draw a call of apply_rope that turns a part of each row, or all of it."""
    width, base = draw(one_of(4, 6, 8, 10)), draw(one_of(*BASES))
    turned, count = draw(one_of(*range(2, width + 1, 2))), draw(one_of(1, 2, 3))
    data = draw(some(count * (width + 1)))
    places, x = entries(data[:count], NEAR + EDGES), matrix(data[count:], width)
    x = scaled(x, draw(one_of(1.0, FINE)))
    return PartialRotationCase(x, places, base, turned, Scaling())


@st.composite
def scaled_frequency_calls(draw: st.DrawFn) -> ScaledFrequencyCallsCase:
    """Draw a call of rope_freqs by a rule, and others that differ in length or in the rule."""
    first = draw(scaled_frequencies(*RULES))
    others = []
    for _ in range(draw(one_of(1, 2))):
        scaling = draw(one_of(Scaling(), first.scaling))
        others.append(first._replace(scaling=with_length(draw, scaling)))
    return ScaledFrequencyCallsCase(first, tuple(others))


@st.composite
def scaled_calls(draw: st.DrawFn) -> ScaledCallsCase:
    """Draw a call of apply_rope by a rule, and others that differ in length or in the rule."""
    first = draw(scaled_rotations(draw(one_of(oracle_scaling.BY_LENGTH, RULES))))
    others = []
    for _ in range(draw(one_of(1, 2, 3))):
        scaling = first.scaling
        change = draw(one_of("length", "factor", "nothing", "unscaled"))
        if change == "length":
            scaling = with_length(draw, scaling)
        elif change == "factor" and scaling.rule in ("linear", "ntk"):
            scaling = scaling._replace(factor=draw(one_of(*FACTORS)))
        elif change == "unscaled":
            scaling = Scaling()
        others.append(first._replace(scaling=scaling))
    return ScaledCallsCase(first, tuple(others))


def with_length(draw: st.DrawFn, scaling: Scaling) -> Scaling:
    """Draw the length of a rule that goes by it: at the original one, below, or beyond."""
    if scaling.rule not in oracle_scaling.BY_LENGTH:
        return scaling
    original = scaling.original_max_position
    lengths = (original, original + 1, max(1, original - 1), 2 * original, 5 * original, 1)
    return scaling._replace(length=draw(one_of(*lengths)))
