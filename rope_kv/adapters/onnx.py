"""The reference evaluator of onnx: RotaryEmbedding, and Attention over past keys and values.

Driven are the rotation, heads, the causal mask and the cache. The adapter's own are the angles,
as cos and sin are inputs of RotaryEmbedding, and before opset 25 the mask of a window and sinks.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import onnx.helper
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from ..decoder import Decoder
from .operators import Array, Operators

# The types of inputs that are no rows.
TYPES = {
    "ids": TensorProto.INT64, "nonpad_kv_seqlen": TensorProto.INT64,
    "write_indices": TensorProto.INT64, "mask": TensorProto.BOOL, "last": TensorProto.INT32,
    "total": TensorProto.INT32, "fed": TensorProto.INT32,
}  # fmt: skip


def model(
    operator: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    opset: int,
    kind: int,
    **more: Any,
) -> onnx.ModelProto:
    """Return a model of one operator, of which inputs named "" are left out."""
    node = onnx.helper.make_node(operator, inputs, outputs, **more)
    # No shape is said, so one model does for all.
    taken, given = (
        [
            onnx.helper.make_tensor_value_info(name, TYPES.get(name, kind), None)
            for name in names
            if name
        ]
        for names in (inputs, outputs)
    )
    opsets = [onnx.helper.make_opsetid("", opset), onnx.helper.make_opsetid("com.microsoft", 1)]
    graph = onnx.helper.make_graph([node], operator, taken, given)
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)


class Models(Operators):
    """The operators of an opset, each evaluated by a model of its own."""

    known_failures: ClassVar[dict[str, str]] = {
        "a_rotary_dim_that_does_not_fit_is_refused": (
            "onnx 1.23.2 takes a rotary_embedding_dim that is wider than the head."
        ),
    }

    def __init__(self, layout: str, opset: int, **declared: Any) -> None:
        super().__init__(layout, **declared)
        self.opset = opset
        self.kind = onnx.helper.np_dtype_to_tensor_dtype(self.dtype)
        self.built = functools.cache(self.build)  # Building takes longer than running.

    def build(self, *what: Any, **attributes: Any) -> Any:
        """Return what runs a model."""
        return ReferenceEvaluator(model(*what, self.opset, self.kind, **attributes))

    def run(
        self, operator: str, inputs: dict[str, Any], *outputs: str, **attributes: Any
    ) -> list[Array]:
        """Return the outputs of one operator; an input that is None is left out."""
        given = {name: value for name, value in inputs.items() if value is not None}
        names = tuple(name if name in given else "" for name in inputs)
        evaluated: list[Array] = self.built(operator, names, outputs, **attributes).run(
            None, given
        )
        return evaluated

    def rotate(self, x: Array, cos: Array, sin: Array, ids: Array, **attributes: int) -> Array:
        """Return RotaryEmbedding of rows."""
        inputs = {"x": x, "cos": cos, "sin": sin, "ids": ids}
        attributes["interleaved"] = self.interleaved
        return self.run("RotaryEmbedding", inputs, "y", **attributes)[0]

    def attend(
        self, inputs: dict[str, Array | None], decoder: Decoder, **attributes: int
    ) -> list[Array]:
        """Return Attention of q, k and v over past keys and values, and these with k and v."""
        heads = {"q_num_heads": decoder.heads, "kv_num_heads": decoder.kv_heads}
        outputs = "y", "keys", "values"
        return self.run("Attention", inputs, *outputs, is_causal=1, **heads, **attributes)


class Windowed(Models):
    """The operators from opset 25 on, where Attention has a window of its own."""

    def attend(
        self, inputs: dict[str, Array | None], decoder: Decoder, **attributes: int
    ) -> list[Array]:
        """Return Attention, its window as an attribute: the tokens before the own one."""
        if decoder.window is not None:
            inputs, attributes = inputs | {"mask": None}, {"left_window_size": decoder.window - 1}
        return super().attend(inputs, decoder, **attributes)


reference = Models("half", 23, window=True, sinks=True)
interleaved = Models("interleaved", 24, window=True, sinks=True)
windowed = Windowed("half", 25, window=True)
float16 = Models("half", 23, dtype="float16", window=True, sinks=True)
