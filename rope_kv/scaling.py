"""Frequency scaling of rotary position embeddings: the reference, as a reader should learn it.

A model that was trained on `original_max_position` tokens may read more of them if its pairs
turn more slowly. A scaling is None or a dict with the name of a rule and what the rule needs:

    {"rule": "linear", "factor"}
    {"rule": "ntk", "factor"}
    {"rule": "dynamic", "factor", "original_max_position", "length"}
    {"rule": "yarn", "factor", "original_max_position"}, and if need be "beta_fast" (32),
        "beta_slow" (1), "attention_factor" (0.1·ln(factor) + 1)
    {"rule": "llama3", "factor", "low_freq_factor", "high_freq_factor", "original_max_position"}
    {"rule": "longrope", "short_factor", "long_factor", "factor", "original_max_position",
        "length"}, and if need be "attention_factor" (√(1 + ln(factor) / ln(L₀)))

`length` is the number of tokens seen when a row is computed: t + 1 for the token at position t.
All keys are turned by the frequencies of the query, so those of a rule that depends on the length
may not be cached as earlier frequencies turned them. The papers are named in `oracle_scaling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import even_width, positive_base
from .scaling_arguments import checked_scaling

Array = NDArray[np.float64]
Scaling = Mapping[str, Any]


def scaled_frequencies(d: int, base: float, scaling: Scaling | None) -> Array:
    """Return how far each pair of coordinates turns per token, under a scaling.

    Parameters
    ----------
    d : even int, at least 2, and at least 4 for "ntk" and "dynamic"
        The number of entries that are turned.
    base : finite number above 0, and above 1 for "yarn"
        As in `rope_freqs`.
    scaling : None or dict
        A rule and its numbers, as above. With None, or a factor of 1, the frequencies are exactly
        base^(-2i/d); but "dynamic" still stretches lengths above `original_max_position`, and
        "longrope" divides by its lists whatever its factor is.

    Returns
    -------
    float64 array (d/2,), radians per token.

    Raises
    ------
    TypeError, ValueError
        Where an argument is something else.

    """
    d, base = even_width(d, "d"), positive_base(base)
    if scaling is None:
        return _powers(base, d, d)
    known = checked_scaling(scaling)
    return _RULES[known["rule"]](d, base, known)


def attention_factor(scaling: Scaling | None) -> float:
    """Return what cos and sin are multiplied by: 1, but for "yarn" and "longrope".

    Raises TypeError or ValueError where `scaling` is not as in `scaled_frequencies`.
    """
    if scaling is None:
        return 1.0
    known = checked_scaling(scaling)
    if known["rule"] not in ("yarn", "longrope"):
        return 1.0
    if "attention_factor" in known:
        return float(known["attention_factor"])
    growth = math.log(known["factor"])
    if known["rule"] == "yarn":
        return 1 + growth / 10
    return math.sqrt(1 + growth / math.log(known["original_max_position"]))


def goes_by_length(scaling: Scaling | None) -> bool:
    """Return whether the frequencies depend on the number of tokens seen."""
    return scaling is not None and scaling.get("rule") in ("dynamic", "longrope")


def _powers(base: float, d: int, whole: int) -> Array:
    """Return base^(-2i/whole) for each of the d/2 pairs i."""
    powers: Array = base ** (-np.arange(0, d, 2) / whole)
    return powers


def _linear(d: int, base: float, known: Scaling) -> Array:
    theta: Array = _powers(base, d, d) / known["factor"]
    return theta


def _ntk(d: int, base: float, known: Scaling) -> Array:
    return _with_larger_base(d, base, known["factor"], "ntk")


def _dynamic(d: int, base: float, known: Scaling) -> Array:
    trained = known["original_max_position"]
    beyond = max(known["length"] - trained, 0)
    return _with_larger_base(d, base, 1 + known["factor"] * beyond / trained, "dynamic")


def _with_larger_base(d: int, base: float, growth: float, rule: str) -> Array:
    """Return the frequencies of the base · growth^(d/(d-2)), which may overflow, by two powers."""
    if d < 4:
        raise ValueError(f"d must be at least 4 for the rule {rule!r}, found {d}")
    return _powers(base, d, d) * _powers(growth, d, d - 2)


def _yarn(d: int, base: float, known: Scaling) -> Array:
    if base <= 1:
        raise ValueError(f"base must be above 1 for the rule 'yarn', found {base!r}")
    turns = np.array([known.get("beta_fast", 32), known.get("beta_slow", 1)])
    fast, slow = np.log(known["original_max_position"] / (2 * np.pi * turns)) / np.log(base)
    low, high = max(np.floor(fast * d / 2), 0), min(np.ceil(slow * d / 2), d - 1)
    width = high - low if high != low else 0.001
    interpolated = np.clip((np.arange(d // 2) - low) / width, 0, 1)
    theta: Array = _powers(base, d, d) * (1 - interpolated + interpolated / known["factor"])
    return theta


def _llama3(d: int, base: float, known: Scaling) -> Array:
    theta = _powers(base, d, d)
    low, high = known["low_freq_factor"], known["high_freq_factor"]
    turns = theta * known["original_max_position"] / (2 * np.pi)
    kept = np.clip((turns - low) / (high - low), 0, 1)
    scaled: Array = theta * (kept + (1 - kept) / known["factor"])
    return scaled


def _longrope(d: int, base: float, known: Scaling) -> Array:
    long = known["length"] > known["original_max_position"]
    for name in ("short_factor", "long_factor"):
        if len(known[name]) != d // 2:
            raise ValueError(
                f"{name} must have one number for each of the {d // 2} pairs, "
                f"found {len(known[name])}"
            )
    theta: Array = _powers(base, d, d) / known["long_factor" if long else "short_factor"]
    return theta


_RULES: dict[str, Callable[[int, float, Scaling], Array]] = {
    "linear": _linear,
    "ntk": _ntk,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "llama3": _llama3,
    "longrope": _longrope,
}
