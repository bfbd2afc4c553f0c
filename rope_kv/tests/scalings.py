"""Scalings of every rule, drawn at random: widths, bases, factors and lengths that models have."""

from hypothesis import assume
from hypothesis import strategies as st

from rope_kv import oracle_scaling
from rope_kv.testing import scaling_bounds

RULES = tuple(oracle_scaling.RULES)
TRAINED = st.one_of(st.sampled_from([4, 128, 2048, 4096, 8192, 32768]), st.integers(2, 100_000))
FACTORS = st.one_of(st.sampled_from([1.0, 2.0, 4.0, 8.0, 32.0]), st.floats(1, 128))
BASES = st.one_of(st.sampled_from([100.0, 1e4, 5e5, 1e6]), st.floats(1.5, 1e7))


@st.composite
def scalings(draw, rule, d):
    """Draw a scaling of one rule for d entries, with what it may leave out now and then."""
    scaling = {"rule": rule, "factor": draw(FACTORS)}
    if rule in ("dynamic", "yarn", "llama3", "longrope"):
        scaling["original_max_position"] = trained = draw(TRAINED)
    if rule in ("dynamic", "longrope"):
        scaling["length"] = draw(st.integers(1, 8 * trained) | st.just(trained + 1))
    if rule == "yarn" and draw(st.booleans()):
        scaling["beta_slow"] = draw(st.floats(0.5, 4))
        scaling["beta_fast"] = draw(st.floats(5, 64))
    if rule == "llama3":
        scaling["low_freq_factor"] = low = draw(st.sampled_from([1.0, 2.0]) | st.floats(0.1, 4))
        scaling["high_freq_factor"] = low + draw(st.just(3.0) | st.floats(0.05, 20))
    if rule == "longrope":
        for name in ("short_factor", "long_factor"):
            lists = st.lists(st.floats(0.5, 64), min_size=d // 2, max_size=d // 2)
            scaling[name] = draw(lists)
    if rule in ("yarn", "longrope") and draw(st.booleans()):
        scaling["attention_factor"] = draw(st.floats(0.5, 2))
    return scaling


@st.composite
def cases(draw, rules=RULES):
    """Draw a width, a base and a scaling that rounding alone cannot change by much."""
    d = 2 * draw(st.integers(2, 64))
    base, scaling = draw(BASES), draw(st.sampled_from(rules).flatmap(lambda r: scalings(r, d)))
    assume(scaling_bounds.is_well_conditioned(d, base, scaling))
    return d, base, scaling
