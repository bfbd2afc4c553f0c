"""Cases of the library contract: decoders of every kind, programs of sessions and batches.

A program is a list of steps, plain data like any other case, and prints as Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..decoder import Decoder
from .cases import Matrix, RotationCase, Row, number, rows_text

FIRST_NAME = ord("a")
# What unused slots and pads may hold.
FILLS = (float("nan"), 1e9, float("inf"), 0.0, -1.0)


class Scaling(NamedTuple):
    """A scaling rule and its numbers; "" is none. `length` counts where a rule goes by it."""

    rule: str = ""
    factor: float = 1.0
    original_max_position: int = 0
    numbers: tuple[float, ...] = ()
    length: int = 0

    def mapping(self) -> dict[str, Any] | None:
        """Return the scaling as functions are given it."""
        if not self.rule:
            return None
        said: dict[str, Any] = {"rule": self.rule, "factor": self.factor}
        if self.original_max_position:
            said["original_max_position"] = self.original_max_position
        if self.rule == "longrope":
            half = len(self.numbers) // 2
            said["short_factor"] = list(self.numbers[:half])
            said["long_factor"] = list(self.numbers[half:])
        else:
            said |= dict(zip(_NUMBERS.get(self.rule, ()), self.numbers, strict=False))
        if self.length:
            said["length"] = self.length
        return said


_NUMBERS = {
    "yarn": ("beta_fast", "beta_slow", "attention_factor"),
    "llama3": ("low_freq_factor", "high_freq_factor"),
}


class Setup(NamedTuple):
    """What a decoder is made with; 0 stands for what is not said."""

    width: int
    base: float = 10000
    seed: int = 0
    heads: int = 1
    kv_heads: int = 1
    head_dim: int = 0
    rotary_dim: int = 0
    window: int = 0
    sinks: int = 0
    scaling: Scaling = Scaling()

    def decoder(self) -> Decoder:
        """Return a new decoder."""
        return Decoder(
            self.width,
            self.base,
            self.seed,
            heads=self.heads,
            kv_heads=self.kv_heads,
            head_dim=self.head_dim or None,
            rotary_dim=self.rotary_dim or None,
            scaling=self.scaling.mapping(),
            window=self.window or None,
            sinks=self.sinks,
        )

    def __str__(self) -> str:
        return repr(self.decoder())


class ScaledFrequencyCase(NamedTuple):
    """One call of rope_freqs with a scaling."""

    d: int
    base: float
    scaling: Scaling

    def __str__(self) -> str:
        base = "" if self.base == 10000 else f", base={number(self.base)}"
        return f"rope_freqs({self.d}{base}, scaling={self.scaling.mapping()})"


class PartialRotationCase(NamedTuple):
    """One call of apply_rope with a rotary_dim (0 for the whole row) and a scaling."""

    x: Matrix
    positions: tuple[int, ...]
    base: float
    rotary_dim: int
    scaling: Scaling

    def __str__(self) -> str:
        plain = str(RotationCase(*self[:3]))[:-1]
        turned = f", rotary_dim={self.rotary_dim}" if self.rotary_dim else ""
        scaled = f", scaling={self.scaling.mapping()}" if self.scaling.rule else ""
        return f"{plain}{turned}{scaled})"

    def named(self) -> dict[str, Any]:
        """Return what the call is given by name: only what says anything."""
        said = {"rotary_dim": self.rotary_dim or None, "scaling": self.scaling.mapping()}
        return {name: value for name, value in said.items() if value is not None}


class LimitCase(NamedTuple):
    """One call of apply_rope beyond a limit: "max_position", "min_width", "width_multiple"...

    Of "positions" it is what they may not be: "negative", "apart" or "later".
    """

    x: Matrix
    positions: tuple[int, ...]
    base: float
    limit: str

    def __str__(self) -> str:
        return str(RotationCase(*self[:3]))


class WidthCase(NamedTuple):
    """One call of apply_rope with a rotary_dim that does not fit."""

    x: Matrix
    positions: tuple[int, ...]
    rotary_dim: int

    def __str__(self) -> str:
        plain = str(RotationCase(self.x, self.positions, 10000))[:-1]
        return f"{plain}, rotary_dim={self.rotary_dim})"


class LongerCase(NamedTuple):
    """Rows to decode, more of them than there are positions."""

    x: Matrix
    base: float
    more: int

    def __str__(self) -> str:
        return f"decode_incremental({Setup(len(self.x[0]), self.base)}, {rows_text(self.x)})"


class LayoutCase(NamedTuple):
    """One call of convert_layout."""

    x: Matrix
    positions: tuple[int, ...]
    source: str
    target: str

    def __str__(self) -> str:
        return f"convert_layout({rows_text(self.x)}, {self.source!r}, {self.target!r})"


class SetupDecodeCase(NamedTuple):
    """One call of decode_incremental with a decoder of any kind."""

    x: Matrix
    setup: Setup

    def __str__(self) -> str:
        return f"decode_incremental({self.setup}, {rows_text(self.x)})"


class NarrowWindowCase(NamedTuple):
    """Rows to feed one by one, under a window that is narrower than is declared."""

    x: Matrix
    setup: Setup

    def __str__(self) -> str:
        return str(SetupDecodeCase(self.x, self.setup))


class WindowEditCase(NamedTuple):
    """One sequence under a window, and the same with row `at` replaced."""

    x: Matrix
    setup: Setup
    at: int
    row: Row

    def __str__(self) -> str:
        return f"{self.decodes()[0]}, then row {self.at} replaced by {list(self.row)}"

    def decodes(self) -> tuple[SetupDecodeCase, SetupDecodeCase]:
        """Return the two decodes."""
        edited = (*self.x[: self.at], self.row, *self.x[self.at + 1 :])
        return SetupDecodeCase(self.x, self.setup), SetupDecodeCase(edited, self.setup)


class ScaledFrequencyCallsCase(NamedTuple):
    """Calls of rope_freqs that differ in their scaling, one after the other."""

    first: ScaledFrequencyCase
    others: tuple[ScaledFrequencyCase, ...]

    def __str__(self) -> str:
        return ", then ".join(map(str, (self.first, *self.others)))


class ScaledCallsCase(NamedTuple):
    """Calls of apply_rope by one scaling rule at several lengths, one after the other."""

    first: PartialRotationCase
    others: tuple[PartialRotationCase, ...]

    def __str__(self) -> str:
        return ", then ".join(map(str, (self.first, *self.others)))


class Step(NamedTuple):
    """One step of a program.

    `op` is "start", "feed", "crop", "fork", "reset" or "fill_unused"; `session` is the number of
    the one that it is done to; `number` is a length, an entry of FILLS, or the capacity of what
    starts, 0 for none; `rows` are fed.
    """

    op: str
    session: int = 0
    number: int = 0
    rows: Matrix = ()


class ProgramCase(NamedTuple):
    """Sessions of one decoder, and what is done to them in turn; session 0 is there at first."""

    setup: Setup
    steps: tuple[Step, ...]
    capacity: int = 0

    def __str__(self) -> str:
        count, said = 1, [f"a = start({self.setup}{_capacity(self.capacity)})"]
        for step in self.steps:
            name, new = session_name(step.session), session_name(count)
            if step.op in ("start", "fork"):
                count += 1
                made = f"start({'the same decoder' + _capacity(step.number)})"
                said.append(f"{new} = {made if step.op == 'start' else name + '.fork()'}")
            else:
                said.append(f"{name}.{step.op}({_argument(step)})")
        return "; ".join(said)


class FormedProgramCase(NamedTuple):
    """A program whose rows are stored in another way than usual: one of forms.ROWS."""

    program: ProgramCase
    form: str

    def __str__(self) -> str:
        return f"{self.program}   with {self.form}"


class TwoProgramsCase(NamedTuple):
    """Two programs, each with a decoder of its own, that are done a step in turn."""

    first: ProgramCase
    second: ProgramCase

    def __str__(self) -> str:
        return f"{self.first}, in turn with {self.second}"


class BatchStep(NamedTuple):
    """One step of a batch: "feed" rows, ragged; "reorder" or "select" indices."""

    op: str
    rows: tuple[Matrix, ...] = ()
    indices: tuple[int, ...] = ()


class BatchCase(NamedTuple):
    """A batch and what is done to it; padded on a `side`, "" for as its library does."""

    setup: Setup
    size: int
    steps: tuple[BatchStep, ...]
    side: str = ""
    extra: int = 0
    fill: int = 0

    def __str__(self) -> str:
        padded = "".join(f", {name}={value!r}" for name, value in self.padding().items())
        said = [f"b = start_batch({self.setup}, {self.size}{padded})"]
        for step in self.steps:
            given = (
                "[" + ", ".join(map(rows_text, step.rows)) + "]"
                if step.op == "feed"
                else list(step.indices)
            )
            said.append(f"b.{step.op}({given})")
        return "; ".join(said)

    def padding(self) -> dict[str, Any]:
        """Return what start_batch is given by name."""
        if not self.side:
            return {}
        return {"side": self.side, "extra": self.extra, "fill": FILLS[self.fill]}


def longest(steps: Iterable[Step]) -> int:
    """Return the most tokens that a session of a program holds at once."""
    lengths, most = [0], 0
    for step in steps:
        if step.op in ("start", "fork"):
            lengths.append(lengths[step.session] if step.op == "fork" else 0)
            continue
        kept = {"crop": step.number, "reset": 0}.get(step.op, lengths[step.session])
        lengths[step.session] = kept + len(step.rows)
        most = max(most, lengths[step.session])
    return most


def session_name(index: int) -> str:
    """Return what a session is called in a printed program."""
    return chr(FIRST_NAME + index) if index < 26 else f"session{index}"


def _capacity(capacity: int) -> str:
    return f", capacity={capacity}" if capacity else ""


def _argument(step: Step) -> str:
    if step.op == "feed":
        return rows_text(step.rows)
    if step.op == "crop":
        return str(step.number)
    return str(FILLS[step.number]) if step.op == "fill_unused" else ""
