"""mlx-lm's caches of ragged batches, in its Llama model.

The first rows are padded on the left, as the caches are told when they are made; later ones on the
right, which `prepare` announces and `finalize` undoes: so does the library's
`PromptProcessingBatch`. Rows are selected by `filter`, and reordered by `extract` and `merge`. The
adapter's own are what pads hold, and that no call reaches the library in which no row has a token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from mlx_lm.models import cache as caches

from ._mlx_llama import Llama, Rows

_PAD = 3.0  # Not 0, which would hide that a pad is seen.


class Batch:
    """Several generations with one cache."""

    def __init__(self, model: Llama, cache: Any) -> None:
        self._model = model
        self._cache = cache

    def feed(self, rows: Sequence[Rows]) -> list[Rows]:
        """Return the outputs of the next rows (n_b, D) of each b."""
        counts = [len(own) for own in rows]
        longest = max(counts)
        if not longest:
            return [own.copy() for own in rows]
        is_first = self._cache.empty()
        # One column is decoding, in which BatchRotatingKVCache refuses any pad on the right.
        longest += longest == 1 and not all(counts) and not is_first
        pads = [longest - count for count in counts]
        padded = np.full((len(rows), longest, rows[0].shape[1]), _PAD, dtype=np.float32)
        places = [slice(pad, None) if is_first else slice(longest - pad) for pad in pads]
        for row, place, own in zip(padded, places, rows, strict=True):
            row[place] = own
        if is_first:
            self._cache.prepare(left_padding=pads)
        elif any(pads):
            self._cache.prepare(lengths=counts, right_padding=pads)
        outputs = self._model(padded, self._cache)
        self._cache.finalize()
        return [row[place].copy() for row, place in zip(outputs, places, strict=True)]

    def select(self, indices: Sequence[int]) -> None:
        """Go on with these rows alone."""
        self._cache.filter(list(indices))

    def reorder(self, indices: Sequence[int]) -> None:
        """Go on, in row b, from history indices[b]."""
        if not self._cache.empty():
            chosen = [self._cache.extract(index) for index in indices]
            self._cache = type(self._cache).merge(chosen)


class Batches:
    """Batches with a cache of one kind, made for a decoder and a number of rows."""

    known_failures: Mapping[str, str] = {}

    def __init__(self, make: Callable[[Any, list[int]], Any]) -> None:
        self._make = make
        self.capabilities = {
            "layout": "half", "dtype": "float32", "rotary_dim": True, "heads": True,
            "scaling": ["linear", "yarn", "llama3"], "batch": True, "reorder": True,
            "select": True, "window": True,
            "rope_freqs": False, "apply_rope": False, "decode_incremental": False,
        }  # fmt: skip

    def start_batch(self, decoder: Any, size: int) -> Batch:
        """Start a batch."""
        return Batch(Llama(decoder), self._make(decoder, [0] * size))


def _rotating(decoder: Any, no_pads: list[int]) -> Any:
    """Return the cache that the library makes for a layer."""
    if decoder.window is None:
        return caches.BatchKVCache(no_pads)
    return caches.BatchRotatingKVCache(decoder.window, no_pads)


batch = Batches(lambda _, no_pads: caches.BatchKVCache(no_pads))
batch_rotating = Batches(_rotating)
batch_rotating.known_failures = {
    "each_row_of_a_batch_has_a_window_of_its_own": "mlx-lm 0.32.2: where the ring has turned, "
    "BatchRotatingKVCache.make_mask takes one token of a chunk's past for a pad"
}
