"""The calls of the contract, each with what is due, and what of it is wrong.

They share nothing with the properties but the oracle and the rounding bounds.
"""

import signal
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rope_kv import oracle
from rope_kv.testing import bounds

CALL_SECONDS = 2.0  # as in a check
PROJECTIONS = ("project_q", "project_k", "project_v")
BASES = (10000, 10000, 10000, 500, 100, 500000)
NO_BASE = None  # the base is left out, and is 10000


class WrongError(Exception):
    """The contract is broken; the message says what, and by which call."""


class TooLongError(BaseException):
    """A call has not returned in time."""


@dataclass(eq=False)
class Frequencies:
    """A call of rope_freqs."""

    d: int
    base: Any = NO_BASE

    def __str__(self):
        return f"rope_freqs({self.d}{_base(self.base)})"

    @cached_property
    def due(self):
        """The right answer, and how far from it rounding may be."""
        base = float(10000 if self.base is NO_BASE else self.base)
        return oracle.frequencies(self.d, base), bounds.frequencies(self.d, base)

    def result(self, code):
        """Make the call and return what it returned, or raise WrongError."""
        named = {} if self.base is NO_BASE else {"base": self.base}
        return called(code.rope_freqs, self.d, **named)


@dataclass(eq=False)
class Rotation:
    """A call of apply_rope, with rows and positions in the form they are handed over in."""

    x: Any
    positions: Any
    base: Any = NO_BASE

    def __str__(self):
        places = np.asarray(self.positions)
        kind = "list" if isinstance(self.positions, list) else _array(self.positions)
        few = places.tolist() if places.size <= 8 else f"{places[:6].tolist()}…"
        return f"apply_rope({_array(self.x)}, {kind} {few}{_base(self.base)})"

    @cached_property
    def due(self):
        """The right answer, and how far from it rounding may be."""
        x, places = np.array(self.x, dtype=np.float64), np.array(self.positions, dtype=np.int64)
        base = float(10000 if self.base is NO_BASE else self.base)
        within = bounds.rotation(x, places, base) if len(x) else np.empty(x.shape)
        return oracle.rotate(x, places, base), within

    def result(self, code):
        """Make the call and return what it returned, or raise WrongError."""
        before = _state(self.x), _state(self.positions)
        if self.base is NO_BASE:
            result = called(code.apply_rope, self.x, self.positions)
        elif self.base == BASES[-1]:
            result = called(code.apply_rope, self.x, positions=self.positions, base=self.base)
        else:
            result = called(code.apply_rope, self.x, self.positions, self.base)
        if before != (_state(self.x), _state(self.positions)):
            raise WrongError("an argument was changed")
        if np.shares_memory(result, self.x):
            raise WrongError("the result shares memory with x")
        return result


@dataclass(eq=False)
class Decode:
    """A call of decode_incremental, with rows in the form they are handed over in."""

    x: Any
    recorder: Any

    def __str__(self):
        return f"decode_incremental({self.recorder.decoder!r}, {_array(self.x)})"

    @cached_property
    def due(self):
        """The right answer, and how far from it rounding may be."""
        x = np.array(self.x, dtype=np.float64)
        if not len(x):
            return x, x
        decoder = self.recorder.decoder
        return oracle.forward(x, decoder), bounds.decoding(x, decoder)

    def result(self, code):
        """Make the call and return what it returned, or raise WrongError."""
        before = _state(self.x)
        self.recorder.given.clear()
        result = called(code.decode_incremental, self.recorder, self.x)
        if before != _state(self.x) or self.recorder.changed():
            raise WrongError("x_embedded or the decoder was changed")
        if np.shares_memory(result, self.x):
            raise WrongError("the result shares memory with x_embedded")
        self.recorder.expect_each_row_once(np.array(self.x, dtype=np.float64))
        return result


def _state(argument):
    """Return what must be the same of an argument before and after a call."""
    if isinstance(argument, list):
        return list(argument)
    return argument.tobytes(), argument.shape, argument.dtype, argument.flags.writeable


class Recorder:
    """A decoder that keeps the rows it is asked to project, and answers no others."""

    def __init__(self, decoder):
        self.decoder, self.width, self.base = decoder, decoder.width, decoder.base
        self.given = []
        self._attributes = {**vars(self)}

    def __getattr__(self, name):
        if name not in (*PROJECTIONS, "project_out"):
            raise AttributeError(f"the decoder is not to be asked for {name}")

        def project(rows):
            self.given.append((name, np.array(rows)))
            return getattr(self.decoder, name)(rows)

        return project

    def changed(self):
        """Return whether an attribute is another than it was."""
        return vars(self) != {**self._attributes, "_attributes": self._attributes}

    def expect_each_row_once(self, x):
        """Raise WrongError unless each row was projected once, alone and in order."""
        for name in PROJECTIONS:
            rows = [rows for asked, rows in self.given if asked == name]
            if [part.shape for part in rows] != [(1, x.shape[1])] * len(x) or (
                rows and not np.array_equal(np.concatenate(rows), x)
            ):
                raise WrongError(f"{name} was not given each row once, alone and in order")
        out = [rows for asked, rows in self.given if asked == "project_out"]
        if sum(map(len, out)) != len(x):
            raise WrongError(f"project_out was given {sum(map(len, out))} rows for {len(x)}")


def called(function, *arguments, **named):
    """Return what a call returns, an array of float64; WrongError for anything else."""
    try:
        with in_time(), np.errstate(all="ignore"):
            result = function(*arguments, **named)
    except (Exception, TooLongError, SystemExit) as error:
        raise WrongError(f"raised {type(error).__name__}: {error}") from None
    if type(result) is not np.ndarray or result.dtype != np.float64:
        raise WrongError(f"returned {type(result).__name__} {getattr(result, 'dtype', '')}")
    return result


@contextmanager
def in_time():
    """Raise TooLongError in the block once it has used CALL_SECONDS of a processor."""

    def over(number, frame):
        raise TooLongError(f"{CALL_SECONDS:g} s are over")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def expect_near(result, expected, within):
    """Raise WrongError where a result has another shape, or is further off than rounding is."""
    if result.shape != expected.shape:
        raise WrongError(f"returned the shape {result.shape}, not {expected.shape}")
    off = np.abs(result - expected)
    if not np.all(off <= within):
        at = np.unravel_index(np.argmax(np.where(off <= within, 0, 1)), off.shape)
        where = [int(place) for place in at]
        raise WrongError(f"{where} is {result[at]:.6g}, not {expected[at]:.6g}")


def _base(base):
    return "" if base is NO_BASE else f", base={base!r}"


def _array(x):
    x = np.asarray(x)
    stored = "" if x.flags.c_contiguous and x.flags.writeable else " stored otherwise"
    shown = f" {np.round(x, 3).tolist()}" if x.size <= 8 else ""
    return f"{x.dtype} {x.shape}{stored}{shown}"
