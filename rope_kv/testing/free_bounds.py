"""Bounds for two versions that round in their own ways, by whatever convention both follow.

The bounds of bounds.py are for an answer whose pairs, angles and weights the oracle knows. Here
nothing is known but the numbers of the case: a version may pair entries as it likes, weigh tokens
as it likes, and have frequencies of its own. So each bound is the largest that those of bounds.py
can be by any such choice. It depends on lengths of rows alone, which no rotation changes. That
costs a digit for a rotation and about three for decoding; what is right to the last digit is for
the other properties to say. Counted twice, as there: each of the two versions rounds.

Frequencies. A version's own frequency is off by at most the largest relative error that any of
the d/2 frequencies may have.

Rotation. No pair is longer than its row, and no angle further off than that of the worst pair.

Attention. No product q·k is larger than |q|·|k|, and no error in it than |dq|·|k| + |q|·|dk|; it
is not divided by √d, which a version may do otherwise. No mean of values is larger than the
largest value, and none is further from it, on the average, than that. Tokens see no later ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import oracle, oracle_scaling
from . import bounds, scaling_bounds

Array = NDArray[np.float64]


def frequencies(
    own: Array, d: int, base: float, scaling: oracle.Scaling | None, precision: bounds.Precision
) -> Array:
    """Return the bound of how far frequencies may be from a version's `own`, in their shape."""
    error = scaling_bounds.frequency_error(d, base, scaling, precision.angles)
    relative = np.max(error / oracle.frequencies(d, base, scaling))
    bound: Array = 2 * relative * np.abs(own) + bounds.TINY
    return bound


def rotation(
    x: ArrayLike,
    positions: ArrayLike,
    base: float,
    rotary_dim: int | None,
    scaling: oracle.Scaling | None,
    precision: bounds.Precision,
) -> Array:
    """Return the bound (T, 1) of the difference of two rotations of rows x (T, d)."""
    x = np.asarray(x, dtype=np.float64)
    # Rows in which every pair, however it lies, is as long as the whole row was.
    sized = np.ones_like(x) * np.linalg.norm(x, axis=1, keepdims=True) / np.sqrt(2)
    turning = bounds.Turning("interleaved", rotary_dim, scaling)
    bound: Array = bounds.rotation(sized, positions, base, turning, precision).max(
        axis=1, keepdims=True
    )
    return bound


class _Side(NamedTuple):
    """Queries or keys of one head: the lengths (T, 1) of their rows, and of the errors in them."""

    size: Array
    error: Array


def decoding(x: ArrayLike, decoder: oracle.Weights, precision: bounds.Precision) -> Array:
    """Return the bound (T, D) of the difference of two decodes of rows x (T, D).

    Row t goes by no later row, so that it is a bound as well where x is the beginning of more.
    """
    x = np.asarray(x, dtype=np.float64)
    attended, errors = (
        np.concatenate(parts, axis=1)
        for parts in zip(
            *(_head(x, decoder, h, precision) for h in range(decoder.heads)), strict=True
        )
    )
    size = np.abs(decoder.Wo)
    bound: Array = 2 * (errors @ size + _projection(attended, size, precision)) + bounds.TINY
    return bound


def _head(
    x: Array, decoder: oracle.Weights, head: int, precision: bounds.Precision
) -> tuple[Array, Array]:
    """Return how large (T, d) what one head attends to may be, and how wrong."""
    u, d = precision.numbers, decoder.head_dim
    first = d * (head // (decoder.heads // decoder.kv_heads))
    q, k, v = oracle.projected(x, decoder, head)
    own, shared = slice(d * head, d * head + d), slice(first, first + d)
    dq, dk, dv = (
        _projection(np.abs(x), np.abs(weights), precision)
        for weights in (decoder.Wq[:, own], decoder.Wk[:, shared], decoder.Wv[:, shared])
    )
    query = _turned(q, dq, decoder, precision)
    key = _Side(*(np.maximum.accumulate(part) for part in _turned(k, dk, decoder, precision)))
    product = query.size * key.size
    error = query.error * key.size + query.size * key.error + (d + 3) * u * product
    span, terms = 2 * product, np.arange(1, len(x) + 1)[:, np.newaxis]
    exponent = 2 * (error + u * (span + 4))
    common = u * ((d + 7) / 2 * span + 8 * terms)
    largest, largest_error = (np.maximum.accumulate(part) for part in (np.abs(v), dv))
    moved = (np.expm1(np.minimum(exponent, bounds.ANY)) + common) * largest
    is_any = (exponent > bounds.ANY) & (terms > 1)
    moved = np.where(is_any, 2 * largest, np.minimum(2 * largest, moved))
    small = 2 * precision.small * (np.cumsum(np.abs(v), axis=0) + terms)
    return largest, moved + largest_error + small


def _turned(
    rows: Array, error: Array, decoder: oracle.Weights, precision: bounds.Precision
) -> _Side:
    """Return what is known of projected rows (T, d), wherever they are turned to."""
    count, d = rows.shape
    stretch, positions = oracle_scaling.magnitude(decoder.scaling), np.arange(count)
    # The longest length that is seen, and the shortest: what goes by it does so in one direction.
    scalings = [oracle.scaling_seen_by(decoder, t) for t in (0, count - 1)]
    turns = [
        rotation(rows, positions, decoder.base, decoder.rotary_dim, scaling, precision)
        for scaling in scalings
    ]
    # Counted once: decoding counts twice.
    turn = np.maximum(*turns) / 2
    if scalings[0] is not decoder.scaling:
        turn = turn * (1 + positions[:, np.newaxis])  # Turned again for each later token.
    size, off = (np.linalg.norm(part, axis=1, keepdims=True) for part in (rows, error))
    return _Side(stretch * size, stretch * off + np.sqrt(d) * turn)


def _projection(x: Array, weights: Array, precision: bounds.Precision) -> Array:
    """Return the error of a projection; x and weights are sizes."""
    product = np.abs(x) @ np.abs(weights)
    inner = bounds.DOUBLE.numbers * product + precision.small
    error: Array = precision.numbers * product + x.shape[1] * inner
    return error
