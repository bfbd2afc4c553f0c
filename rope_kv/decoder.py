"""The decoder that a decode loop is given: fixed weights, four projections, the whole pass."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import oracle
from .arguments import even_width, positive_base, real_rows


class Decoder:
    """One layer of attention with fixed weights; one head of width D unless more is said.

    Parameters
    ----------
    width : even int, at least 2
        D, the width of a token's row.
    base : finite number above 0
        The base of the rotation's frequencies.
    seed : int from 0 to 2**32 - 1
        Which weights. 0 is identity matrices (ones on the diagonal, where they are not square),
        so that an answer can be checked by hand; any other seed draws each of `Wq` (D, H·d),
        `Wk` and `Wv` (D, G·d) and `Wo` (H·d, D), float64, from a normal distribution of variance
        1 over its number of rows, always the same for the same seed.
    heads, kv_heads : int, at least 1
        H query heads, and G key and value heads, of which H is a multiple; by default one, and H.
    head_dim : even int, optional
        d, the width of a head; by default D / H.
    rotary_dim : even int to d, optional
        How many entries of a head are turned, the first ones; by default all.
    scaling : dict, optional
        The rule by which frequencies are scaled; see `rope_kv.scaling`.
    window : int from 1 up, optional
        A token sees so many tokens, the last of which is itself; by default all before it.
    sinks : int from 0 up
        Besides, every token sees the first `sinks` tokens.

    Raises
    ------
    TypeError, ValueError
        Where an argument is something else.

    """

    def __init__(
        self,
        width: int,
        base: float = 10000,
        seed: int = 0,
        *,
        heads: int = 1,
        kv_heads: int | None = None,
        head_dim: int | None = None,
        rotary_dim: int | None = None,
        scaling: Mapping[str, Any] | None = None,
        window: int | None = None,
        sinks: int = 0,
    ) -> None:
        self.width = even_width(width, "width")
        positive_base(base)
        self.base = base
        self.seed = _whole(seed, "seed", 0, 2**32 - 1)
        self.heads = _whole(heads, "heads", 1, 2**16)
        self.kv_heads = self.heads if kv_heads is None else _whole(kv_heads, "kv_heads", 1, heads)
        if self.heads % self.kv_heads:
            raise ValueError(
                f"heads must be a multiple of kv_heads, found {heads} and {self.kv_heads}"
            )
        self.head_dim = even_width(
            self.width // self.heads if head_dim is None else head_dim, "head_dim"
        )
        self.rotary_dim = None if rotary_dim is None else even_width(rotary_dim, "rotary_dim")
        if self.rotary_dim is not None and self.rotary_dim > self.head_dim:
            raise ValueError(
                f"rotary_dim must be at most head_dim, {self.head_dim}, found {rotary_dim}"
            )
        self.scaling: Mapping[str, Any] | None = None if scaling is None else dict(scaling)
        self.window = None if window is None else _whole(window, "window", 1, 2**31)
        self.sinks = _whole(sinks, "sinks", 0, 2**31)
        self.Wq, self.Wk, self.Wv, self.Wo = self._weights()

    def project_q(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the queries (n, H·d) of `rows` (n, D)."""
        return real_rows(rows, "rows", self.width) @ self.Wq

    def project_k(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the keys (n, G·d) of `rows` (n, D)."""
        return real_rows(rows, "rows", self.width) @ self.Wk

    def project_v(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the values (n, G·d) of `rows` (n, D)."""
        return real_rows(rows, "rows", self.width) @ self.Wv

    def project_out(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the outputs (n, D) of the attended `rows` (n, H·d)."""
        return real_rows(rows, "rows", len(self.Wo)) @ self.Wo

    def forward_full(self, x_embedded: ArrayLike) -> NDArray[np.float64]:
        """Return the outputs (T, D) of all tokens `x_embedded` (T, D), computed at once.

        This is what a decode loop is compared with; a decode loop must not call it.
        """
        return oracle.forward(real_rows(x_embedded, "x_embedded", self.width), self)

    def __repr__(self) -> str:
        usual = {
            "base": 10000, "seed": 0, "heads": 1, "kv_heads": self.heads,
            "head_dim": self.width // self.heads, "rotary_dim": None, "scaling": None,
            "window": None, "sinks": 0,
        }  # fmt: skip
        found = {name: getattr(self, name) for name in usual}
        said = [f", {name}={found[name]!r}" for name in usual if found[name] != usual[name]]
        return f"Decoder({self.width}{''.join(said)})"

    def _weights(self) -> list[NDArray[np.float64]]:
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        shapes = [
            (self.width, queries), (self.width, keys), (self.width, keys), (queries, self.width)
        ]  # fmt: skip
        if self.seed == 0:
            return [np.eye(*shape) for shape in shapes]
        return [weights.copy() for weights in _random_weights(self.seed, *shapes)]


@functools.lru_cache(maxsize=256)
def _random_weights(seed: int, *shapes: tuple[int, int]) -> list[NDArray[np.float64]]:
    # RandomState, not default_rng: its stream is frozen, so a stored case keeps its weights.
    stream = np.random.RandomState(seed)
    return [stream.standard_normal(shape) / np.sqrt(shape[0]) for shape in shapes]


def _whole(value: Any, name: str, smallest: int, largest: int) -> int:
    """Return `value` as an int, if it is one from `smallest` to `largest`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} must be an integer, found {value!r} of type {type(value).__name__}"
        ) from None
    if not smallest <= number <= largest:
        raise ValueError(f"{name} must be from {smallest} to {largest}, found {value!r}")
    return number
