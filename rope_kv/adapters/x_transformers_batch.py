"""x-transformers: a ragged batch, by the positions and the mask that `AttentionLayers` takes.

What runs is the library's model loop, as in `x_transformers`. The adapter pads what is fed to one
length, keeps the position of each column and whether it is a token, and tells the library both.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from x_transformers.autoregressive_wrapper import modify_cached_kv

from . import x_transformers as one
from .torch_calls import tensor


class Batch:
    """A layer, the cache that it returned last, and what is in each column of that."""

    def __init__(
        self, decoder: Any, size: int, *, side: str = "left", extra: int = 0, fill: float = 0.0
    ) -> None:
        self._layers, self._to_out = one.layers_of(decoder)
        self._side, self._extra, self._fill = side, extra, fill
        self._cache: Any = None
        self._is_token = torch.zeros(size, 0, dtype=torch.bool)
        self._positions = torch.zeros(size, 0, dtype=torch.int64)

    @torch.inference_mode()
    def feed(self, rows: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the outputs of the next tokens of each row."""
        columns = max(map(len, rows)) + self._extra
        if not columns:
            return [own.copy() for own in rows]  # The library raises where there are no tokens.
        x = np.full((len(rows), columns, rows[0].shape[1]), self._fill, rows[0].dtype)
        is_token = torch.zeros(len(rows), columns, dtype=torch.bool)
        for b, own in enumerate(rows):
            first = columns - len(own) if self._side == "left" else 0
            x[b, first : first + len(own)] = own
            is_token[b, first : first + len(own)] = True
        # A pad has the position of the token before it: it is masked, but must have one.
        seen = self._is_token.sum(1, keepdim=True)
        positions = (seen + is_token.cumsum(1) - 1).clamp(min=0)
        self._is_token = torch.cat([self._is_token, is_token], 1)
        self._positions = torch.cat([self._positions, positions], 1)
        _, self._cache = self._layers(
            tensor(x), cache=self._cache, cache_age=columns, return_hiddens=True,
            pos=self._positions, self_attn_kv_mask=self._is_token,
        )  # fmt: skip
        outputs = np.array(self._to_out.answered).reshape(x.shape)
        return [outputs[b, kept] for b, kept in enumerate(is_token.numpy())]

    def reorder(self, indices: list[int]) -> None:
        """Let each row go on from another history, as the library's beam search does."""
        self._is_token, self._positions = self._is_token[indices], self._positions[indices]
        if self._cache:
            modify_cached_kv(self._cache, lambda kept: kept[indices])

    select = reorder


batch = SimpleNamespace(
    start_batch=Batch,
    capabilities={
        "dtype": "float32", "min_width": 4, "rotary_dim": True, "scaling": ["linear", "ntk"],
        "heads": True, "reorder": True, "select": True,
        "rope_freqs": False, "apply_rope": False, "decode_incremental": False,
    },
)  # fmt: skip
_NAN = (
    "a weight of 0 is multiplied with a masked value that is nan or inf (x-transformers 2.31.10)"
)
padded_batch = SimpleNamespace(
    start_batch=Batch,
    capabilities=batch.capabilities | {"padding": True},
    known_failures={
        "pads_of_any_kind_change_nothing": _NAN,
        "any_program_of_a_batch_gives_what_its_rows_give": _NAN,
    },
)
