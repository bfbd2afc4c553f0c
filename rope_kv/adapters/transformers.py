"""transformers: Llama and Mistral, a model of one layer with its own loop, masks and caches.

The projections call the decoder, norms and feed-forward do nothing, and what is fed back is the
answer of the output projection, before the residual is added.
"""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import DynamicCache, LlamaModel, MistralModel, StaticCache
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from .torch_calls import Asking, tensor
from .transformers_config import configured, width_alone

SLOTS = 1024  # of a static cache, where no capacity is asked for


def rope_freqs(d: int, base: float = 10000, *, scaling: Any = None) -> Any:
    """Return the frequencies (d/2,), which the library keeps in float32."""
    rotary = LlamaRotaryEmbedding(width_alone(d, base, scaling))
    # A rule that goes by the length sets them when it is shown the last position.
    rotary(torch.zeros(1), torch.tensor([[(scaling or {}).get("length", 1) - 1]]))
    return rotary.inv_freq.double().numpy()


def apply_rope(x: Any, positions: Any, base: float = 10000, *, scaling: Any = None) -> Any:
    """Return the rows x (T, d), turned to their positions."""
    rows, where = tensor(x)[None, None], torch.tensor([[int(p) for p in positions]])
    cos, sin = LlamaRotaryEmbedding(width_alone(rows.shape[-1], base, scaling))(rows, where)
    return apply_rotary_pos_emb(rows, rows, cos, sin)[0][0, 0].numpy()


class Session:
    """One generation: a model like a decoder, and its cache."""

    def __init__(self, decoder: Any, is_static: bool = False, capacity: int | None = None) -> None:
        config = configured(decoder)
        self._model = (MistralModel if decoder.window else LlamaModel)(config).eval()
        layer = self._model.layers[0]
        layer.input_layernorm = layer.post_attention_layernorm = self._model.norm = nn.Identity()
        layer.mlp = Asking(np.zeros_like)
        attention, self._width = layer.self_attn, decoder.width
        # The library wants a width that is a multiple of the heads: what is beyond is zeros.
        self._pads = config.hidden_size - decoder.width
        attention.q_proj = Asking(lambda rows: decoder.project_q(rows[:, : self._width]))
        attention.k_proj = Asking(lambda rows: decoder.project_k(rows[:, : self._width]))
        attention.v_proj = Asking(lambda rows: decoder.project_v(rows[:, : self._width]))
        attention.o_proj = Asking(
            lambda rows: np.pad(decoder.project_out(rows), ((0, 0), (0, self._pads)))
        )
        self._out = attention.o_proj
        self._cache = (
            StaticCache(config, max_cache_len=capacity or SLOTS)
            if is_static
            else DynamicCache(config=config)
        )

    @property
    def length(self) -> int:
        """How many tokens the cache says it has seen."""
        return int(self._cache.get_seq_length())

    def feed(self, rows: Any) -> Any:
        """Return the outputs (n, D) of the next rows (n, D); the model is not shown no rows."""
        return self._run(tensor(rows)[None]) if len(rows) else np.array(rows)

    @torch.no_grad()
    def _run(self, x: torch.Tensor, **named: Any) -> Any:
        wider = nn.functional.pad(x, (0, self._pads))
        self._model(inputs_embeds=wider, cache=self._cache, use_cache=True, **named)
        return np.array(self._out.answered[:, : self._width])

    def crop(self, length: int) -> None:
        """Keep the first `length` tokens; the library is told how many to remove."""
        self._cache.crop(length - self.length)

    def reset(self) -> None:
        """Forget everything."""
        self._cache.reset()

    def fork(self) -> Session:
        """Return a copy with a cache of its own."""
        other = copy.copy(self)
        other._cache = copy.deepcopy(self._cache)
        return other


VERSION = "(transformers 5.24.0)"
CROPS = {
    "a_crop_below_0_or_beyond_the_tokens_is_refused": "a cache that is told to remove more tokens "
    f"than it has loses them all, without a word; a convention {VERSION}"
}
NO_ROOM = {
    "after_tokens_are_refused_there_is_room_as_before": "StaticLayer.update counts tokens before "
    f"it finds that there is no room for them; a convention {VERSION}"
}
EARLIER_ANGLES = (
    "cached keys keep the angles of the length at which they came, and a chunk is turned by its "
    f"last; by design, its own uncached pass differs {VERSION}"
)
BY_LENGTH = dict.fromkeys(
    [
        "scaled_decoding_equals_the_full_forward_at_every_length",
        "scaled_chunks_give_what_the_whole_gives",
        "any_program_gives_what_its_tokens_give",
    ],
    EARLIER_ANGLES,
)
SLIDING = {
    "a_window_below_the_least_is_refused_or_right": "a sliding layer keeps keys[-W + 1:], "
    f"which is all of them where W is 1; StaticCache is right {VERSION}",
    "the_length_is_the_number_of_tokens_seen": "DynamicSlidingWindowLayer.crop(0) of a cache that "
    f"is empty raises AttributeError; DynamicLayer does not {VERSION}",
}
OVERWRITTEN = dict.fromkeys(
    ["a_ring_is_cropped_rightly_or_refuses", "a_store_may_be_filled_to_its_last_slot"],
    "StaticSlidingWindowLayer.crop goes back to slots that are overwritten, as its is_croppable "
    f"would say if it were asked {VERSION}",
)
OPERATIONS = ("chunks", "crop", "fork", "reset", "length", "heads")


def _adapter(known: dict[str, str], is_static: bool = False, **declared: Any) -> SimpleNamespace:
    """Return the functions of the contract, with what is declared beside what all have."""

    def start(decoder: Any, *, capacity: int | None = None) -> Session:
        return Session(decoder, is_static, capacity)

    of_all = {"layout": "half", "dtype": "float32"} | dict.fromkeys(OPERATIONS, True)
    return SimpleNamespace(
        rope_freqs=rope_freqs, apply_rope=apply_rope, start=start,
        capabilities=of_all | declared, known_failures=CROPS | known,
    )  # fmt: skip


llama_dynamic = _adapter({}, scaling=["linear", "yarn", "llama3"])
llama_static = _adapter(NO_ROOM, is_static=True, capacity=True)
llama_by_length = _adapter(BY_LENGTH, scaling=["dynamic", "longrope"], apply_rope=False)
mistral_dynamic = _adapter(SLIDING, window=True, min_window=2)
mistral_static = _adapter(NO_ROOM | OVERWRITTEN, is_static=True, window=True, capacity=True)
