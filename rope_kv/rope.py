"""Rotary position embeddings: the reference, as a reader should learn them.

Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
arXiv:2104.09864, section 3.2.2. Pairs are adjacent coordinates, as in the paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import even_width, integer_positions, positive_base, real_rows


def rope_freqs(d: int, base: float = 10000) -> NDArray[np.float64]:
    """Return how far each pair of coordinates turns per token.

    Parameters
    ----------
    d : even int, at least 2
        The width of the vectors that will be turned.
    base : finite number above 0
        The slowest pair turns about `base` times slower than the first.

    Returns
    -------
    float64 array (d/2,), radians per token: base^(-2i/d) for pair i (RoFormer, eq. 15).

    Raises
    ------
    TypeError, ValueError
        Where `d` or `base` is something else.

    """
    d, base = even_width(d, "d"), positive_base(base)
    return base ** (-np.arange(0, d, 2) / d)


def apply_rope(x: ArrayLike, positions: ArrayLike, base: float = 10000) -> NDArray[np.float64]:
    """Return the rows of x, each adjacent pair turned by its position times its frequency.

    Parameters
    ----------
    x : real array (T, d), d even
        Any memory layout; it is not changed.
    positions : T integers, a list or an array
        Absolute positions in tokens: any order, repeated, with gaps, negative.
    base : finite number above 0
        As in `rope_freqs`.

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
    theta = rope_freqs(even_width(x.shape[1], "the number of columns of x"), base)
    angles = integer_positions(positions, len(x))[:, np.newaxis] * theta
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, 0::2], x[:, 1::2]
    turned = np.empty(x.shape)
    turned[:, 0::2] = even * cos - odd * sin
    turned[:, 1::2] = even * sin + odd * cos
    return turned
