"""Adapters: real libraries behind the contract, each checked by its name.

The libraries are not installed with rope_kv: each is an extra. What one is known to do wrong is
in its `known_failures`, and the cases that show it are in known/, a folder for each adapter.
"""

from __future__ import annotations

from typing import NamedTuple


class Adapter(NamedTuple):
    """A name to check, the package that it is about, and what of that is driven."""

    name: str
    package: str
    drives: str

    @property
    def spec(self) -> str:
        """What `rope-kv check` is told."""
        return f"{__name__}.{self.name}"


# By the package: the extra of rope_kv that installs it has the same name.
_DRIVEN = {
    "transformers": {
        "transformers:llama_dynamic": "Llama with DynamicCache",
        "transformers:llama_static": "Llama with StaticCache",
        "transformers:llama_by_length": "Llama, scaled by its length",
        "transformers:mistral_dynamic": "Mistral's window with DynamicCache",
        "transformers:mistral_static": "Mistral's window with StaticCache",
        "transformers_rotations:gptj": "the rotation of GPT-J",
        "transformers_rotations:gpt_neox": "the rotation of GPT-NeoX",
        "transformers_rotations:llama_to_bfloat16": "Llama's, in a model that was converted",
        "transformers_rotations:llama_to_float16": "the same in float16",
        "transformers_batch:llama": "Llama, a ragged batch",
    },
    "onnx": {
        "onnx:reference": "RotaryEmbedding, Attention over a past, opset 23",
        "onnx:interleaved": "the same of adjacent pairs, opset 24",
        "onnx:windowed": "the same with left_window_size, opset 25",
        "onnx:float16": "the same in float16",
        "onnx_static:reference": "a store filled by TensorScatter, opset 24",
        "operator_batches:reference": "a batch padded on the left",
        "operator_batches:reference_row_mask": "the same, masked by one row",
    },
    "onnxruntime": {
        "onnxruntime:standard": "RotaryEmbedding, Attention over a past, opset 23",
        "onnxruntime:interleaved": "the same of adjacent pairs, opset 24",
        "onnxruntime:windowed": "the same with left_window_size, opset 25",
        "onnxruntime:contributed": "com.microsoft RotaryEmbedding",
        "onnxruntime:float16": "the same in float16",
        "onnx_static:onnxruntime": "a store filled by TensorScatter, opset 24",
        "operator_batches:onnxruntime": "a batch padded on the left",
        "onnxruntime_group_query:half": "GroupQueryAttention",
        "onnxruntime_group_query:interleaved": "the same of adjacent pairs",
        "onnxruntime_batches:half": "GroupQueryAttention of a ragged batch",
        "onnxruntime_batches:interleaved": "the same of adjacent pairs",
        "onnxruntime_sliding:half": "GroupQueryAttention with a sliding cache",
        "onnxruntime_sliding:interleaved": "the same of adjacent pairs",
        "onnxruntime_sliding:batches": "the same of a ragged batch",
    },
    "torch": {
        "torch_onnx_ops:masked": "torch.onnx.ops over a past, with a mask",
        "torch_onnx_ops:masked_interleaved": "the same of adjacent pairs",
        "torch_onnx_ops:is_causal": "the same by is_causal",
    },
    "mlx": {
        "mlx:half": "nn.RoPE",
        "mlx:interleaved": "the same of adjacent pairs",
    },
    "mlx-lm": {
        "mlx_lm_ropes:ropes": "its rotations by linear, yarn and llama3",
        "mlx_lm_ropes:longrope": "SuScaledRoPE",
        "mlx_lm:kv_cache": "Llama with KVCache",
        "mlx_lm:concatenate": "Llama with ConcatenateKVCache",
        "mlx_lm:chunked": "Llama with ChunkedKVCache",
        "mlx_lm:rotating": "Llama's window with RotatingKVCache",
        "mlx_lm:rotating_keep": "the same, and its first tokens kept",
        "mlx_lm_batches:batch": "Llama with BatchKVCache",
        "mlx_lm_batches:batch_rotating": "its window with BatchRotatingKVCache",
    },
    "rotary-embedding-torch": {
        "rotary_embedding_torch:by_positions": "apply_rotary_emb",
        "rotary_embedding_torch:interpolated_by_positions": "the same, interpolated",
        "rotary_embedding_torch:by_offset": "rotate_queries_or_keys",
        "rotary_embedding_torch:by_offset_bfloat16": "the same of bfloat16",
        "rotary_embedding_torch:by_offset_float16": "the same of float16",
        "rotary_embedding_torch:with_cached_keys": "rotate_queries_with_cached_keys",
    },
    "x-transformers": {
        "x_transformers:attention": "AttentionLayers with its cache",
        "x_transformers:flash_attention": "the same with torch's softmax",
        "x_transformers:heads_in_turn": "its order of grouped heads",
        "x_transformers:bfloat16_model": "angles of a converted model",
        "x_transformers_batch:batch": "a ragged batch",
        "x_transformers_batch:padded_batch": "the same with any pads",
    },
}
ADAPTERS = tuple(
    Adapter(name, package, drives)
    for package, driven in _DRIVEN.items()
    for name, drives in driven.items()
)


def package_of(module: str) -> str:
    """Return the package that the adapters of a module are about, or "" for any other module."""
    packages = (adapter.package for adapter in ADAPTERS if adapter.spec.startswith(f"{module}:"))
    return next(packages, "")
