"""onnxruntime on a CPU: the operators of ONNX, and two of its own that rotate and cache.

Driven are the rotation, heads, the causal mask, the cache, and of GroupQueryAttention the window
too. The adapter's own are the angles, as cos and sin are inputs of all of them, and the mask of a
window for Attention before opset 25.
"""

from __future__ import annotations

from typing import Any, ClassVar

import onnxruntime

from .onnx import Models, Windowed, model
from .operators import Array


class Standard(Models):
    """The operators of ONNX, run by onnxruntime."""

    known_failures: ClassVar[dict[str, str]] = {
        "rows_of_a_width_that_is_no_multiple_are_refused": (
            "onnxruntime 1.32.0 does not write the last entry of an odd head: it is stale memory."
        ),
        "a_rotary_dim_that_does_not_fit_is_refused": (
            "onnxruntime 1.32.0 does not write the last entry of an odd rotary_embedding_dim."
        ),
    }

    def build(self, *what: Any, **attributes: Any) -> Any:
        """Return what runs a model, in one thread and without a log."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        written = model(*what, self.opset, self.kind, **attributes).SerializeToString()
        return onnxruntime.InferenceSession(written, options, ["CPUExecutionProvider"])


class WindowedStandard(Standard, Windowed):
    """Attention of opset 25, which onnxruntime runs as the function that ONNX defines it by."""


class Contributed(Standard):
    """The older RotaryEmbedding of onnxruntime itself, and Attention of ONNX."""

    def rotate(self, x: Array, cos: Array, sin: Array, ids: Array, **attributes: int) -> Array:
        """Return RotaryEmbedding of rows."""
        if "rotary_embedding_dim" in attributes:
            attributes.setdefault("num_heads", 1)  # It must be said with a part.
        inputs = {"x": x, "ids": ids, "cos": cos, "sin": sin}
        attributes["interleaved"] = self.interleaved
        return self.run("RotaryEmbedding", inputs, "y", domain="com.microsoft", **attributes)[0]


standard = Standard("half", 23, window=True, sinks=True)
interleaved = Standard("interleaved", 24, window=True, sinks=True)
windowed = WindowedStandard("half", 25, window=True)
contributed = Contributed("interleaved", 24)
float16 = Standard("half", 23, dtype="float16", window=True, sinks=True)
