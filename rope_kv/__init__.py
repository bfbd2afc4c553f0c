"""rope_kv: verification of rotary position embeddings and KV caches.

The three functions of the exercise, in their reference form, the decoder they are run with, and
`check`, which turns any implementation of them into a verdict.
"""

from typing import TYPE_CHECKING, Any

from .decode import KVCache, decode_incremental
from .decoder import Decoder
from .rope import apply_rope, rope_freqs

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    # Hypothesis takes longer to import than everything else here: only who checks pays for it.
    if name == "check":
        from .testing.check import check

        return check
    if name == "Verdict":
        from .testing.verdict import Verdict

        return Verdict
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
