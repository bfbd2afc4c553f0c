"""mlx-lm: its Llama model with its own caches and masks.

Driven is `LlamaModel` with one layer and a cache of `mlx_lm.models.cache`, so that positions,
masks and stores are the library's. The adapter's own: no empty chunk reaches the library, which
cannot reshape one; a crop is `trim_prompt_cache`, and what that leaves untrimmed is refused; a
fork is a deep copy, as in the library's `LRUPromptCache`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from mlx_lm.models import cache as caches

from ._mlx_llama import Llama, Rows


class Session:
    """One generation with a cache."""

    def __init__(self, model: Llama, cache: Any) -> None:
        self._model = model
        self._cache = cache

    @property
    def length(self) -> int:
        """How many tokens the cache has seen."""
        return int(self._cache.offset)

    def feed(self, rows: Rows) -> Rows:
        """Return the outputs of the next rows (n, D)."""
        return self._model(rows[None], self._cache)[0] if len(rows) else rows.copy()

    def crop(self, length: int) -> None:
        """Forget all tokens but the first ones."""
        more = self.length - length
        if not 0 <= more <= self.length:
            raise ValueError(f"there are {self.length} tokens, not {length}")
        if caches.trim_prompt_cache([self._cache], more) != more:
            raise ValueError("the cache cannot be trimmed so far")

    def fork(self) -> Session:
        """Return a copy."""
        return Session(self._model, copy.deepcopy(self._cache))


class Sessions:
    """Sessions with a cache of one kind, made for a decoder."""

    known_failures: Mapping[str, str] = {}

    def __init__(self, make: Callable[[Any], Any], **capabilities: Any) -> None:
        self._make = make
        self.capabilities = {
            "layout": "half", "dtype": "float32", "rope_freqs": False, "apply_rope": False,
            "heads": True, "rotary_dim": True, "scaling": ["linear", "yarn", "llama3"],
            "chunks": True, "crop": True, "fork": True, "length": True, **capabilities,
        }  # fmt: skip

    def start(self, decoder: Any) -> Session:
        """Start a session."""
        return Session(Llama(decoder), self._make(decoder))

    def prefill(self, decoder: Any, rows: Rows) -> Rows:
        """Return the outputs of rows that are fed at once."""
        return self.start(decoder).feed(rows)

    def without_a_cache(self, decoder: Any, rows: Rows) -> Rows:
        """Return the outputs of rows by the model alone."""
        return Llama(decoder)(rows[None], None)[0]


def _rotating(decoder: Any) -> Any:
    """Return the cache that the library makes for a layer."""
    if decoder.window is None:
        return caches.KVCache()
    return caches.RotatingKVCache(max_size=decoder.window + decoder.sinks, keep=decoder.sinks)


kv_cache = Sessions(lambda _: caches.KVCache(), window=True, paths=["prefill", "without_a_cache"])
concatenate = Sessions(lambda _: caches.ConcatenateKVCache(), window=True)
chunked = Sessions(lambda _: caches.ChunkedKVCache(8192))
rotating = Sessions(_rotating, window=True)
rotating_keep = Sessions(_rotating, window=True, sinks=True)
concatenate.known_failures = dict.fromkeys(
    (
        "a_ring_is_cropped_rightly_or_refuses", "after_a_crop_only_the_first_tokens_were_seen",
        "any_program_gives_what_its_tokens_give", "each_row_that_is_fed_is_projected_once",
        "the_length_is_the_number_of_tokens_seen",
    ),
    "mlx-lm 0.32.2: what ConcatenateKVCache.trim takes off, the next update brings back",
)  # fmt: skip
rotating_keep.known_failures = dict.fromkeys(
    ("a_chunk_sees_the_window_of_each_of_its_rows", "a_ring_is_cropped_rightly_or_refuses"),
    "mlx-lm 0.32.2: RotatingKVCache.make_mask of more than one row knows nothing of keep",
)
