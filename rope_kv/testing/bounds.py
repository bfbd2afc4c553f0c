"""How far a correct implementation may be from the oracle by rounding alone.

No tolerance is tuned: each bound follows from the size of the numbers of the case and from u,
half the distance from 1 to the next number of the working precision (2^-53 in float64). A bound
covers every formulation one may choose, and counts twice, since the oracle rounds as well.
Frequencies and angles of a precision of 16 bits are due in float32: they have a u of their own.

Frequencies. θ = base^(-2i/d) is computed by a power (the exponent carries an error u, worth
|ln θ|·u in θ, the power itself 2u, a reciprocal u), by exp of a logarithm (three roundings of the
argument, 3·|ln θ|·u, and 2u), or by repeated products of the ratio (i products of u and i times
the ratio's own 2u). All are covered by θ·u·(4 + 3·|ln θ| + 3i). scaling_bounds.py adds what a
scaling rule adds.

Angles. p·θ inherits |p| times the error of θ and is rounded once, |p|·θ·u. A rotation made
by p small turns, or by complex or matrix powers, adds u for each of the p products, whatever θ
is: 4·|p|·u covers both parts. cos and sin add at most 2u, their products and the sum 3u, all
relative to the length of the pair. A row may be turned by one matrix product, so each entry is
allowed one rounding, u, of the longest pair of its row.

A magnitude m stretches all of this, and adds its own error and one product. Entries that are not
turned are handed on as they are.

Attention. A projection is the decoder's own: a dot product of D terms in float64, rounded once:
u·|x·W| + D·2^-53·(|x|·|W|). Scores inherit the errors of q and k, and one more dot product. An
error of at most e in every score, to which the shift by the maximum (at most the range of the
scores times u) and exp add, changes a softmax weight w by at most f·w, f = exp(2e) - 1. Weights
add up to 1, so all that they move the mean μ of the values is how far the values are apart:
f·Σ w·|v - μ|, and Σ w·|v - μ| is no more than the root of Σ w·(v - μ)². Where they do not add
up, all are wrong by one factor: by the roundings of the sums over T terms (8u a term allows a
streaming softmax), by those of a logarithm of their sum, as large as a score, and by those of
scores that are computed again. No mean is further from another than twice the largest value. A
last projection follows. By a rule that goes by the length, a key may be turned again for each
later token, and is wrong by one more rotation each time.

Small numbers. Below the smallest normal number u is no measure: there a rounding is off by some
η, which counts where sums of larger numbers do not hide it. In a rotation it is that of two
products, and of cos and sin times the pair: 2η·(1 + the longest pair). A softmax weight, at most
1, is rounded as exp and as a quotient, and each product with a value: 2η·(the sum of the values
seen + their number). A projection adds D·η. In scores it is less than u times the sum of terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import oracle, oracle_scaling
from . import scaling_bounds

Array = NDArray[np.float64]
# Scores that may be this far off say nothing of the weights: 1 and exp(-ANY) may be exchanged.
ANY = 40.0
# Whatever else is 0, as a bound is to be divided by; this is far below any other.
TINY = 1e-290


class Precision(NamedTuple):
    """The unit roundoff of the numbers that rows hold, and that of angles.

    `small` is how far a number that is too small for full precision may be off: machines that
    have no such numbers make it 0. Those of float16 are everywhere.
    """

    numbers: float
    angles: float
    small: float


PRECISIONS = {
    "float64": Precision(2.0**-53, 2.0**-53, 2.0**-1022),
    "float32": Precision(2.0**-24, 2.0**-24, 2.0**-126),
    "float16": Precision(2.0**-11, 2.0**-24, 2.0**-24),
    "bfloat16": Precision(2.0**-8, 2.0**-24, 2.0**-126),
}
DOUBLE = PRECISIONS["float64"]


class Turning(NamedTuple):
    """How rows are turned: what `oracle.rotate` is told besides rows, positions and base."""

    layout: str = "interleaved"
    rotary_dim: int | None = None
    scaling: oracle.Scaling | None = None


USUAL = Turning()


def frequencies(
    d: int, base: float, scaling: oracle.Scaling | None = None, precision: Precision = DOUBLE
) -> Array:
    """Return the bound (d/2,) of an error in rope_freqs(d, base)."""
    bound: Array = 2 * scaling_bounds.frequency_error(d, base, scaling, precision.angles)
    return bound


def rotation(
    x: ArrayLike,
    positions: ArrayLike,
    base: float,
    turning: Turning = USUAL,
    precision: Precision = DOUBLE,
) -> Array:
    """Return the bound (T, d) of an error in apply_rope(x, positions, base)."""
    return 2 * _rotation(np.asarray(x, dtype=np.float64), positions, base, turning, precision)


def lengths(
    x: ArrayLike, positions: ArrayLike, layout: str = "interleaved", precision: Precision = DOUBLE
) -> Array:
    """Return the bound (T, d/2) of an error in the length of each pair after a rotation.

    cos and sin come from one angle, so the angle's own error turns a pair without stretching it.
    """
    p = np.abs(np.asarray(positions, dtype=np.float64))[:, np.newaxis]
    pairs = pair_lengths(x, layout)
    longest = pairs.max(axis=1, keepdims=True)
    powers, numbers = 4 * p * precision.angles, 8 * precision.numbers
    small = 4 * precision.small * (1 + longest)
    bound: Array = 2 * (pairs * (powers + numbers) + longest * precision.numbers + small) + TINY
    return bound


def pair_lengths(x: ArrayLike, layout: str = "interleaved") -> Array:
    """Return the length (T, d/2) of each pair."""
    x = np.asarray(x, dtype=np.float64)
    real, imaginary = oracle.pairs(x.shape[1], layout)
    lengths: Array = np.hypot(x[:, real], x[:, imaginary])
    return lengths


def scores(
    q: ArrayLike, k: ArrayLike, m: int, n: int, base: float,
    turning: Turning = USUAL, precision: Precision = DOUBLE,
) -> float:  # fmt: skip
    """Return the bound of an error in R(m)q · R(n)k, for one q and one k of shape (1, d)."""
    q, k = np.asarray(q, dtype=np.float64), np.asarray(k, dtype=np.float64)
    stretch = oracle_scaling.magnitude(turning.scaling)
    turned_q, turned_k = (stretch * _spread(rows, turning) for rows in (q, k))
    dq = _rotation(q, [m], base, turning, precision)
    dk = _rotation(k, [n], base, turning, precision)
    rounding = q.shape[1] * precision.numbers * turned_q * turned_k
    return float(2 * np.sum(dq * turned_k + turned_q * dk + rounding)) + TINY


def decoding(
    x: ArrayLike,
    decoder: oracle.Weights,
    layout: str = "interleaved",
    precision: Precision = DOUBLE,
) -> Array:
    """Return the bound (T, D) of an error in decode_incremental(decoder, x)."""
    x = np.asarray(x, dtype=np.float64)
    attended, errors = (
        np.concatenate(parts, axis=1)
        for parts in zip(
            *(_head(x, decoder, h, layout, precision) for h in range(decoder.heads)), strict=True
        )
    )
    size = np.abs(decoder.Wo)
    last = errors @ size + _projection(attended, size, precision)
    bound: Array = 2 * last + TINY
    return bound


def _head(
    x: Array, decoder: oracle.Weights, head: int, layout: str, precision: Precision
) -> tuple[Array, Array]:
    """Return how large (T, d) what one head attends to may be, and how wrong."""
    u, seen = precision.numbers, oracle.visible(len(x), decoder.window, decoder.sinks)
    q, k, v = oracle.projected(x, decoder, head)
    dq, dk, dv = (
        _projection_of_head(x, decoder, head, name, precision) for name in ("Wq", "Wk", "Wv")
    )
    small = 2 * precision.small * (seen @ np.abs(v) + seen.sum(axis=1, keepdims=True))
    # Weights may be far off, but no mean of values is further from another than they are.
    largest, largest_error = (np.maximum.accumulate(part) for part in (np.abs(v), dv))
    attended, errors = np.empty_like(v), np.empty_like(v)
    for tokens in oracle.turned_alike(decoder, len(x)):
        scaling = oracle.scaling_seen_by(decoder, tokens.start)
        turning = Turning(layout, decoder.rotary_dim, scaling)
        again = np.zeros((len(x), 1))
        if scaling is not decoder.scaling:
            again = np.maximum(0, tokens.start - np.arange(len(x)))[:, np.newaxis]
        turned_q, turned_k = (
            _turned(rows, error, decoder.base, turning, precision, times)
            for rows, error, times in ((q, dq, 1), (k, dk, 1 + again))
        )
        weights = oracle.attention_weights(turned_q[0], turned_k[0], decoder.window, decoder.sinks)
        error, span = _scores(turned_q, turned_k, seen, u)
        terms = np.minimum(
            np.arange(1, len(x) + 1)[:, np.newaxis], seen.sum(axis=1, keepdims=True)
        )
        exponent = 2 * (error + u * (span + 4))
        # A token that sees itself alone has a weight of 1.
        factor, is_any = np.expm1(np.minimum(exponent, ANY)), (exponent > ANY) & (terms > 1)
        common = u * ((decoder.head_dim + 7) / 2 * span + 8 * terms)
        rows = slice(tokens.start, tokens.stop)
        larger = _at_most(largest, weights @ np.abs(v) * (1 + factor), is_any)
        moved = factor * _deviation(weights, v) + common * larger
        error = _at_most(2 * largest, moved, is_any)
        error += _at_most(largest_error, weights @ dv * (1 + factor), is_any)
        attended[rows], errors[rows] = larger[rows], (error + small)[rows]
    return attended, errors


def _at_most(most: Array, size: Array, is_most: NDArray[np.bool_]) -> Array:
    """Return a size that is no larger than `most`, and that where it `is_most`."""
    return np.where(is_most, most, np.minimum(size, most))


def _deviation(weights: Array, v: Array) -> Array:
    """Return at least the standard deviation (T, d) of values (T, d) by weights (T, T)."""
    squares, mean = weights @ v**2, weights @ v
    rounding = (len(v) + 4) * DOUBLE.numbers * squares
    deviation: Array = np.sqrt(np.maximum(squares - mean**2, 0) + rounding)
    return deviation


def _turned(
    rows: Array,
    error: Array,
    base: float,
    turning: Turning,
    precision: Precision,
    times: ArrayLike,
) -> tuple[Array, Array]:
    """Return projected rows (T, d), turned to their places some times, and the error of that."""
    positions = range(len(rows))
    stretch = oracle_scaling.magnitude(turning.scaling)
    turn = np.asarray(times) * _rotation(rows, positions, base, turning, precision)
    return (
        oracle.rotate(rows, positions, base, **turning._asdict()),
        stretch * _spread(error, turning) + turn,
    )


def _scores(
    q: tuple[Array, Array], k: tuple[Array, Array], seen: NDArray[np.bool_], u: float
) -> tuple[Array, Array]:
    """Return the largest error (T, 1) among the scores of a row, and their range (T, 1)."""
    (q_rows, dq), (k_rows, dk) = q, k
    d = q_rows.shape[1]
    sizes = np.abs(q_rows) @ np.abs(k_rows).T
    errors = dq @ np.abs(k_rows).T + np.abs(q_rows) @ dk.T + (d + 3) * u * sizes
    largest, widest = (
        np.max(part * seen, axis=1, keepdims=True) / np.sqrt(d) for part in (errors, 2 * sizes)
    )
    return largest, widest


def _rotation(
    x: Array, positions: ArrayLike, base: float, turning: Turning, precision: Precision
) -> Array:
    d = x.shape[1] if turning.rotary_dim is None else turning.rotary_dim
    theta = oracle.frequencies(d, base, turning.scaling)
    off = scaling_bounds.frequency_error(d, base, turning.scaling, precision.angles)
    p = np.abs(np.asarray(positions, dtype=np.float64))[:, np.newaxis]
    angle = p * (off + theta * precision.angles + 4 * precision.angles)
    pairs = pair_lengths(x[:, :d], turning.layout)
    longest = pairs.max(axis=1, keepdims=True)
    u, stretch = precision.numbers, oracle_scaling.magnitude(turning.scaling)
    beside = 5 * u
    if stretch != 1:
        beside += u + scaling_bounds.magnitude_error(turning.scaling, precision.angles)
    bound = np.zeros_like(x)
    real, imaginary = oracle.pairs(d, oracle.laid_out(turning.layout))
    small = 2 * precision.small * (1 + longest)
    whole = stretch * (pairs * (angle + beside) + u * longest + small)
    bound[:, real] = bound[:, imaginary] = whole
    return bound + TINY


def _spread(x: Array, turning: Turning) -> Array:
    """Return, for each entry that comes of rows (T, d), how large it may be after any turn."""
    d = x.shape[1] if turning.rotary_dim is None else turning.rotary_dim
    largest = np.abs(x)
    real, imaginary = oracle.pairs(d, oracle.laid_out(turning.layout))
    largest[:, real] = largest[:, imaginary] = pair_lengths(x[:, :d], turning.layout)
    return largest


def _projection_of_head(
    x: Array, decoder: oracle.Weights, head: int, name: str, precision: Precision
) -> Array:
    """Return the error (T, d) of one projection of one query head."""
    d, shared = decoder.head_dim, decoder.heads // decoder.kv_heads
    first = d * (head if name == "Wq" else head // shared)
    return _projection(x, getattr(decoder, name)[:, first : first + d], precision)


def _projection(x: Array, weights: Array, precision: Precision) -> Array:
    inner = DOUBLE.numbers * (np.abs(x) @ np.abs(weights)) + precision.small
    error: Array = precision.numbers * np.abs(x @ weights) + x.shape[1] * inner
    return error
