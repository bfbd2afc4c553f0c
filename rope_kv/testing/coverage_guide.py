"""Cases steered to branches that were not taken before: HypoFuzz, as a backend of Hypothesis.

Only branches of Python code in this process are seen. What is measured is the code under test and
what it calls; not numpy, and not what verifies it, whose branches say nothing about the code.
"""

from __future__ import annotations

import functools
import importlib.util
from importlib.metadata import version
from pathlib import Path
from types import CodeType
from typing import Any

from .implementation import Implementation, InProcess
from .pair import Pair

BACKEND = "rope_kv guided by coverage"
PACKAGE = Path(__file__).resolve().parent.parent
_VERIFYING = ("testing", "sandbox", "reports", "oracle.py", "oracle_scaling.py")


class UnguidedError(Exception):
    """Coverage cannot guide this hunt; the message says why, as a clause."""


class Guide:
    """A backend of Hypothesis, and the branches that its cases have taken so far."""

    def __init__(self) -> None:
        self.branches: set[Any] = set()
        self.backend = BACKEND
        self.name = f"HypoFuzz {version('hypofuzz')}"
        self._register()

    def _register(self) -> None:
        from hypofuzz.coverage import CoverageCollector
        from hypofuzz.provider import HypofuzzProvider
        from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS

        seen = self.branches

        class Collector(CoverageCollector):  # type: ignore[misc,unused-ignore]
            """Sees the branches of one case; it does not look into what is not measured."""

            def trace_pre_312(self, frame: Any, event: Any, arg: Any) -> Any:
                if not is_measured(frame.f_code.co_filename):
                    return None
                return super().trace_pre_312(frame, event, arg)

            def trace_branch(self, code: CodeType, source_offset: int, dest_offset: int) -> Any:
                if not is_measured(code.co_filename):
                    import sys

                    return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]
                return super().trace_branch(code, source_offset, dest_offset)

            def __exit__(self, *raised: Any) -> None:
                super().__exit__(*raised)
                seen.update(self.branches)

        class Provider(HypofuzzProvider):  # type: ignore[misc,unused-ignore]
            """Draws cases as HypoFuzz does, by the branches that count here."""

            def __init__(self, conjecturedata: Any, /) -> None:
                super().__init__(conjecturedata, collector=Collector())

        AVAILABLE_PROVIDERS[BACKEND] = Provider


def guide_for(impl: Implementation) -> Guide:
    """Return what guides a hunt by coverage; UnguidedError says why nothing does."""
    code = impl.new if isinstance(impl, Pair) else impl
    if not isinstance(code, InProcess):
        raise UnguidedError("the branches of isolated code are not seen from outside")
    if importlib.util.find_spec("hypofuzz") is None:
        raise UnguidedError("HypoFuzz is not installed: pip install 'rope_kv[hunt]'")
    try:
        return Guide()
    except Exception as error:
        # What is used of HypoFuzz is not its public interface, of which there is none.
        raise UnguidedError(f"HypoFuzz cannot be used: {type(error).__name__}: {error}") from None


@functools.cache
def is_measured(filename: str) -> bool:
    """Return whether the branches of a file count."""
    return not filename.startswith(_passed_over())


@functools.cache
def _passed_over() -> tuple[str, ...]:
    import numpy as np

    from .. import properties

    named = (str(PACKAGE / name) for name in _VERIFYING)
    others = (str(Path(str(module.__file__)).parent) for module in (np, properties))
    return (*named, *others)
