"""How far a correct implementation may be from the oracle by rounding alone.

No tolerance is tuned: each bound follows from the size of the numbers of the case and from
u = 2^-53, half the distance from 1 to the next float64. A bound covers every formulation one
may choose, and counts twice, since the oracle rounds as well.

Frequencies. θ = base^(-2i/d) is computed by a power (the exponent carries an error u, worth
|ln θ|·u in θ, the power itself 2u, a reciprocal u), by exp of a logarithm (three roundings of the
argument, 3·|ln θ|·u, and 2u), or by repeated products of the ratio (i products of u and i times
the ratio's own 2u). All are covered by θ·u·(4 + 3·|ln θ| + 3i).

Angles. p·θ inherits |p| times the error of θ and is rounded once, |p|·θ·u. A rotation made
by p small turns, or by complex or matrix powers, adds u for each of the p products, whatever θ
is: 4·|p|·u covers both parts. cos and sin add at most 2u, their products and the sum 3u, all
relative to the length of the pair. A row may be turned by one matrix product, so each entry is
allowed one rounding, u, of the longest pair of its row.

Attention. A projection is a dot product of D terms: D·u·(|x|·|W|). Scores inherit the errors
of q and k, and one more dot product. An error of at most e in every score changes a softmax
weight by a factor of at most exp(2e); exp, the shift by the maximum (at most the range of the
scores times u) and the sum over T terms (4u a term allows a streaming softmax) add to e. The
output is a weighted mean of the values, and a last projection.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import oracle

Array = NDArray[np.float64]
UNIT_ROUNDOFF = 2.0**-53
# An entry may pass through numbers too small for full precision; this is far below any other.
TINY = 1e-290


def frequencies(d: int, base: float) -> Array:
    """Return the bound (d/2,) of an error in rope_freqs(d, base)."""
    theta = oracle.frequencies(d, base)
    return 2 * theta * _relative_frequency_error(theta)


def rotation(x: ArrayLike, positions: ArrayLike, base: float) -> Array:
    """Return the bound (T, d) of an error in apply_rope(x, positions, base)."""
    return 2 * _rotation(np.asarray(x, dtype=np.float64), positions, base)


def lengths(x: ArrayLike, positions: ArrayLike) -> Array:
    """Return the bound (T, d/2) of an error in the length of each pair after a rotation.

    cos and sin come from one angle, so the angle's own error turns a pair without stretching it.
    """
    p = np.abs(np.asarray(positions, dtype=np.float64))[:, np.newaxis]
    pairs = pair_lengths(x)
    longest = pairs.max(axis=1, keepdims=True)
    bound: Array = 2 * (pairs * (4 * p + 8) + longest) * UNIT_ROUNDOFF + TINY
    return bound


def pair_lengths(x: ArrayLike) -> Array:
    """Return the length (T, d/2) of each adjacent pair."""
    x = np.asarray(x, dtype=np.float64)
    lengths: Array = np.hypot(x[:, 0::2], x[:, 1::2])
    return lengths


def scores(q: ArrayLike, k: ArrayLike, m: int, n: int, base: float) -> float:
    """Return the bound of an error in R(m)q · R(n)k, for one q and one k of shape (1, d)."""
    q, k = np.asarray(q, dtype=np.float64), np.asarray(k, dtype=np.float64)
    turned_q, turned_k = np.repeat(pair_lengths(q), 2, 1), np.repeat(pair_lengths(k), 2, 1)
    dq, dk = _rotation(q, [m], base), _rotation(k, [n], base)
    rounding = q.shape[1] * UNIT_ROUNDOFF * turned_q * turned_k
    return float(2 * np.sum(dq * turned_k + turned_q * dk + rounding)) + TINY


def decoding(x: ArrayLike, decoder: oracle.Weights) -> Array:
    """Return the bound (T, D) of an error in decode_incremental(decoder, x)."""
    x, u = np.asarray(x, dtype=np.float64), UNIT_ROUNDOFF
    terms = np.arange(1, len(x) + 1)[:, np.newaxis]
    q, dq = _projected_and_turned(x, decoder.Wq, decoder.base)
    k, dk = _projected_and_turned(x, decoder.Wk, decoder.base)
    score_error, span = _scores(q, k, dq, dk)
    factor = np.expm1(np.minimum(2 * (score_error + u * (span + 4 + 4 * terms)), 700))
    weights, values = oracle.attention_weights(q, k), x @ decoder.Wv
    attended = weights @ np.abs(values)
    error = weights @ _projection(x, decoder.Wv) + attended * (factor + 2 * terms * u)
    bound: Array = 2 * (error @ np.abs(decoder.Wo) + _projection(attended, decoder.Wo)) + TINY
    return bound


def _projected_and_turned(x: Array, weights: Array, base: float) -> tuple[Array, Array]:
    """Return the rotated projection (T, D) of every row, and its error."""
    rows, positions = x @ weights, range(len(x))
    from_projection = np.repeat(pair_lengths(_projection(x, weights)), 2, axis=1)
    return (
        oracle.rotate(rows, positions, base),
        from_projection + _rotation(rows, positions, base),
    )


def _scores(q: Array, k: Array, dq: Array, dk: Array) -> tuple[Array, Array]:
    """Return the largest error (T, 1) among the scores of a row, and their range (T, 1)."""
    d, visible = q.shape[1], np.tri(len(q))
    sizes = np.abs(q) @ np.abs(k).T
    errors = dq @ np.abs(k).T + np.abs(q) @ dk.T + (d + 3) * UNIT_ROUNDOFF * sizes
    largest, widest = (
        np.max(part * visible, axis=1, keepdims=True) / np.sqrt(d) for part in (errors, 2 * sizes)
    )
    return largest, widest


def _relative_frequency_error(theta: Array) -> Array:
    steps = np.arange(len(theta), dtype=np.float64)
    return UNIT_ROUNDOFF * (4 + 3 * np.abs(np.log(theta)) + 3 * steps)


def _rotation(x: Array, positions: ArrayLike, base: float) -> Array:
    theta = oracle.frequencies(x.shape[1], base)
    p = np.abs(np.asarray(positions, dtype=np.float64))[:, np.newaxis]
    angle = p * (theta * (_relative_frequency_error(theta) + UNIT_ROUNDOFF) + 4 * UNIT_ROUNDOFF)
    pairs = pair_lengths(x)
    longest = pairs.max(axis=1, keepdims=True)
    return np.repeat(pairs * (angle + 5 * UNIT_ROUNDOFF) + UNIT_ROUNDOFF * longest, 2, 1) + TINY


def _projection(x: Array, weights: Array) -> Array:
    error: Array = x.shape[1] * UNIT_ROUNDOFF * (np.abs(x) @ np.abs(weights))
    return error
