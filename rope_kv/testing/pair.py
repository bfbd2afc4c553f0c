"""A new version of some code and an old one, which is to the new one what an oracle is.

To a property a pair is the new version: what the old one is for, only the properties that compare
both know. Cases for these are fitted to what both versions declare.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .capabilities import NAMES, PLACES, Capabilities
from .implementation import Implementation
from .loading import LoadError, SpecError
from .started import Batch, Session

CONVENTIONS = ("layout", "dtype")
LIMITS = ("positions", "max_position", "min_width", "width_multiple", "min_window")


class Pair:
    """A new version, which is called like any implementation, and the `old` one beside it.

    `exact` asks for equal bits instead of equality within the rounding bound. `spec` is how the
    old version was named: what is copied from a report names it so. SpecError where both do not
    write alike: rows of another layout or precision are not to be compared.
    """

    def __init__(
        self, new: Implementation, old: Implementation, *, exact: bool = False, spec: str = ""
    ) -> None:
        for name in CONVENTIONS:
            now, before = getattr(new.capabilities, name), getattr(old.capabilities, name)
            if now != before:
                raise SpecError(
                    f"{name} is {now!r} in the new version and {before!r} in the old one: "
                    f"versions are compared where they declare the same {name}, so wrap one of "
                    f"them in a file that declares and does what the other does"
                )
        self.new = new
        self.old = old
        self.exact = exact
        self.spec = spec
        self.common = common(new.capabilities, old.capabilities)

    @property
    def name(self) -> str:
        """What the new version is called."""
        return self.new.name

    @property
    def isolation(self) -> str:
        """Where the new version runs."""
        return self.new.isolation

    @property
    def capabilities(self) -> Capabilities:
        """What the new version declares."""
        return self.new.capabilities

    def rope_freqs(self, d: int, *base: float, **named: Any) -> Any:
        """Call rope_freqs of the new version, as all that follows."""
        return self.new.rope_freqs(d, *base, **named)

    def apply_rope(self, x: Any, *arguments: Any, **named: Any) -> Any:
        """Call apply_rope."""
        return self.new.apply_rope(x, *arguments, **named)

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental."""
        return self.new.decode_incremental(decoder, x_embedded)

    def convert_layout(self, x: Any, source: str, target: str) -> Any:
        """Call convert_layout."""
        return self.new.convert_layout(x, source, target)

    def path(self, name: str, decoder: Any, x_embedded: Any) -> Any:
        """Call another path."""
        return self.new.path(name, decoder, x_embedded)

    def start(self, decoder: Any, **named: Any) -> Session:
        """Start a session."""
        return self.new.start(decoder, **named)

    def start_batch(self, decoder: Any, size: int, **named: Any) -> Batch:
        """Start a batch."""
        return self.new.start_batch(decoder, size, **named)

    def fresh(self) -> Pair:
        """Return both versions with no memory of earlier calls."""
        return self._with(self.new.fresh(), self.old.fresh())

    def with_replaced(self, name: str, function: Callable[..., Any]) -> Pair:
        """Return both, fresh; in the new one the others call `function` by that name."""
        return self._with(self.new.with_replaced(name, function), self.old.fresh())

    @contextlib.contextmanager
    def restarted(self, seed: int = 0) -> Iterator[Pair]:
        """Give both versions in processes that have run nothing yet, where they have their own."""
        with self.new.restarted(seed) as new, self.old.restarted(seed) as old:
            yield self._with(new, old)

    def close(self) -> None:
        """End what was started to run either."""
        try:
            self.new.close()
        finally:
            self.old.close()

    def unshared(self, needs: tuple[str, ...]) -> str:
        """Return why what is needed cannot be compared, in words; "" where it can.

        Beyond a limit both must refuse only where both declare the same one.
        """
        if words := self.new.capabilities.lacks(needs):
            return words
        if words := self.old.capabilities.lacks(needs):
            return f"in the old version: {words}"
        for name in LIMITS:
            now, before = (getattr(one.capabilities, name) for one in (self.new, self.old))
            if now != before and any(need.startswith(name) for need in needs):
                return f"{name} is {now!r}, and {before!r} in the old version"
        return self.common.lacks(needs)

    def _with(self, new: Implementation, old: Implementation) -> Pair:
        return Pair(new, old, exact=self.exact, spec=self.spec)


def common(one: Capabilities, other: Capabilities) -> Capabilities:
    """Return what two versions that write alike both declare: common parts, the nearer limits."""
    both = {name: _common(name, getattr(one, name), getattr(other, name)) for name in NAMES}
    if not (both["sessions"] or both["batch"]):
        # What these follow goes with them, or declaring it would declare them.
        both |= dict.fromkeys(("heads", "window", "sinks"), False)
    if not both["window"]:
        both["min_window"] = None
    return Capabilities(**both)


def _common(name: str, one: Any, other: Any) -> Any:
    if isinstance(one, bool):
        return one and other
    if isinstance(one, tuple):
        return tuple(value for value in one if value in other)
    if name == "positions":
        return PLACES[max(PLACES.index(one), PLACES.index(other))]
    if one is None or other is None or one == other:
        return other if one is None else one
    if name == "width_multiple":
        return math.lcm(one, other)
    return (min if name == "max_position" else max)(one, other)


def named(target: Any) -> str:
    """Return how an old version was named, or what it is called where it was not."""
    if isinstance(target, str | Path):
        return str(target)
    return str(getattr(target, "__name__", type(target).__name__))


def paired_with(
    impl: Implementation, old: Callable[[], Implementation], *, exact: bool, spec: str
) -> Pair:
    """Return an implementation with its old version, which `old` opens.

    SpecError where that cannot be loaded, or writes otherwise; what was opened is closed then.
    """
    opened = [impl]
    try:
        opened.append(old())
        return Pair(impl, opened[1], exact=exact, spec=spec)
    except LoadError as error:
        impl.close()
        raise SpecError(f"the old version cannot be compared with: {error}") from None
    except BaseException:
        for one in opened:
            one.close()
        raise
