"""Rotary position embeddings: the reference, as a reader should learn them.

Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
arXiv:2104.09864, section 3.2.2. Pairs are adjacent coordinates, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import even_width, integer_positions, positive_base, real_rows, rotary_width
from .scaling import attention_factor, scaled_frequencies

# Of so many positions, neighbours in a block are turned to its beginning, and from there.
MANY, BLOCK = 256, 64


def rope_freqs(
    d: int, base: float = 10000, *, scaling: Mapping[str, Any] | None = None
) -> NDArray[np.float64]:
    """Return how far each pair of coordinates turns per token.

    Parameters
    ----------
    d : even int, at least 2
        The width of the vectors that will be turned.
    base : finite number above 0
        The slowest pair turns about `base` times slower than the first.
    scaling : dict, optional
        The rule by which the frequencies of a longer context are scaled; see `rope_kv.scaling`.

    Returns
    -------
    float64 array (d/2,), radians per token: base^(-2i/d) for pair i (RoFormer, eq. 15), or what
    the rule makes of it.

    Raises
    ------
    TypeError, ValueError
        Where an argument is something else.

    """
    d, base = even_width(d, "d"), positive_base(base)
    if scaling is not None:
        return scaled_frequencies(d, base, scaling)
    return base ** (-np.arange(0, d, 2) / d)


def apply_rope(
    x: ArrayLike,
    positions: ArrayLike,
    base: float = 10000,
    *,
    rotary_dim: int | None = None,
    scaling: Mapping[str, Any] | None = None,
) -> NDArray[np.float64]:
    """Return the rows of x, each adjacent pair turned by its position times its frequency.

    Parameters
    ----------
    x : real array (T, d), d even
        Any memory layout; it is not changed.
    positions : T integers, a list or an array
        Absolute positions in tokens: any order, repeated, with gaps, negative.
    base : finite number above 0
        As in `rope_freqs`.
    rotary_dim : even int to d, optional
        Only so many entries of a row are turned, the first ones, as if there were no others.
    scaling : dict, optional
        As in `rope_freqs`; some rules stretch what is turned as well.

    Returns
    -------
    float64 array (T, d), a new one. Entries 2i and 2i+1 of row t are x[t, 2i] and x[t, 2i+1]
    turned by positions[t]·θᵢ radians (RoFormer, eq. 34).

    Raises
    ------
    TypeError, ValueError
        Where an argument is something else.

    """
    x = real_rows(x, "x")
    d = even_width(x.shape[1], "the number of columns of x")
    if rotary_dim is not None:
        d = rotary_width(rotary_dim, d)
    turns = _turns(integer_positions(positions, len(x)), rope_freqs(d, base, scaling=scaling))
    if scaling is not None:
        turns *= attention_factor(scaling)
    turned = np.array(x, order="C")
    # Entries 2i and 2i+1 are one complex number, and turning it is a product.
    pairs = turned[:, :d].view(np.complex128)
    pairs *= turns
    return turned


def _turns(positions: NDArray[np.int64], theta: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return exp(j·p·θᵢ) (T, d/2) for each position p and frequency θᵢ."""
    if len(positions) < MANY:
        angles = positions[:, np.newaxis] * theta
        return np.cos(angles) + 1j * np.sin(angles)
    # R(64·a + b) = R(64·a)·R(b): most time would go into cos and sin, and so few are needed.
    blocks, places = np.divmod(positions, BLOCK)
    blocks, block_of = np.unique(blocks, return_inverse=True)
    turns = np.exp(1j * (BLOCK * blocks)[:, np.newaxis] * theta)[block_of]
    turns *= np.exp(1j * np.arange(BLOCK)[:, np.newaxis] * theta)[places]
    return turns
