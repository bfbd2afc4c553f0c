"""Whoever declares a part and ignores it breaks a property that is about it."""

import copy
import functools
import re
import types

import numpy as np
import pytest

import rope_kv
from rope_kv.testing.capabilities import DEFAULTS, NAMES
from rope_kv.testing.forms import dtype_of
from rope_kv.testing.implementation import PARTS
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import search

# One breach is enough; it need not be a small one.
PROFILE = PROFILES["grade"]._replace(attempts=0)
RULES = ("linear", "ntk", "dynamic", "yarn", "llama3", "longrope")


class Told:
    """A decoder of which something else is said."""

    def __init__(self, decoder, **said):
        self._decoder = decoder
        self.__dict__.update(said)

    def __getattr__(self, name):
        return getattr(self._decoder, name)


class Session:
    """A session of the reference, in the hands of an heir who changes a method of it."""

    def __init__(self, decoder, **named):
        self.decoder, self.named = decoder, named
        self.inner = rope_kv.start(decoder, **named)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def fork(self):
        branch = copy.copy(self)
        branch.inner = self.inner.fork()
        return branch


class Forgetful(Session):
    def feed(self, rows):
        return rope_kv.start(self.decoder).feed(rows)


class WithoutChunks(Session):
    def feed(self, rows):
        alone = [self.inner.fork().feed(rows[t : t + 1]) for t in range(len(rows))]
        whole = self.inner.feed(rows)
        return np.concatenate([whole[:0], *alone])


class WithoutCrop(Session):
    def crop(self, length):
        pass


class WithoutFork(Session):
    def fork(self):
        return self


class WithoutReset(Session):
    def reset(self):
        pass


class WithoutLength(Session):
    length = 0


class WithoutCapacity(Session):
    def __init__(self, decoder, capacity=None):
        super().__init__(decoder)


class ReadsUnused(Session):
    """Gives what holds no token a weight of zero, and reads it."""

    unused = 0.0

    def fill_unused(self, value):
        self.unused = value

    def feed(self, rows):
        return self.inner.feed(rows) + 0.0 * self.unused


def told(**said):
    """Return `start` and `start_batch` of the reference, to which something else is said."""
    return {
        "start": lambda decoder, **named: rope_kv.start(Told(decoder, **said), **named),
        "start_batch": lambda decoder, size, **named: rope_kv.start_batch(
            Told(decoder, **said), size, **named
        ),
    }


def one_group(decoder):
    """Return a decoder all of whose heads use the first key and value."""

    def first(project, rows):
        projected = project(rows)
        return np.tile(projected[..., : decoder.head_dim], decoder.kv_heads)

    return Told(
        decoder,
        project_k=functools.partial(first, decoder.project_k),
        project_v=functools.partial(first, decoder.project_v),
    )


class Batch:
    """Sessions side by side, in the hands of an heir who changes a method."""

    def __init__(self, decoder, size, side="left", extra=0, fill=0.0):
        self.sessions = [rope_kv.start(decoder) for _ in range(size)]
        self.side, self.extra, self.fill = side, extra, fill

    def feed(self, rows):
        return [session.feed(x) for session, x in zip(self.sessions, rows, strict=True)]

    def reorder(self, indices):
        self.sessions = [self.sessions[index].fork() for index in indices]

    def select(self, indices):
        self.reorder(indices)


class OneForAll(Batch):
    def feed(self, rows):
        return [self.sessions[0].feed(x) for x in rows]


class PadsAreTokens(Batch):
    def feed(self, rows):
        longest = max(map(len, rows)) + self.extra
        fed = []
        for session, x in zip(self.sessions, rows, strict=True):
            pads = np.full((longest - len(x), x.shape[1]), self.fill)
            both = [pads, x] if self.side == "left" else [x, pads]
            outputs = session.feed(np.concatenate(both))
            fed.append(outputs[len(pads) :] if self.side == "left" else outputs[: len(x)])
        return fed


class WithoutReorder(Batch):
    def reorder(self, indices):
        pass


class WithoutSelect(Batch):
    def select(self, indices):
        self.sessions = self.sessions[: len(indices)]


def of_angles(dtype, angles):
    """Return apply_rope of rows in one precision, by angles in another."""
    dtype, angles = dtype_of(dtype), dtype_of(angles)

    def apply_rope(x, positions, base=10000):
        theta = rope_kv.rope_freqs(x.shape[1], base).astype(angles)
        turns = (np.asarray(positions)[:, np.newaxis].astype(angles) * theta).astype(np.float64)
        x, turned = np.asarray(x, dtype=np.float64), np.empty(x.shape)
        turned[:, 0::2] = x[:, 0::2] * np.cos(turns) - x[:, 1::2] * np.sin(turns)
        turned[:, 1::2] = x[:, 0::2] * np.sin(turns) + x[:, 1::2] * np.cos(turns)
        return turned.astype(dtype)

    return {"apply_rope": apply_rope}


