"""The definition of scaled frequencies and magnitudes, one small function a rule.

A model that was trained on L₀ tokens may read more of them if its pairs turn more slowly. Each
rule is published, and each function here is the published rule as plain as mathematics, one pair
at a time; it shares no code with the reference. A scaling is None or a dict: its "rule" is one
of the names below, its other entries are the numbers that the rule reads. Arguments are not
checked here, and d is the number of entries that are turned.

A factor of 1 is no scaling, exactly, by every rule but two: "dynamic" still stretches what is
longer than L₀, by n / L₀, and "longrope" divides by its lists whatever its factor is, which
belongs to the magnitude alone.

"dynamic" and "longrope" depend on the length n, the number of tokens seen. With a cache, n is
the number of tokens seen when a row is computed: t + 1 for the token at position t, whatever the
chunks in which the tokens came. One row has one set of frequencies: its query and all its keys
are turned by those of its own length. So keys may not be kept as earlier frequencies turned
them: a cache keeps them unturned, or turns them again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scaling = Mapping[str, Any]
BY_LENGTH = ("dynamic", "longrope")


def frequencies(d: int, base: float, scaling: Scaling | None) -> NDArray[np.float64]:
    """Return θ (d/2,), in radians per token, as the rule of `scaling` has them."""
    if scaling is None:
        return np.array(unscaled(d, base))
    return np.array(RULES[scaling["rule"]](d, base, scaling))


def magnitude(scaling: Scaling | None) -> float:
    """Return what cos and sin are multiplied by: 1 but for "yarn" and "longrope"."""
    if scaling is None or scaling["rule"] not in ("yarn", "longrope"):
        return 1.0
    if "attention_factor" in scaling:
        return float(scaling["attention_factor"])
    if scaling["rule"] == "yarn":
        return yarn_magnitude(scaling["factor"])
    return longrope_magnitude(scaling["factor"], scaling["original_max_position"])


def unscaled(d: int, base: float) -> list[float]:
    """θᵢ = base^(-2i/d): Su et al., RoFormer, arXiv:2104.09864, equation (15)."""
    return [float(base) ** (-2 * i / d) for i in range(d // 2)]


def linear(d: int, base: float, scaling: Scaling) -> list[float]:
    """θᵢ / factor, so that position p turns as p / factor did.

    Chen et al., "Extending Context Window of Large Language Models via Positional
    Interpolation", arXiv:2306.15595.
    """
    return [theta / scaling["factor"] for theta in unscaled(d, base)]


def ntk(d: int, base: float, scaling: Scaling) -> list[float]:
    """θᵢ of the base · factor^(d/(d-2)): the first pair turns as ever, the last by θ / factor.

    bloc97, "NTK-Aware Scaled RoPE", 2023; Peng et al., arXiv:2309.00071, "NTK-aware".
    """
    return unscaled(d, base * scaling["factor"] ** (d / (d - 2)))


def dynamic(d: int, base: float, scaling: Scaling) -> list[float]:
    """θᵢ up to L₀ tokens, then those of the base · (factor·n/L₀ - (factor - 1))^(d/(d-2)).

    emozilla, "Dynamically Scaled RoPE", 2023, as transformers has it under the name "dynamic".
    """
    factor, n, trained = scaling["factor"], scaling["length"], scaling["original_max_position"]
    if n <= trained:
        return unscaled(d, base)
    return unscaled(d, base * (factor * n / trained - (factor - 1)) ** (d / (d - 2)))


def yarn(d: int, base: float, scaling: Scaling) -> list[float]:
    """θᵢ / factor for slow pairs, θᵢ for fast ones, and a ramp over i between them.

    Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models",
    arXiv:2309.00071, "NTK-by-parts". The ramp is that of the published code, with
    which models were trained, and of transformers: linear in i, between the whole numbers around
    the pairs that turn `beta_fast` and `beta_slow` times in L₀ tokens. The paper writes one that
    is linear in the turns.
    """
    low, high = correction_range(d, base, scaling)
    scaled = []
    for i, theta in enumerate(unscaled(d, base)):
        interpolated = min(max((i - low) / (high - low), 0), 1)
        scaled.append(theta * ((1 - interpolated) + interpolated / scaling["factor"]))
    return scaled


def correction_range(d: int, base: float, scaling: Scaling) -> tuple[float, float]:
    """Return where the ramp of "yarn" starts and ends, in pairs; the two are never equal.

    The start is at least 0 and the end at most d - 1, as in the published code, although the last
    pair is d/2 - 1. So they cross where the whole ramp lies outside, and then every pair is kept
    (L₀ far too small) or divided (far too large), the reverse of what the paper means.
    """
    fast, slow = scaling.get("beta_fast", 32), scaling.get("beta_slow", 1)
    trained = scaling["original_max_position"]
    low = max(math.floor(pair_that_turns(fast, d, base, trained)), 0)
    high = min(math.ceil(pair_that_turns(slow, d, base, trained)), d - 1)
    return low, high + 0.001 if low == high else high


def pair_that_turns(turns: float, d: int, base: float, tokens: int) -> float:
    """Return the i, not a whole number, for which tokens · base^(-2i/d) / 2π is `turns`."""
    return d * math.log(tokens / (2 * math.pi * turns)) / (2 * math.log(base))


def yarn_magnitude(factor: float) -> float:
    """0.1·ln(factor) + 1, which is √(1/t) in arXiv:2309.00071."""
    return 0.1 * math.log(factor) + 1


def llama3(d: int, base: float, scaling: Scaling) -> list[float]:
    """θᵢ for pairs that turn often in L₀ tokens, θᵢ / factor for slow ones, a mean in between.

    Meta, Llama 3.1: `apply_scaling` in the published code of the model.
    """
    factor, trained = scaling["factor"], scaling["original_max_position"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    scaled = []
    for theta in unscaled(d, base):
        wavelength = 2 * math.pi / theta
        if wavelength < trained / high:
            scaled.append(theta)
        elif wavelength > trained / low:
            scaled.append(theta / factor)
        else:
            kept = (trained / wavelength - low) / (high - low)
            scaled.append(theta * ((1 - kept) / factor + kept))
    return scaled


def longrope(d: int, base: float, scaling: Scaling) -> list[float]:
    """θᵢ / short_factorᵢ up to L₀ tokens, then θᵢ / long_factorᵢ.

    Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens",
    arXiv:2402.13753, as the published code of Phi-3 and transformers have it.
    """
    short = scaling["length"] <= scaling["original_max_position"]
    factors = scaling["short_factor" if short else "long_factor"]
    return [theta / factors[i] for i, theta in enumerate(unscaled(d, base))]


def longrope_magnitude(factor: float, trained: int) -> float:
    """1 for a factor of at most 1, else √(1 + ln(factor) / ln(L₀)): the code of Phi-3."""
    return 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(trained))


RULES = {
    "linear": linear,
    "ntk": ntk,
    "dynamic": dynamic,
    "yarn": yarn,
    "llama3": llama3,
    "longrope": longrope,
}
