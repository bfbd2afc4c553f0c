"""The definition of rotary position embeddings and causal attention, as plain as mathematics.

Every other answer in this package is compared with this one. It shares no code with the
reference and takes no shortcut: a pair of coordinates is a complex number, a rotation is a
multiplication by exp(j·angle), attention is computed over the whole history at once.

Sources: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
arXiv:2104.09864, section 3.2, equations (13) to (16) and (34); for grouped heads Ainslie et al.,
arXiv:2305.13245; for the window Beltagy et al., arXiv:2004.05150, section 3.1; for sinks Xiao et
al., arXiv:2309.17453. Scaled frequencies have their own page, oracle_scaling.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import oracle_scaling

Array = NDArray[np.float64]
Scaling = Mapping[str, Any]


class Weights(Protocol):
    """What `forward` reads of a decoder: H query heads, G key and value heads, each d wide."""

    Wq: Array  # (D, H·d)
    Wk: Array  # (D, G·d)
    Wv: Array  # (D, G·d)
    Wo: Array  # (H·d, D)
    base: float
    heads: int
    kv_heads: int
    head_dim: int
    rotary_dim: int | None
    scaling: Scaling | None
    window: int | None
    sinks: int


def frequencies(d: int, base: float, scaling: Scaling | None = None) -> Array:
    """Return θ (d/2,), in radians per token: θᵢ = base^(-2i/d), and what a rule makes of it."""
    return oracle_scaling.frequencies(d, base, scaling)


def pairs(d: int, layout: str) -> tuple[list[int], list[int]]:
    """Return which entries of a row are the real parts of its pairs, and which the imaginary."""
    if layout == "half":
        return list(range(d // 2)), list(range(d // 2, d))
    return list(range(0, d, 2)), list(range(1, d, 2))


def laid_out(layout: str) -> str:
    """Return the layout of what comes of a rotation in `layout`."""
    return "half" if layout == "interleaved to half" else layout


def rotate(
    x: ArrayLike,
    positions: ArrayLike,
    base: float,
    *,
    layout: str = "interleaved",
    rotary_dim: int | None = None,
    scaling: Scaling | None = None,
) -> Array:
    """Return x (T, d) with pair i of row t multiplied, as a complex number, by exp(j·p[t]·θᵢ).

    The first `rotary_dim` entries of a row are turned, as if there were no others; None is all.
    """
    rows = np.array(x, dtype=np.float64)
    d = rows.shape[1] if rotary_dim is None else rotary_dim
    real, imaginary = pairs(d, layout)
    theta = frequencies(d, base, scaling)
    angles = np.multiply.outer(np.asarray(positions, dtype=np.float64), theta)
    turned = (rows[:, real] + 1j * rows[:, imaginary]) * np.exp(1j * angles)
    turned *= oracle_scaling.magnitude(scaling)
    real, imaginary = pairs(d, laid_out(layout))
    rows[:, real], rows[:, imaginary] = turned.real, turned.imag
    return rows


def visible(count: int, window: int | None = None, sinks: int = 0) -> NDArray[np.bool_]:
    """Return whether token t sees token u, (T, T): t, those of its window before, the sinks."""
    t, u = np.arange(count)[:, np.newaxis], np.arange(count)
    in_window = u >= 0 if window is None else u > t - window
    seen: NDArray[np.bool_] = (u <= t) & (in_window | (u < sinks))
    return seen


def attention_weights(q: Array, k: Array, window: int | None = None, sinks: int = 0) -> Array:
    """Return the weights (T, T): row t is the softmax of q[t]·k / √d over what token t sees."""
    scores = np.where(visible(len(q), window, sinks), q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    weights: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def forward(x_embedded: ArrayLike, weights: Weights, layout: str = "interleaved") -> Array:
    """Return the attention output (T, D) of every token of x_embedded (T, D), all at once.

    Query head h uses key and value head h // (H/G).
    """
    x = np.asarray(x_embedded, dtype=np.float64)
    heads = [_head(x, weights, h, layout) for h in range(weights.heads)]
    attended: Array = np.concatenate(heads, axis=1) @ weights.Wo
    return attended


def projected(x: Array, weights: Weights, head: int) -> tuple[Array, Array, Array]:
    """Return the queries, keys and values (T, d) of one query head."""
    d, group = weights.head_dim, head // (weights.heads // weights.kv_heads)
    own, shared = slice(head * d, head * d + d), slice(group * d, group * d + d)
    return x @ weights.Wq[:, own], x @ weights.Wk[:, shared], x @ weights.Wv[:, shared]


def scaling_seen_by(weights: Weights, t: int) -> Scaling | None:
    """Return the scaling by which token t and all that it sees are turned."""
    if weights.scaling is None or weights.scaling["rule"] not in oracle_scaling.BY_LENGTH:
        return weights.scaling
    return {**weights.scaling, "length": t + 1}


def _head(x: Array, weights: Weights, head: int, layout: str) -> Array:
    q, k, v = projected(x, weights, head)
    attended = np.empty_like(v)
    for tokens in turned_alike(weights, len(x)):
        turned_q, turned_k = (
            rotate(
                rows, range(len(x)), weights.base,
                layout=layout,
                rotary_dim=weights.rotary_dim,
                scaling=scaling_seen_by(weights, tokens.start),
            )
            for rows in (q, k)
        )  # fmt: skip
        seen = attention_weights(turned_q, turned_k, weights.window, weights.sinks)
        attended[tokens.start : tokens.stop] = seen[tokens.start : tokens.stop] @ v
    return attended


def turned_alike(weights: Weights, count: int) -> list[range]:
    """Return runs of tokens that see keys turned by the same frequencies."""
    if scaling_seen_by(weights, 0) is weights.scaling:
        return [range(count)]
    return [range(t, t + 1) for t in range(count)]
