"""What an implementation declares beyond the exercise: conventions, limits and parts.

A convention changes what is right, a limit what is drawn and how exact an answer must be, a part
which properties apply. What is not declared is not checked, and never counts as passed.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from .plain import one_line

Layout: TypeAlias = Literal["interleaved", "half", "interleaved to half"]
Precision: TypeAlias = Literal["float64", "float32", "float16", "bfloat16"]
Places: TypeAlias = Literal["any", "not negative", "consecutive", "from zero"]
Rule: TypeAlias = Literal["linear", "ntk", "dynamic", "yarn", "llama3", "longrope"]
PLACES: tuple[str, ...] = get_args(Places)
_LIMITS = ("max_position", "min_width", "width_multiple", "min_window")
# What cannot be had without something else; what rests on most comes first.
_RESTS_ON = {
    "fill_unused": "capacity", "sinks": "window", "min_window": "window",
    "chunks": "sessions", "crop": "sessions", "fork": "sessions", "reset": "sessions",
    "length": "sessions", "capacity": "sessions",
    "padding": "batch", "reorder": "batch", "select": "batch",
}  # fmt: skip


class CapabilityError(ValueError):
    """What an implementation declares cannot be understood; the message is one sentence."""


@dataclass(frozen=True)
class Capabilities:
    """What an implementation declares.

    Conventions
    -----------
    layout : which entries of a row form pair i of d/2
        "interleaved": 2i and 2i+1. "half": i and i + d/2. "interleaved to half": `apply_rope`
        takes 2i and 2i+1, and returns them at i and i + d/2.

    Limits
    ------
    dtype : "float64", "float32", "float16" or "bfloat16"
        What rows are given in and answers are due in. Angles are due in float32 at least.
    positions : "any", "not negative", "consecutive" or "from zero"
        Which positions `apply_rope` takes: any integers, none below 0, a run p, p + 1, ...
        from any p of these, or 0 to T - 1 alone. Others must be refused.
    max_position : int, optional
        All positions are below this one; that and later ones must be refused.
    min_width, width_multiple : even int, optional
        Rows narrower than this, or not a multiple of this wide, must be refused. No decoder,
        head or rotary_dim has such a width.
    min_window : int, optional
        No window is narrower. One that is must be refused, or be answered rightly all the same.

    Parts of the exercise, there unless False is declared
    ------------------------------------------------------
    rope_freqs, apply_rope, decode_incremental
        Where there is no function decode_incremental, a session is fed row by row in its place.

    Parts
    -----
    rotary_dim : `apply_rope(..., rotary_dim=r)` turns the first r entries alone, and refuses an
        r that is odd or too large; sessions and batches follow `decoder.rotary_dim`
    scaling : names of rules of `rope_kv.scaling`; `rope_freqs(..., scaling={"rule": ...})`,
        `apply_rope` alike, and sessions and batches follow `decoder.scaling`: by a rule that goes
        by the length, token t and all that it sees are turned as t + 1 tokens are
    convert_layout : `convert_layout(x, source, target)` reorders the entries of rows
    sessions : `start(decoder)` returns a session, `session.feed(row)` the output (1, D) of the
        next token, a row (1, D); it projects each row once, by the methods of the decoder, and
        leaves rows, outputs and decoder to their owners
    chunks : `feed` takes any number of rows at once, or none
    crop : `session.crop(n)` forgets all tokens but the first n, and refuses an n that is not from
        0 to the number of tokens seen; under a window of W it may refuse any n once it has seen W
        tokens; a refusal changes nothing
    fork : `session.fork()` returns an independent copy
    reset : `session.reset()` forgets everything
    length : `session.length` is the number of tokens seen, however few are kept
    capacity : `start(decoder, capacity=C)` has room for C tokens, and refuses more
    fill_unused : `session.fill_unused(value)` writes any float, nan and inf among them, into all
        slots that hold no token, and that changes nothing
    heads : sessions and batches follow `decoder.heads, kv_heads, head_dim`
    window : sessions and batches follow `decoder.window` = W: token t sees t-W+1 to t
    sinks : sessions and batches follow `decoder.sinks`: token t sees so many first tokens
        besides, each turned by its own position
    batch : `start_batch(decoder, size)`; `batch.feed(list of (n_b, D))`, ragged, n_b from 0 up,
        returns a list alike
    padding : `start_batch(..., side="left" or "right", extra=n, fill=value)` pads rows on that
        side, to the longest and n more, with any float, nan and inf among them
    reorder : `batch.reorder(indices)`: row b goes on from history indices[b], repeats allowed
    select : `batch.select(indices)`: the rows that go on, perhaps fewer
    paths : names of functions f(decoder, x) that must give what decoding row by row gives
    """

    layout: Layout = "interleaved"
    dtype: Precision = "float64"
    positions: Places = "any"
    max_position: int | None = None
    min_width: int | None = None
    width_multiple: int | None = None
    min_window: int | None = None
    rope_freqs: bool = True
    apply_rope: bool = True
    decode_incremental: bool = True
    rotary_dim: bool = False
    scaling: tuple[Rule, ...] = ()
    convert_layout: bool = False
    sessions: bool = False
    chunks: bool = False
    crop: bool = False
    fork: bool = False
    reset: bool = False
    length: bool = False
    capacity: bool = False
    fill_unused: bool = False
    heads: bool = False
    window: bool = False
    sinks: bool = False
    batch: bool = False
    padding: bool = False
    reorder: bool = False
    select: bool = False
    paths: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, hint in _HINTS.items():
            object.__setattr__(self, name, _checked(name, hint, getattr(self, name)))
        for name, below in _RESTS_ON.items():
            if getattr(self, name):
                object.__setattr__(self, below, True)
        if (self.heads or self.window) and not self.batch:
            object.__setattr__(self, "sessions", True)

    @classmethod
    def of(cls, declared: Any) -> Capabilities:
        """Return what is declared by a mapping, or by capabilities as they are.

        CapabilityError where something in it is not known, or has no such value.
        """
        if isinstance(declared, Capabilities):
            return declared
        if not isinstance(declared, Mapping):
            raise CapabilityError(
                f"capabilities must be a dict or Capabilities, found {type(declared).__name__}"
            )
        for name in declared:
            if name not in NAMES:
                near = difflib.get_close_matches(str(name)[:80], NAMES, 1, 0.0)[0]
                raise CapabilityError(
                    f"there is no capability {one_line(str(name)[:80])!r}: did you mean {near!r}?"
                )
        return cls(**declared)

    @property
    def is_plain(self) -> bool:
        """Whether the exercise's own cases are right for it as they are."""
        names = ("layout", "dtype", "positions", "max_position")
        return all(getattr(self, name) == DEFAULTS[name] for name in names) and not any(
            width is not None and width > 2 for width in (self.min_width, self.width_multiple)
        )

    def writes_like(self, other: Capabilities) -> bool:
        """Return whether the numbers of a row mean the same as by other capabilities."""
        return (self.layout, self.dtype) == (other.layout, other.dtype)

    def is_concerned(self, needs: tuple[str, ...]) -> bool:
        """Return whether a property of these needs has anything to say of what is declared.

        One about a limit that is not there, or another convention, has not; nothing that could
        be declared besides would change that.
        """
        return not any(
            self._lacks(need)
            for need in needs
            if "!=" in need or "<=" in need or need in _LIMITS or need.startswith("layout=")
        )

    def lacks(self, needs: tuple[str, ...]) -> str:
        """Return what must be declared for all of `needs` to be met, in words; "" for nothing.

        A need is the name of a part or limit that must be declared, or "name=value",
        "name!=value" or "name<=number": for positions, that these at least are taken; for
        scaling, a rule that is known.
        """
        return next((words for need in needs if (words := self._lacks(need))), "")

    def _lacks(self, need: str) -> str:
        if "<=" in need:
            name, _, value = need.partition("<=")
            most = getattr(self, name)
            return "" if most is not None and most <= int(value) else f"{name} is {most}"
        if "!=" in need:
            name, _, value = need.partition("!=")
            return f"{name} is {value!r}" if getattr(self, name) == value else ""
        name, _, value = need.partition("=")
        declared = getattr(self, name)
        if not value:
            is_there = declared is True or declared not in (False, DEFAULTS[name])
            return "" if is_there else f"declare {name}"
        if name == "positions":
            enough = PLACES.index(declared) <= PLACES.index(value)
            return "" if enough else f"positions are {declared!r} alone"
        if name == "scaling":
            return "" if value in declared else f"declare {value!r} in scaling"
        return "" if declared == value else f"{name} is {declared!r}"


