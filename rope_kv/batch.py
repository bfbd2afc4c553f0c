"""Several generations side by side, of different lengths: one padded store, positions by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import real_rows
from .attention import attend, visible
from .rope import apply_rope
from .scaling import goes_by_length

if TYPE_CHECKING:
    from .decoder import Decoder

Array = NDArray[np.float64]
# The position of what is no token: later than all, so that no token sees it.
NO_TOKEN = np.iinfo(np.int64).max


def start_batch(
    decoder: Decoder, size: int, *, side: str = "left", extra: int = 0, fill: float = 0.0
) -> Batch:
    """Return a new batch of `size` generations, none of which has seen a token.

    Parameters
    ----------
    decoder : Decoder
        As for `start`.
    size : int
        B, the number of rows of the batch.
    side : "left" or "right"
        On which side rows that are shorter than the longest are padded.
    extra : int
        How much longer than the longest row of a feed all are padded.
    fill : float
        What pads hold; no output depends on it.

    Raises
    ------
    ValueError
        Where `side` is something else, or where frequencies go by the length of each row.

    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', found {side!r}")
    if goes_by_length(decoder.scaling):
        raise ValueError("rows of a batch have different lengths: scale by a rule without length")
    return Batch(decoder, size, side, extra, fill)


class Batch:
    """B KV caches in one store; see `start_batch`."""

    def __init__(self, decoder: Decoder, size: int, side: str, extra: int, fill: float) -> None:
        self._decoder = decoder
        self._padding = side, extra, fill
        shape = (size, 0, decoder.kv_heads, decoder.head_dim)
        self._keys = np.empty(shape)
        self._values = np.empty(shape)
        self._positions = np.empty((size, 0), dtype=np.int64)
        self._lengths = np.zeros(size, dtype=np.int64)

    def feed(self, rows: Sequence[ArrayLike]) -> list[Array]:
        """Return the outputs (n_b, D) of the next tokens of each row b, rows[b] (n_b, D)."""
        decoder = self._decoder
        if len(rows) != len(self._lengths):
            raise ValueError(f"rows must be {len(self._lengths)} arrays, found {len(rows)}")
        given = [real_rows(one, "rows", decoder.width) for one in rows]
        x, is_token = self._padded(given)
        positions = self._lengths[:, np.newaxis] + is_token.cumsum(axis=1) - 1
        q, k, v = (
            self._projected(project, x)
            for project in (decoder.project_q, decoder.project_k, decoder.project_v)
        )
        q, k = self._turned(q, positions), self._turned(k, positions)
        # A weight of zero does not help against a pad that is not a number.
        k[~is_token], v[~is_token] = 0, 0
        self._keys = np.concatenate([self._keys, k], axis=1)
        self._values = np.concatenate([self._values, v], axis=1)
        placed = np.where(is_token, positions, NO_TOKEN)
        self._positions = np.concatenate([self._positions, placed], axis=1)
        self._lengths += is_token.sum(axis=1)
        seen = visible(positions, self._positions, decoder.window, decoder.sinks)
        seen |= ~is_token[..., np.newaxis]  # The softmax of nothing is not a number.
        attended = attend(q, self._keys, self._values, seen)[is_token]
        outputs = decoder.project_out(attended.reshape(len(attended), q.shape[2] * q.shape[3]))
        ends = np.cumsum([len(one) for one in given])
        return [outputs[end - len(one) : end] for one, end in zip(given, ends, strict=True)]

    def reorder(self, indices: Sequence[int]) -> None:
        """Go on, in row b, from history indices[b]; indices may repeat."""
        chosen = np.asarray(indices, dtype=np.int64)
        if chosen.ndim != 1 or np.any((chosen < 0) | (chosen >= len(self._lengths))):
            raise ValueError(
                f"indices must be from 0 to {len(self._lengths) - 1}, found {indices}"
            )
        self._keys, self._values = self._keys[chosen], self._values[chosen]
        self._positions, self._lengths = self._positions[chosen], self._lengths[chosen]

    def select(self, indices: Sequence[int]) -> None:
        """Go on with these rows alone, in this order."""
        self.reorder(indices)

    def _padded(self, rows: Sequence[Array]) -> tuple[Array, NDArray[np.bool_]]:
        """Return rows (B, n, D), padded to one length, and which of them are tokens (B, n)."""
        side, extra, fill = self._padding
        width = max(map(len, rows), default=0) + extra
        x = np.full((len(rows), width, self._decoder.width), fill)
        is_token = np.zeros((len(rows), width), dtype=bool)
        for b, one in enumerate(rows):
            tokens = slice(width - len(one), width) if side == "left" else slice(len(one))
            x[b, tokens], is_token[b, tokens] = one, True
        return x, is_token

    def _projected(self, project: Callable[[ArrayLike], Array], x: Array) -> Array:
        rows = project(x.reshape(-1, x.shape[-1]))
        d = self._decoder.head_dim
        return rows.reshape(*x.shape[:2], rows.shape[1] // d, d)

    def _turned(self, rows: Array, positions: NDArray[np.int64]) -> Array:
        """Return queries or keys (B, n, heads, d), turned to the positions (B, n)."""
        decoder = self._decoder
        turned = apply_rope(
            rows.reshape(-1, decoder.head_dim),
            np.repeat(positions.ravel(), rows.shape[2]),
            decoder.base,
            rotary_dim=decoder.rotary_dim,
            scaling=decoder.scaling,
        )
        return turned.reshape(rows.shape)
