"""The Llama model of mlx-lm with one layer, whose projections are those of a decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mlx.core as mx
import numpy as np
from mlx import nn
from mlx_lm.models import llama, rope_utils
from numpy.typing import NDArray

Rows = NDArray[np.float32]


def rope_of(dims: int, base: float, scaling: Mapping[str, Any] | None) -> Any:
    """Return the rope that mlx-lm makes of a scaling, told in the words of its configurations."""
    if scaling is None:
        return rope_utils.initialize_rope(dims, base, False)
    told = {**scaling, "rope_type": scaling["rule"]}
    trained = told["original_max_position_embeddings"] = told.pop("original_max_position", 1)
    rope = rope_utils.initialize_rope(dims, base, False, told, int(trained * scaling["factor"]))
    if scaling["rule"] == "yarn" and "attention_factor" in scaling:
        # Configurations of mlx-lm have no word for it, but `mscale`, from which this is computed.
        rope.mscale = scaling["attention_factor"]
    return rope


class Projection(nn.Module):
    """One of the decoder's projections in the place of a linear layer; it keeps its answer."""

    def __init__(self, project: Callable[[Any], Any]) -> None:
        super().__init__()
        self._project = project

    def __call__(self, x: mx.array) -> mx.array:
        """Return x (B, L, D), projected."""
        rows = self._project(np.array(x).reshape(-1, x.shape[-1]))
        self.answer = np.asarray(rows, dtype=np.float32).reshape(*x.shape[:-1], -1)
        return mx.array(self.answer)


class Llama:
    """The model of a decoder. What comes after the last projection is never evaluated."""

    def __init__(self, decoder: Any) -> None:
        arguments = llama.ModelArgs(
            model_type="llama", num_hidden_layers=1, intermediate_size=1, vocab_size=1,
            rms_norm_eps=1e-6, hidden_size=decoder.width, head_dim=decoder.head_dim,
            num_attention_heads=decoder.heads, num_key_value_heads=decoder.kv_heads,
        )  # fmt: skip
        self._model = llama.LlamaModel(arguments)
        layer = self._model.layers[0]
        layer.input_layernorm = nn.Identity()
        for name, project in (
            ("q_proj", decoder.project_q), ("k_proj", decoder.project_k),
            ("v_proj", decoder.project_v), ("o_proj", decoder.project_out),
        ):  # fmt: skip
            setattr(layer.self_attn, name, Projection(project))
        # As in the models of mlx-lm that turn a part of a head.
        dims = decoder.rotary_dim or decoder.head_dim
        layer.self_attn.rope = rope_of(dims, decoder.base, decoder.scaling)
        # A layer whose cache keeps the first tokens is, in mlx-lm, one that sees all it holds.
        if decoder.window and not decoder.sinks:
            # LlamaModel cannot be made of sliding layers alone: it looks for a full one.
            layer.use_sliding = True
            self._model.swa_idx, self._model.sliding_window = 0, decoder.window
        self._last = layer.self_attn.o_proj

    def __call__(self, rows: Rows, cache: Any) -> Rows:
        """Return what the decoder's last projection gave for rows (B, L, D), L of 1 or more."""
        # mlx takes no array whose strides are negative.
        embedded = mx.array(np.ascontiguousarray(rows, dtype=np.float32))
        self._model(None, [cache], input_embeddings=embedded)
        answer: Rows = self._last.answer
        return answer
