"""Sessions and batches of an implementation, as the properties see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Starter(Protocol):
    """What has started something, and calls its methods."""

    def on(self, started: Any, method: str, *arguments: Any) -> Any:
        """Call a method of what was started; what it has no method for is an attribute."""


class Session:
    """One generation. `code` is the session of the implementation, or what stands for it."""

    def __init__(self, starter: Starter, code: Any) -> None:
        self._starter = starter
        self._code = code

    def feed(self, rows: Any) -> Any:
        """Feed rows (n, D); return whatever came of it, due to be (n, D)."""
        return self._starter.on(self._code, "feed", rows)

    def crop(self, length: int) -> None:
        """Forget everything after the first `length` tokens."""
        self._starter.on(self._code, "crop", length)

    def fork(self) -> Session:
        """Return a copy."""
        return Session(self._starter, self._starter.on(self._code, "fork"))

    def reset(self) -> None:
        """Forget everything."""
        self._starter.on(self._code, "reset")

    def fill_unused(self, value: float) -> None:
        """Write a number into every slot that holds no token."""
        self._starter.on(self._code, "fill_unused", value)

    @property
    def length(self) -> Any:
        """How many tokens it says it has seen."""
        return self._starter.on(self._code, "length")


class Batch:
    """Several generations side by side."""

    def __init__(self, starter: Starter, code: Any) -> None:
        self._starter = starter
        self._code = code

    def feed(self, rows: Sequence[Any]) -> Any:
        """Feed rows (n_b, D) for each b; return whatever came of it, due to be a list alike."""
        return self._starter.on(self._code, "feed", list(rows))

    def reorder(self, indices: Sequence[int]) -> None:
        """Go on, in row b, from history indices[b]."""
        self._starter.on(self._code, "reorder", list(indices))

    def select(self, indices: Sequence[int]) -> None:
        """Go on with these rows alone."""
        self._starter.on(self._code, "select", list(indices))
