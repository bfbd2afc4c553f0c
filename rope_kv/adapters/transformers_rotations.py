"""transformers: the rotations of GPT-J and GPT-NeoX, and Llama's in a model that was converted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from transformers import GPTJConfig, GPTNeoXConfig
from transformers.models.gpt_neox import modeling_gpt_neox as neox
from transformers.models.gptj import modeling_gptj as gpt_j
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from .torch_calls import array, tensor
from .transformers_config import width_alone

MOST = 2048  # positions in the table of GPT-J
VERSION = "(transformers 5.24.0)"


def _places(positions: Any) -> torch.Tensor:
    return torch.tensor([[int(position) for position in positions]])


def _by_gpt_j(
    x: Any, positions: Any, base: float = 10000, *, rotary_dim: int | None = None
) -> Any:
    """Turn rows (T, d) by GPT-J's table, which has no other base: then it is the adapter's own."""
    d = x.shape[1] if rotary_dim is None else rotary_dim
    if d % 2 or not 0 < d <= x.shape[1]:
        raise ValueError(f"rotary_dim must be even and at most {x.shape[1]}, found {d}")
    rows = tensor(x)[None, :, None]
    rotary = gpt_j.GPTJRotaryEmbedding(GPTJConfig(rotary_dim=d, n_embd=d, n_positions=MOST))
    if base != 10000:
        angles = torch.outer(torch.arange(MOST), float(base) ** -(torch.arange(0, d, 2) / d))
        rotary.embed_positions = torch.cat([angles.sin(), angles.cos()], dim=1)
    sin, cos = rotary(rows, _places(positions))
    turned = gpt_j.apply_rotary_pos_emb(rows[..., :d], sin, cos)
    return array(torch.cat([turned, rows[..., d:]], dim=-1)[0, :, 0])


def _by_gpt_neox(
    x: Any, positions: Any, base: float = 10000, *, rotary_dim: int | None = None
) -> Any:
    """Turn rows (T, d) by GPT-NeoX, which is told the part of a head that is turned."""
    rows, d = tensor(x)[None, None], x.shape[1]
    part = 1.0 if rotary_dim is None else rotary_dim / d
    parameters = {"rope_type": "default", "rope_theta": float(base), "partial_rotary_factor": part}
    config = GPTNeoXConfig(hidden_size=d, num_attention_heads=1, rope_parameters=parameters)
    cos, sin = neox.GPTNeoXRotaryEmbedding(config)(rows, _places(positions))
    return array(neox.apply_rotary_pos_emb(rows, rows, cos, sin)[0][0, 0])


def _converted(x: Any, positions: Any, base: float = 10000) -> Any:
    """Turn rows (T, d) by Llama's embedding as `model.to(dtype)` leaves it."""
    rows = tensor(x)[None, None]
    rotary = LlamaRotaryEmbedding(width_alone(x.shape[1], base, None)).to(rows.dtype)
    cos, sin = rotary(rows, _places(positions))
    return array(apply_rotary_pos_emb(rows, rows, cos, sin)[0][0, 0])


def _adapter(apply_rope: Any, known: dict[str, str], **declared: Any) -> SimpleNamespace:
    absent = {"rope_freqs": False, "decode_incremental": False}
    return SimpleNamespace(
        apply_rope=apply_rope, known_failures=known,
        capabilities={"dtype": "float32"} | absent | declared,
    )  # fmt: skip


WRAPS = {"negative_positions_are_refused": f"GPT-J reads its table from the end {VERSION}"}
ODD = {
    "a_rotary_dim_that_does_not_fit_is_refused": f"an odd part is turned; a convention {VERSION}"
}
ROUNDED = dict.fromkeys(
    [
        "far_positions_turn_as_exactly_as_near_ones",
        "negative_positions_turn_the_other_way",
        "pairs_of_the_declared_layout_turn_by_their_own_angle",
        "angles_keep_their_digits_where_16_bits_run_out",
    ],
    f"model.to(dtype) rounds inv_freq, which from_pretrained(dtype=) keeps in float32 {VERSION}",
)
gptj = _adapter(_by_gpt_j, WRAPS, positions="not negative", max_position=MOST, rotary_dim=True)
gpt_neox = _adapter(_by_gpt_neox, ODD, layout="half", rotary_dim=True)
llama_to_bfloat16 = _adapter(_converted, ROUNDED, layout="half", dtype="bfloat16")
llama_to_float16 = _adapter(_converted, ROUNDED, layout="half", dtype="float16")
