"""The definition of rotary position embeddings and causal attention, as plain as mathematics.

Every other answer in this package is compared with this one. It shares no code with the
reference and takes no shortcut: a pair of coordinates is a complex number, a rotation is a
multiplication by exp(j·angle), attention is computed over the whole history at once.

Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
arXiv:2104.09864, section 3.2, equations (13) to (16) and (34).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Weights(Protocol):
    """What `forward` reads of a decoder: four (D, D) matrices and the base of the angles."""

    Wq: Array
    Wk: Array
    Wv: Array
    Wo: Array
    base: float


def frequencies(d: int, base: float) -> Array:
    """Return θ (d/2,), in radians per token: θᵢ = base^(-2i/d)."""
    return np.array([float(base) ** (-2 * i / d) for i in range(d // 2)])


def rotate(x: ArrayLike, positions: ArrayLike, base: float) -> Array:
    """Return x (T, d) with pair i of row t multiplied, as a complex number, by exp(j·p[t]·θᵢ)."""
    x = np.asarray(x, dtype=np.float64)
    pairs = x[:, 0::2] + 1j * x[:, 1::2]
    theta = frequencies(x.shape[1], base)
    angles = np.multiply.outer(np.asarray(positions, dtype=np.float64), theta)
    turned = pairs * np.exp(1j * angles)
    rows: Array = np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    return rows


def attention_weights(q: Array, k: Array) -> Array:
    """Return the causal weights (T, T): row t is softmax(q[t]·k[:t+1] / √d), then zeros."""
    scores = q @ k.T / np.sqrt(q.shape[1])
    scores[np.triu_indices(len(scores), k=1)] = -np.inf
    weights: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def forward(x_embedded: ArrayLike, weights: Weights) -> Array:
    """Return the attention output (T, D) of every token of x_embedded (T, D), all at once."""
    x = np.asarray(x_embedded, dtype=np.float64)
    positions = range(len(x))
    q = rotate(x @ weights.Wq, positions, weights.base)
    k = rotate(x @ weights.Wk, positions, weights.base)
    attended: Array = attention_weights(q, k) @ (x @ weights.Wv) @ weights.Wo
    return attended
