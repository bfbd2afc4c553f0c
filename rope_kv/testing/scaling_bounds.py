"""How far a correct implementation may be from the true scaled frequencies by rounding alone.

As in `bounds`, no tolerance is tuned: each bound follows from the rule and from the unit roundoff
u of the arithmetic, 2^-53 or 2^-24, and covers every formulation one may choose. It counts once:
whoever compares two that round adds the bounds of both. A number of the scaling that is no
number of the arithmetic is rounded on its way in, which is counted too.

Unscaled. θ·u·(4 + 3·|ln θ| + 3i), as derived in `bounds`; a base that is rounded on its way in
adds at most u, for which that bound has room. The other rules add to the bracket.

"linear" and "longrope". The factor is rounded, its reciprocal may be taken, the division is
rounded: 3.

"ntk" and "dynamic". θᵢ = base^(-2i/d)·k^(-e) with e = 2i/(d-2), where k is the growth. Both
logarithms count, whether one power is taken of the larger base or two of its parts, so |ln θ| is
|ln base^(-2i/d)| + e·ln k. A larger base is made of a power (3·ln k·d/(d-2) + 2), a product and a
rounded base, and θᵢ inherits 2i/d of its error, e·3·ln k + 4. The error of k itself, κ, enters as
e·κ. For "ntk", k is the factor, κ = 1. For "dynamic", k = factor·n/L₀ - (factor - 1) is a
difference: up to five roundings of its first part, two of the second and its own, so
κ = (5·factor·n/L₀ + 2·factor)/k + 1, which is large where a large factor cancels. Up to L₀ tokens
the same holds with n = L₀, since one may take the larger of both instead of another branch.

"yarn" and "llama3". θᵢ is multiplied by g = (1 - γ) + γ/factor, a mean of 1 and 1/factor. Sums,
products, divisions and a rounded factor add 6. An error δ in γ, not relative to it, changes g by
δ·(1 - 1/factor), as does each of two roundings if g is computed as 1 - γ·(1 - 1/factor); so
(δ + 2)·(1 - 1/factor)/g is added. Where γ = 0 only 3 is, since then g = 1 up to three roundings.
For "yarn", γ is a quotient of whole numbers, and may be formed as 1 - (1 - γ): δ = 3. For
"llama3", 1 - γ = (x - low)/(high - low), where x = L₀·θᵢ/2π has the error of θᵢ and five
roundings: inside the band, δ = (x·(bracket + 5) + 2·(low + high))/(high - low) + 3; outside,
where γ is clamped to 0 or 1 or the pair is handled apart, δ = 3.

Magnitudes. A logarithm, a product and a sum, or a quotient, a sum and a root of numbers above 1,
of which each rounding but the last is damped: 6u. One that is given is rounded on its way in.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import oracle_scaling
from ..oracle_scaling import Scaling

Array = NDArray[np.float64]
FLOAT32_ROUNDOFF = 2.0**-24
# An end of the ramp of "yarn" this near to a whole number may be taken for the next in float32,
# and a band of "llama3" this narrow, relative to its end, is hardly wider than the error of x.
MARGIN = 1e-3


def frequency_error(d: int, base: float, scaling: Scaling | None, unit: float) -> Array:
    """Return the bound (d/2,) of the error of the scaled frequencies, in radians per token.

    `unit` is the unit roundoff of the arithmetic: 2^-53 for float64, 2^-24 for float32. Numbers
    below the smallest normal one of float32 or float64 may be lost altogether.
    """
    bracket = _unscaled(d, base)
    divisor: Array | float = 1.0
    if scaling is not None:
        rule = scaling["rule"]
        if rule in ("ntk", "dynamic"):
            bracket = bracket + _larger_base(d, scaling)
        elif rule == "yarn":
            interpolated = _yarn_ramp(d, base, scaling)
            bracket = bracket + _mean(interpolated, interpolated > 0, 3.0, scaling["factor"])
        elif rule == "llama3":
            bracket = bracket + _llama3(d, base, scaling)
        else:
            bracket = bracket + 3
        if rule == "longrope":
            divisor = np.minimum(1, [scaling["short_factor"], scaling["long_factor"]]).min(axis=0)
    smallest = 2.0**-126 if unit >= FLOAT32_ROUNDOFF else 2.0**-1022
    bound: Array = oracle_scaling.frequencies(d, base, scaling) * unit * bracket
    return bound + 4 * smallest / divisor


def magnitude_error(scaling: Scaling | None, unit: float) -> float:
    """Return the bound of the error of the magnitude, relative to it; 0 where it is always 1."""
    if scaling is None or scaling["rule"] not in ("yarn", "longrope"):
        return 0.0
    return (2 if "attention_factor" in scaling else 6) * unit


def is_well_conditioned(d: int, base: float, scaling: Scaling | None) -> bool:
    """Return whether rounding alone cannot take a correct float32 implementation far away.

    It can where "yarn" rounds an end of its ramp to the next whole number (or the ramp lies
    outside of all pairs, where the published code does the reverse of the paper), where the band
    of "llama3" is hardly wider than the error of its ends, and where the base that "ntk" or
    "dynamic" makes is no number of float32.
    """
    largest = math.log(np.finfo(np.float32).max)
    if scaling is None or scaling["rule"] in ("linear", "longrope"):
        return math.log(base) < largest
    if scaling["rule"] == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        return math.log(base) < largest and bool(high - low > MARGIN * high)
    if scaling["rule"] == "yarn":
        return math.log(base) < largest and _ramp_is_certain(d, base, scaling)
    return math.log(base) + d / (d - 2) * math.log(_growth(scaling)) < largest


def _unscaled(d: int, base: float) -> Array:
    steps = np.arange(d // 2)
    return 4 + 3 * np.abs(2 * steps / d * math.log(base)) + 3 * steps


def _growth(scaling: Scaling) -> float:
    """Return k, by which the rules "ntk" and "dynamic" stretch the slowest pair."""
    if scaling["rule"] == "ntk":
        return float(scaling["factor"])
    trained = scaling["original_max_position"]
    return float(1 + scaling["factor"] * max(scaling["length"] - trained, 0) / trained)


def _larger_base(d: int, scaling: Scaling) -> Array:
    """Return what a larger base adds to the bracket: the growth has an error of its own."""
    share, growth, error = 2 * np.arange(d // 2) / (d - 2), _growth(scaling), 1.0
    if scaling["rule"] == "dynamic":
        minuend = growth + scaling["factor"] - 1
        error = (5 * minuend + 2 * scaling["factor"]) / growth + 1
    return 4 + share * (6 * math.log(growth) + error)


def _mean(
    interpolated: Array, touched: NDArray[np.bool_], error: Array | float, factor: float
) -> Array:
    """Return what the mean of 1 and 1 / factor adds to the bracket of each pair it may touch."""
    span = 1 - 1 / factor
    added: Array = 6 + (error + 2) * span / (1 - interpolated * span)
    return np.where(touched, added, 3)


def _yarn_ramp(d: int, base: float, scaling: Scaling) -> Array:
    low, high = oracle_scaling.correction_range(d, base, scaling)
    ramp: Array = np.clip((np.arange(d // 2) - low) / (high - low), 0, 1)
    return ramp


def _llama3(d: int, base: float, scaling: Scaling) -> Array:
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    x = oracle_scaling.frequencies(d, base, None) * scaling["original_max_position"] / (2 * np.pi)
    interpolated = np.clip((high - x) / (high - low), 0, 1)
    # A pair just outside of the band may be taken for one inside.
    below_the_end = x < high * (1 + MARGIN)
    inside = below_the_end & (x > low * (1 - MARGIN))
    in_band = (x * (_unscaled(d, base) + 5) + 2 * (low + high)) / (high - low)
    error = np.where(inside, in_band, 0) + 3
    return _mean(interpolated, below_the_end, error, scaling["factor"])


def _ramp_is_certain(d: int, base: float, scaling: Scaling) -> bool:
    trained = scaling["original_max_position"]
    margin = MARGIN * max(1.0, 1 / math.log(base))
    low, high = (
        oracle_scaling.pair_that_turns(turns, d, base, trained)
        for turns in (scaling.get("beta_fast", 32), scaling.get("beta_slow", 1))
    )
    starts = {max(math.floor(low + error), 0) for error in (-margin, margin)}
    ends = {min(math.ceil(high + error), d - 1) for error in (-margin, margin)}
    return len(starts) == len(ends) == 1 and max(starts) <= min(ends)
