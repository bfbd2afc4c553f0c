"""rope_kv: verification of rotary position embeddings and KV caches.

The three functions of the exercise, in their reference form, the decoder they are run with, and
`check`, which turns any implementation of them into a verdict.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .decode import KVCache, decode_incremental
    from .decoder import Decoder
    from .rope import apply_rope, rope_freqs
    from .testing.check import check
    from .testing.verdict import Verdict

__version__ = "0.1.0"
__all__ = [
    "Decoder",
    "KVCache",
    "Verdict",
    "apply_rope",
    "check",
    "decode_incremental",
    "rope_freqs",
]
_HOMES = {
    "Decoder": ".decoder",
    "KVCache": ".decode",
    "Verdict": ".testing.verdict",
    "apply_rope": ".rope",
    "check": ".testing.check",
    "decode_incremental": ".decode",
    "rope_freqs": ".rope",
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
