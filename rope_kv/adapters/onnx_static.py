"""Attention and TensorScatter of ONNX over a store of fixed size, as they are since opset 24.

Driven are the writing of new keys and values, and `nonpad_kv_seqlen`, by which Attention leaves
out the slots behind them and knows the past. The adapter's own is to enlarge a full store.
"""

from __future__ import annotations

import numpy as np

from ..decoder import Decoder
from .onnx import Models
from .onnxruntime import Standard
from .operators import Array, Operators, Session

FIRST = 4  # Slots of a store of no capacity, at first.


class Static(Operators):
    """Sessions by the operators of `library`."""

    def __init__(self, library: Models) -> None:
        layout = ("half", "interleaved")[library.interleaved]
        super().__init__(layout, apply_rope=False, capacity=True)
        self.library, self.rotate = library, library.rotate

    def start(self, decoder: Decoder, *, capacity: int | None = None) -> StaticSession:
        """Return a new session."""
        return StaticSession(self, decoder, capacity)


class StaticSession(Session):
    """Keys and values in slots, of which as many hold a token as `length` says."""

    length = 0

    def __init__(self, library: Static, decoder: Decoder, capacity: int | None = None) -> None:
        self.capacity = capacity
        super().__init__(library, decoder)

    def reset(self) -> None:
        """Forget everything; what was written stays, and must not be read."""
        self.length = 0
        shape = 1, self.decoder.kv_heads, self.capacity or FIRST, self.decoder.head_dim
        self.keys = self.values = np.zeros(shape, np.float32)

    def crop(self, length: int) -> None:
        """Forget all tokens but the first; what was written stays, and must not be read."""
        if not 0 <= length <= self.length:
            raise ValueError(f"there are {self.length} tokens, found length {length}")
        self.length = length

    def fork(self) -> StaticSession:
        """Return a copy; an operator leaves its inputs as they are, so they may be shared."""
        other = StaticSession(self.library, self.decoder, self.capacity)
        other.keys, other.values, other.length = self.keys, self.values, self.length
        return other

    def feed(self, rows: Array) -> Array:
        """Return the outputs of the next tokens."""
        decoder, end = self.decoder, self.length + len(rows)
        if self.capacity is not None and end > self.capacity:
            raise ValueError(f"there is room for {self.capacity} tokens")
        if not len(rows):
            return rows.astype(np.float32)  # The operator is not for an empty sequence.
        q, k = decoder.project_q(rows), decoder.project_k(rows)
        turned = self.turned(np.concatenate([q, k], axis=1), self.length, end)
        q, k = turned[..., : q.shape[1]], turned[..., q.shape[1] :]
        v = np.float32(decoder.project_v(rows))[np.newaxis]
        keys, values = self.written(self.keys, k), self.written(self.values, v)
        merged = {
            name: store.transpose(0, 2, 1, 3).reshape(1, -1, k.shape[2])
            for name, store in (("k", keys), ("v", values))
        }
        unused = {"mask": None, "past_keys": None, "past_values": None}
        inputs = {"q": q, **merged, **unused, "nonpad_kv_seqlen": np.array([end])}
        heads = {"q_num_heads": decoder.heads, "kv_num_heads": decoder.kv_heads}
        run = self.library.library.run
        (y,) = run("Attention", inputs, "y", is_causal=1, **heads)
        out = np.float32(decoder.project_out(y[0]))
        self.keys, self.values, self.length = keys, values, end
        return out

    def written(self, store: Array, new: Array) -> Array:
        """Return a store with new rows (1, T, G·d) behind the tokens that are there."""
        missing = max(0, self.length + new.shape[1] - store.shape[2])
        store = np.pad(store, ((0, 0), (0, 0), (0, 2 * missing), (0, 0)))
        heads = new.reshape(1, new.shape[1], store.shape[1], -1).transpose(0, 2, 1, 3)
        inputs = {"store": store, "new": heads, "write_indices": np.array([self.length])}
        return self.library.library.run("TensorScatter", inputs, "written")[0]


reference = Static(Models("interleaved", 24))
onnxruntime = Static(Standard("half", 24))
