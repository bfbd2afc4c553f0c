"""The formula of causal attention, and what people write in the place of its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..oracle import Weights, rotate
from .variants import Choices, Formula

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Projection = Callable[[Array, Weights], Array]


def _softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _decoded(
    x: Array,
    decoder: Weights,
    queries: Projection = lambda x, w: x @ w.Wq,
    keys: Projection = lambda x, w: x @ w.Wk,
    values: Projection = lambda x, w: x @ w.Wv,
    at: Callable[[Array], tuple[Array, Array]] = lambda t: (t, t),
    base: Callable[[Weights], float] = lambda w: w.base,
    scale: Callable[[Array, int], Any] = lambda t, d: 1 / np.sqrt(d),
    seen: Callable[[Array, Array], Mask] = lambda t, j: j <= t,
    weigh: Callable[[Array], Array] = _softmax,
    after: Callable[[Array, Array, Weights], Array] = lambda attended, x, w: attended @ w.Wo,
) -> Array:
    t = np.arange(len(x), dtype=np.float64)
    of_q, of_k = at(t)
    with np.errstate(all="ignore"):
        q = rotate(queries(x, decoder), of_q, base(decoder))
        k = rotate(keys(x, decoder), of_k, base(decoder))
        scores = q @ k.T * scale(t[:, np.newaxis], x.shape[1])
        scores = np.where(seen(t[:, np.newaxis], t[np.newaxis]), scores, -np.inf)
        return after(weigh(scores) @ values(x, decoder), x, decoder)


def _window(width: int) -> Callable[[Array, Array], Mask]:
    return lambda t, j: (j <= t) & (j > t - width)


def _one_hot(scores: Array) -> Array:
    return np.asarray(np.eye(scores.shape[1])[np.argmax(scores, axis=1)])


def _mean(scores: Array) -> Array:
    visible = np.isfinite(scores)
    return np.asarray(visible / visible.sum(axis=1, keepdims=True))


def _sigmoid(scores: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-scores)))


_PROJECTIONS: Mapping[str, Projection] = {
    "the query projection": lambda x, w: x @ w.Wq,
    "the key projection": lambda x, w: x @ w.Wk,
    "the value projection": lambda x, w: x @ w.Wv,
    "the row itself": lambda x, w: x,
}


def _taken(for_what: str, right: str) -> Choices:
    return {
        f"{words} in place of {right}, for the {for_what}": made
        for words, made in _PROJECTIONS.items()
        if words != right
    }


_AT: Choices = {
    "the queries not turned": lambda t: (0 * t, t),
    "the keys not turned": lambda t: (t, 0 * t),
    "neither queries nor keys turned": lambda t: (0 * t, 0 * t),
    "the queries one position ahead of their keys": lambda t: (t + 1, t),
    "the queries one position behind their keys": lambda t: (np.maximum(t - 1, 0), t),
    "the first two tokens at position 0, the others one too small": lambda t: (
        np.maximum(t - 1, 0),
        np.maximum(t - 1, 0),
    ),
    "every position doubled": lambda t: (2 * t, 2 * t),
    "every position halved": lambda t: (t / 2, t / 2),
    "the keys at half their position": lambda t: (t, t // 2),
    "the keys turned backwards": lambda t: (t, -t),
    "the queries turned backwards": lambda t: (-t, t),
    "both turned backwards": lambda t: (-t, -t),
    "the keys turned twice": lambda t: (t, 2 * t),
    "the queries turned twice": lambda t: (2 * t, t),
    "every position squared": lambda t: (t * t, t * t),
}
_SCALES: Choices = {
    "scores that are not scaled": lambda t, d: 1.0,
    "scores divided by D in place of its square root": lambda t, d: 1 / d,
    "scores multiplied by the square root of D": lambda t, d: np.sqrt(d),
    "scores divided by the square root of D/2": lambda t, d: 1 / np.sqrt(d / 2),
    "scores divided by the square root of the number of tokens": lambda t, d: 1 / np.sqrt(t + 1),
    "scores divided by the number of tokens": lambda t, d: 1 / (t + 1),
    "scores divided by D to the power 1/4": lambda t, d: d**-0.25,
    "scores divided by D to the power 3/4": lambda t, d: d**-0.75,
    "scores divided by twice the square root of D": lambda t, d: 0.5 / np.sqrt(d),
    "the opposite sign of the scores": lambda t, d: -1 / np.sqrt(d),
}
_SEEN: Choices = {
    "the newest token not attended": lambda t, j: (j < t) | (t == 0) & (j == 0),
    "the first token not attended": lambda t, j: (j <= t) & ((j > 0) | (t == 0)),
    "the first token alone attended": lambda t, j: j == 0,
    "the newest token alone attended": lambda t, j: j == t,
    "every other token attended": lambda t, j: (j <= t) & ((t - j) % 2 == 0),
    "all tokens attended, later ones too": lambda t, j: j >= 0,
    "the next token attended as well": lambda t, j: j <= t + 1,
    "tokens from the newest on attended": lambda t, j: j >= t,
    **{
        f"the last {width} tokens attended": _window(width)
        for width in (2, 3, 4, 5, 8, 10, 16, 32, 64)
    },
    **{
        f"the first {width} tokens and the newest attended": lambda t, j, width=width: (
            (j <= t) & ((j < width) | (j == t))
        )
        for width in (1, 2, 4, 8, 16, 32, 64)
    },
}
_WEIGHTS: Choices = {
    "equal weights": _mean,
    "all weight on the best score": _one_hot,
    "weights that are not normalised": np.exp,
    "a sigmoid in place of the softmax": _sigmoid,
    "a softmax of base 2": lambda scores: _softmax(scores * np.log(2)),
    "a softmax of base 10": lambda scores: _softmax(scores * np.log(10)),
    "a softmax over the queries": lambda scores: np.nan_to_num(_softmax(scores.T).T),
    "the square of the weights": lambda scores: _softmax(scores) ** 2,
    "one added to the sum of the weights": lambda scores: (
        np.exp(scores) / (np.exp(scores).sum(axis=1, keepdims=True) + 1)
    ),
}
_AFTER: Choices = {
    "no output projection": lambda attended, x, w: attended,
    "the output projected twice": lambda attended, x, w: attended @ w.Wo @ w.Wo,
    "the row itself added to the output": lambda attended, x, w: attended @ w.Wo + x,
    "the row itself added before the output projection": lambda attended, x, w: (
        (attended + x) @ w.Wo
    ),
    "every output doubled": lambda attended, x, w: 2 * attended @ w.Wo,
    "every output halved": lambda attended, x, w: attended @ w.Wo / 2,
    "every output negated": lambda attended, x, w: -attended @ w.Wo,
    "the outputs in reversed order": lambda attended, x, w: (attended @ w.Wo)[::-1],
    "the last output in every row": lambda attended, x, w: np.repeat(
        (attended @ w.Wo)[-1:], len(x), axis=0
    ),
    "each output divided by the square root of D": lambda attended, x, w: (
        attended @ w.Wo / np.sqrt(x.shape[1])
    ),
}

DECODING = Formula(
    _decoded,
    {
        "queries": _taken("queries", "the query projection"),
        "keys": _taken("keys", "the key projection"),
        "values": {
            **_taken("values", "the value projection"),
            "values that are turned like keys": lambda x, w: rotate(
                x @ w.Wv, np.arange(len(x)), w.base
            ),
        },
        "at": _AT,
        "base": {"the base 10000 whatever the decoder has": lambda w: 10000.0},
        "scale": _SCALES,
        "seen": _SEEN,
        "weigh": _WEIGHTS,
        "after": _AFTER,
    },
)