def unscaled(rule):
    """Return the reference, to which a scaling by one rule is none."""

    def heard(scaling):
        return None if scaling and scaling["rule"] == rule else scaling

    def rope_freqs(d, base=10000, scaling=None):
        return rope_kv.rope_freqs(d, base, scaling=heard(scaling))

    def apply_rope(x, positions, base=10000, *, rotary_dim=None, scaling=None):
        return rope_kv.apply_rope(
            x, positions, base, rotary_dim=rotary_dim, scaling=heard(scaling)
        )

    def start(decoder, **named):
        return rope_kv.start(Told(decoder, scaling=heard(decoder.scaling)), **named)

    return {"rope_freqs": rope_freqs, "apply_rope": apply_rope, "start": start}


def without_narrow_windows(decoder, **named):
    is_narrow = decoder.window and decoder.window < 3
    return rope_kv.start(Told(decoder, window=None, sinks=0) if is_narrow else decoder, **named)


def without_rotary_dim(x, positions, base=10000, *, rotary_dim=None, scaling=None):
    return rope_kv.apply_rope(x, positions, base, scaling=scaling)


# What each implementation has in place of the reference's own; a convention or a limit is ignored
# by the reference itself.
IGNORING = {
    "layout=half": {},
    "layout=interleaved to half": {},
    "dtype=float32": of_angles("float32", "float16"),
    "dtype=float16": of_angles("float16", "float16"),
    "dtype=bfloat16": of_angles("bfloat16", "bfloat16"),
    "positions=not negative": {},
    "positions=consecutive": {},
    "positions=from zero": {},
    "max_position=64": {},
    "min_width=8": {},
    "min_window=3": {"start": without_narrow_windows},
    "width_multiple=8": {},
    "rotary_dim": {"apply_rope": without_rotary_dim, **told(rotary_dim=None)},
    **{f"scaling={rule}": unscaled(rule) for rule in RULES},
    "convert_layout": {"convert_layout": lambda x, source, target: np.array(x)},
    "sessions": {"start": Forgetful},
    "chunks": {"start": WithoutChunks},
    "crop": {"start": WithoutCrop},
    "fork": {"start": WithoutFork},
    "reset": {"start": WithoutReset},
    "length": {"start": WithoutLength},
    "capacity": {"start": WithoutCapacity},
    "fill_unused": {"start": ReadsUnused},
    "heads": {"start": lambda decoder, **named: rope_kv.start(one_group(decoder), **named)},
    "window": told(window=None, sinks=0),
    "sinks": told(sinks=0),
    "batch": {"start_batch": OneForAll},
    "padding": {"start_batch": PadsAreTokens},
    "reorder": {"start_batch": WithoutReorder},
    "select": {"start_batch": WithoutSelect},
    "paths=zeros": {"zeros": lambda decoder, x: np.zeros(x.shape)},
}
PARTS_OF_THE_EXERCISE = ("rope_freqs", "apply_rope", "decode_incremental")


def declared_by(what):
    """Return what is declared: a convention or a limit alone, or a part beside all others."""
    name, _, value = what.partition("=")
    if isinstance(DEFAULTS[name], str) or DEFAULTS[name] is None:
        return {name: int(value) if value.isdigit() else value, "decode_incremental": False}
    return {**rope_kv.capabilities, name: [value] if value else True}


def about(what, declared):
    """Return the properties that are checked because of what is declared."""
    name, *_ = what.partition("=")
    needs = {name, what} if name in ("scaling", "paths") else {name}
    return [
        prop
        for prop in all_properties()
        if not prop.lacking(declared)
        and (
            PARTS[prop.function] == name
            or any(
                need in needs or re.split("[!<=]", need)[0] in needs - {"scaling"}
                for need in prop.needs
            )
        )
    ]


@pytest.mark.parametrize("what", IGNORING)
def test_what_is_declared_and_ignored_is_found_to_be(what):
    named = {name: getattr(rope_kv, name) for name in rope_kv.__all__}
    code = types.SimpleNamespace(**{**named, **IGNORING[what]}, capabilities=declared_by(what))
    impl = load(code)
    properties = about(what, impl.capabilities)
    assert properties
    outcomes = {
        prop.name: search(prop, impl, PROFILE, excusing=False).outcome for prop in properties
    }
    assert "error" not in outcomes.values()
    assert "broken" in outcomes.values(), outcomes


def test_every_capability_is_ignored_by_someone():
    assert {what.partition("=")[0] for what in IGNORING} == set(NAMES) - {*PARTS_OF_THE_EXERCISE}
