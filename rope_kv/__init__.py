"""rope_kv: verification of rotary position embeddings and KV caches.

The three functions of the exercise, in their reference form, the decoder they are run with,
sessions and batches, which go beyond it, and `check`, which turns any implementation into a
verdict.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batch import Batch, start_batch
    from .cache import KVCache
    from .decode import decode_incremental
    from .decoder import Decoder
    from .layouts import convert_layout
    from .rope import apply_rope, rope_freqs
    from .session import Session, prefill, start
    from .testing.capabilities import Capabilities
    from .testing.check import check
    from .testing.verdict import Verdict

__version__ = "0.1.0"
_HOMES = {
    "Batch": ".batch",
    "Capabilities": ".testing.capabilities",
    "Decoder": ".decoder",
    "KVCache": ".cache",
    "Session": ".session",
    "Verdict": ".testing.verdict",
    "apply_rope": ".rope",
    "check": ".testing.check",
    "convert_layout": ".layouts",
    "decode_incremental": ".decode",
    "prefill": ".session",
    "rope_freqs": ".rope",
    "start": ".session",
    "start_batch": ".batch",
}
__all__ = [
    "Batch",
    "Capabilities",
    "Decoder",
    "KVCache",
    "Session",
    "Verdict",
    "apply_rope",
    "check",
    "convert_layout",
    "decode_incremental",
    "prefill",
    "rope_freqs",
    "start",
    "start_batch",
]
# What the reference does beyond the exercise; see `Capabilities`.
capabilities = {
    "min_width": 2,
    "width_multiple": 2,
    "rotary_dim": True,
    "scaling": ["linear", "ntk", "dynamic", "yarn", "llama3", "longrope"],
    "convert_layout": True,
    "chunks": True,
    "crop": True,
    "fork": True,
    "reset": True,
    "length": True,
    "capacity": True,
    "fill_unused": True,
    "heads": True,
    "window": True,
    "sinks": True,
    "batch": True,
    "padding": True,
    "reorder": True,
    "select": True,
    "paths": ["prefill"],
}


def __getattr__(name: str) -> Any:
    # Each is imported when it is asked for: numpy and Hypothesis take longer than all else here,
    # and `rope-kv --help` needs neither.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