NAMES = tuple(field.name for field in dataclasses.fields(Capabilities))
DEFAULTS = {field.name: field.default for field in dataclasses.fields(Capabilities)}
MOST_PATHS, LONGEST_PATH = 32, 80
# What is called in another way.
_NO_PATHS = {"rope_freqs", "apply_rope", "convert_layout", "start", "start_batch"}
# Here, not later: a worker forgets the module in which the hints would be looked up.
_HINTS = get_type_hints(Capabilities)


def _checked(name: str, hint: Any, value: Any) -> Any:
    """Return the value of a capability in its own type; CapabilityError where it has none."""
    if hint is bool:
        if not isinstance(value, bool):
            raise CapabilityError(f"capability {name} is True or False, found {value!r:.60}")
    elif get_origin(hint) is Literal:
        return _one_of(name, get_args(hint), value)
    elif get_origin(hint) is tuple:
        if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
            raise CapabilityError(f"capability {name} is a list of names, found {value!r:.60}")
        inner = get_args(hint)[0]
        if get_origin(inner) is Literal:
            return tuple(_one_of(name, get_args(inner), one) for one in value)
        if not all(isinstance(one, str) and one.isidentifier() for one in value):
            raise CapabilityError(f"capability {name} is a list of names, found {value!r:.60}")
        if len(value) > MOST_PATHS or any(len(one) > LONGEST_PATH for one in value):
            raise CapabilityError(
                f"capability {name} is a list of up to {MOST_PATHS} names, each of up to "
                f"{LONGEST_PATH} letters"
            )
        if taken := sorted(_NO_PATHS & {*value}):
            raise CapabilityError(f"capability {name} is of other functions, found {taken[0]!r}")
        return tuple(value)
    elif isinstance(hint, types.UnionType) and value is not None:
        smallest = 2 if "width" in name else 1
        if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
            raise CapabilityError(
                f"capability {name} is an int from {smallest} up, or None, found {value!r:.60}"
            )
        if "width" in name and value % 2:
            raise CapabilityError(f"capability {name} is even, found {value}")
    return value


def _one_of(name: str, allowed: tuple[str, ...], value: Any) -> str:
    if value in allowed:
        return str(value)
    near = difflib.get_close_matches(str(value)[:80], allowed, 1, 0.0)[0]
    raise CapabilityError(
        f"capability {name} knows {', '.join(map(repr, allowed))}; found {value!r:.60}: "
        f"did you mean {near!r}?"
    )


NOTHING_DECLARED = Capabilities()
