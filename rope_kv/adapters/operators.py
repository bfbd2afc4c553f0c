"""What runs the operators RotaryEmbedding and Attention of ONNX, as an implementation.

Driven are the rotation, heads, the causal mask and the cache of what runs them. The adapter's own
are the angles, as cos and sin are inputs of the operator, and the mask of a window.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..decoder import Decoder

Array = NDArray[Any]


def tables(
    positions: ArrayLike, width: int, base: float, dtype: DTypeLike = np.float32
) -> tuple[Array, Array]:
    """Return cos and sin of all angles (T, width/2), rounded once."""
    frequencies = float(base) ** (-2 * np.arange(width // 2) / width)
    angles = np.outer(positions, frequencies)
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


class Operators:
    """Rotations and sessions by `rotate` and `attend`, which are what a library does."""

    # What is known to break, by the name of a property, and why.
    known_failures: ClassVar[dict[str, str]] = {}

    def __init__(self, layout: str, **declared: Any) -> None:
        self.interleaved = int(layout == "interleaved")
        self.dtype = np.dtype(declared.get("dtype", "float32"))
        self.capabilities = {
            "layout": layout, "dtype": "float32", "rope_freqs": False, "rotary_dim": True,
            "width_multiple": 2, "chunks": True, "crop": True, "fork": True, "reset": True,
            "length": True, "heads": True, **declared,
        }  # fmt: skip

    def rotate(self, x: Array, cos: Array, sin: Array, ids: Array, **attributes: int) -> Array:
        """Return RotaryEmbedding of rows (1, H, T, d), or (1, T, H·d) with `num_heads`."""
        raise NotImplementedError

    def attend(self, inputs: dict[str, Array | None], decoder: Decoder) -> list[Array]:
        """Return Attention of q, k and v (1, T, ...), and all keys and values (1, G, P + T, d).

        There is a "mask" where a window has one, and "past_keys" and "past_values" (1, G, P, d).
        """
        raise NotImplementedError

    def mask(self, decoder: Decoder, first: int, end: int) -> Array | None:
        """Return which tokens the ones from `first` on see, where that is less than all before."""
        if decoder.window is None:
            return None
        keys = np.arange(end)
        back = keys[first:, np.newaxis] - keys
        return (back < decoder.window) | (keys < decoder.sinks)

    def apply_rope(
        self, x: Array, positions: ArrayLike, base: float = 10000, *, rotary_dim: int | None = None
    ) -> Array:
        """Return rows turned by the operator, which looks their angles up in a table."""
        # A row of the table for each token, as onnxruntime takes no fewer; ids find it.
        order = np.argsort(positions)
        cos, sin = tables(np.asarray(positions)[order], rotary_dim or x.shape[1], base, self.dtype)
        ids = np.argsort(order)[np.newaxis]
        part = {"rotary_embedding_dim": rotary_dim} if rotary_dim else {}
        rows = np.ascontiguousarray(x, self.dtype)[np.newaxis, np.newaxis]
        return self.rotate(rows, cos, sin, ids, **part)[0, 0]

    def start(self, decoder: Decoder, *, capacity: int | None = None) -> Session:
        """Return a new session."""
        return Session(self, decoder)


class Session:
    """Past keys and values, as the operator returned them last."""

    def __init__(self, library: Operators, decoder: Decoder) -> None:
        self.library, self.decoder = library, decoder
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        shape = 1, self.decoder.kv_heads, 0, self.decoder.head_dim
        self.keys = np.zeros(shape, self.library.dtype)
        self.values = self.keys

    @property
    def length(self) -> int:
        """The number of tokens seen."""
        return int(self.keys.shape[2])

    def crop(self, length: int) -> None:
        """Forget all tokens but the first."""
        if not 0 <= length <= self.length:
            raise ValueError(f"there are {self.length} tokens, found length {length}")
        self.keys, self.values = self.keys[:, :, :length], self.values[:, :, :length]

    def fork(self) -> Session:
        """Return a copy; an operator leaves its inputs as they are, so they may be shared."""
        other = type(self)(self.library, self.decoder)
        other.keys, other.values = self.keys, self.values
        return other

    def feed(self, rows: Array) -> Array:
        """Return the outputs of the next tokens."""
        if not len(rows):
            return rows.astype(self.library.dtype)  # The operator is not for an empty sequence.
        decoder = self.decoder
        first, end = self.length, self.length + len(rows)
        q, k = decoder.project_q(rows), decoder.project_k(rows)
        turned = self.turned(np.concatenate([q, k], axis=1), first, end)
        q, k = turned[..., : q.shape[1]], turned[..., q.shape[1] :]
        v = np.asarray(decoder.project_v(rows), self.library.dtype)[np.newaxis]
        mask = self.library.mask(decoder, first, end)
        past = {"past_keys": self.keys, "past_values": self.values}
        inputs = {"q": q, "k": k, "v": v, "mask": mask, **past}
        y, keys, values = self.library.attend(inputs, decoder)
        out = np.asarray(decoder.project_out(y[0]), self.library.dtype)
        self.keys, self.values = keys, values
        return out

    def turned(self, rows: Array, first: int, end: int) -> Array:
        """Return queries and keys (T, (H+G)·d), turned by the positions they come at."""
        decoder = self.decoder
        x = np.asarray(rows, self.library.dtype)[np.newaxis]
        cos, sin = tables(
            range(end), decoder.rotary_dim or decoder.head_dim, decoder.base, x.dtype
        )
        part = {"rotary_embedding_dim": decoder.rotary_dim} if decoder.rotary_dim else {}
        ids = np.arange(first, end)[np.newaxis]
        heads = decoder.heads + decoder.kv_heads
        return self.library.rotate(x, cos, sin, ids, num_heads=heads, **part)
