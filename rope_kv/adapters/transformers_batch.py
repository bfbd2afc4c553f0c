"""transformers: a ragged batch of Llama, with its attention mask and position ids."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from .torch_calls import tensor
from .transformers import Session


class Batch(Session):
    """Several generations side by side, padded on the left with zeros."""

    def __init__(self, decoder: Any, size: int) -> None:
        super().__init__(decoder)
        self._seen = torch.zeros((size, 0), dtype=torch.int64)

    def feed(self, rows: Any) -> Any:
        """Return the outputs (n_b, D) of the next rows (n_b, D) of each generation b."""
        most = max(map(len, rows))
        if not most:
            return [np.array(one) for one in rows]
        x = np.stack([np.pad(one, ((most - len(one), 0), (0, 0))) for one in rows])
        fed = torch.tensor([[column >= most - len(one) for column in range(most)] for one in rows])
        self._seen = torch.cat([self._seen, fed], dim=1)
        positions = (self._seen.cumsum(1) - 1).clamp(min=0)[:, -most:]
        outputs = self._run(tensor(x), attention_mask=self._seen, position_ids=positions)
        outputs = outputs.reshape(len(rows), most, -1)
        return [part[most - len(one) :] for part, one in zip(outputs, rows, strict=True)]

    def reorder(self, indices: Any) -> None:
        """Go on, in row b, from history indices[b]."""
        self._cache.reorder_cache(torch.tensor(indices))
        self._seen = self._seen[indices]

    def select(self, indices: Any) -> None:
        """Go on with these rows alone."""
        self._cache.batch_select_indices(torch.tensor(indices))
        self._seen = self._seen[indices]


llama = SimpleNamespace(
    start_batch=Batch,
    capabilities={
        "layout": "half", "dtype": "float32", "scaling": ["linear", "yarn", "llama3"],
        "heads": True, "batch": True, "reorder": True, "select": True,
        "rope_freqs": False, "apply_rope": False, "decode_incremental": False,
    },
)  # fmt: skip
