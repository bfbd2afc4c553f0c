"""Attention of grouped heads over a cache: the reference's own.

Source: Ainslie et al., "GQA", arXiv:2305.13245; for the window Beltagy et al., arXiv:2004.05150;
for sinks Xiao et al., arXiv:2309.17453.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def visible(queries: Places, keys: Places, window: int | None, sinks: int) -> NDArray[np.bool_]:
    """Return which keys each query sees (..., n, m), by the positions (..., n) and (..., m).

    None that comes later; of those before, the last `window`, the query's own included, and
    the first `sinks` of the sequence.
    """
    back = queries[..., :, np.newaxis] - keys[..., np.newaxis, :]
    seen = back >= 0
    if window is not None:
        seen &= (back < window) | (keys < sinks)[..., np.newaxis, :]
    return seen


def attend(q: Array, keys: Array, values: Array, seen: NDArray[np.bool_]) -> Array:
    """Return what each query attends to, (..., n, H, d).

    q is (..., n, H, d), keys and values are (..., m, G, d), seen is (..., n, m). Query head h uses
    key and value head h // (H/G), which is to say that the heads of a group are neighbours.
    """
    *batch, n, heads, d = q.shape
    groups = keys.shape[-2]
    grouped = q.reshape(*batch, n, groups, heads // groups, d)
    scores = np.einsum("...ngrd,...mgd->...grnm", grouped, keys) / np.sqrt(d)
    scores = np.where(seen[..., np.newaxis, np.newaxis, :, :], scores, -np.inf)
    # Softmax is unchanged by a shift of all scores, and exp of the largest must not overflow.
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
    weights /= weights.sum(axis=-1, keepdims=True)
    attended: Array = np.einsum("...grnm,...mgd->...ngrd", weights, values)
    return attended.reshape(*batch, n, heads, d)
