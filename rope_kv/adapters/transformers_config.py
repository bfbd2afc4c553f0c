"""What transformers is told of a decoder: widths, heads, window, base, and the scaling rule."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from transformers import LlamaConfig, MistralConfig


def configured(decoder: Any) -> Any:
    """Return the configuration of one layer like a decoder: Mistral's where it has a window."""
    scaling = decoder.scaling or {}
    settings = {
        "hidden_size": decoder.width * decoder.heads,
        "num_attention_heads": decoder.heads,
        "num_key_value_heads": decoder.kv_heads,
        "head_dim": decoder.head_dim,
        "rope_parameters": parameters(decoder.base, scaling),
        "max_position_embeddings": scaling.get("original_max_position", 1 << 20),
        "num_hidden_layers": 1,
        "intermediate_size": 2,
        "vocab_size": 4,
    }
    if decoder.window:
        return MistralConfig(sliding_window=decoder.window, **settings)
    return LlamaConfig(**settings)


def width_alone(d: int, base: float, scaling: Any) -> Any:
    """Return the configuration of one head of width d."""
    decoder = SimpleNamespace(width=d, heads=1, kv_heads=1, head_dim=d)
    return configured(SimpleNamespace(**vars(decoder), base=base, scaling=scaling, window=None))


def parameters(base: float, scaling: Any) -> dict[str, Any]:
    """Return the rope_parameters of a base and of a scaling as rope_kv.scaling writes it."""
    scaling = scaling or {}
    told = {name: value for name, value in scaling.items() if name not in ("rule", "length")}
    if "original_max_position" in told:
        told["original_max_position_embeddings"] = told.pop("original_max_position")
    return {"rope_type": scaling.get("rule", "default"), "rope_theta": float(base), **told}
