"""Calls of the contract, drawn far wider than `check` does, by a generator of their own."""

import numpy as np
from contract_calls import BASES, NO_BASE, Decode, Frequencies, Recorder, Rotation

from rope_kv.decoder import Decoder


def ordinary_calls(chance):
    """Draw calls as anyone would make them."""
    kinds = [(_frequencies, _rotation, _rotation, _decode)[chance.randint(4)]]
    kinds += [(_frequencies, _rotation, _decode)[chance.randint(3)] for _ in range(few(chance))]
    return [kind(chance) for kind in kinds]


def few(chance):
    """Draw how many more calls there are: mostly none."""
    return int(chance.choice([0, 0, 1, 2, 3]))


def _frequencies(chance):
    return Frequencies(_width(chance, 64), chance.choice([NO_BASE, *BASES]))


def _rotation(chance):
    count, width = _count(chance), _width(chance, 16)
    first = chance.randint(-200, 500)
    apart = chance.randint(-999, 1000, size=count)
    places = np.arange(first, first + count) if chance.randint(2) else apart
    return Rotation(
        chance.standard_normal((count, width)),
        places if chance.randint(3) == 0 else places.tolist(),
        chance.choice([NO_BASE, *BASES]),
    )


def _decode(chance):
    count, width = _count(chance), _width(chance, 16)
    seed, base = int(chance.randint(1000)), BASES[chance.randint(len(BASES))]
    return Decode(chance.standard_normal((count, width)), Recorder(Decoder(width, base, seed)))


def _count(chance):
    return int(chance.randint(30, 300) if chance.randint(20) == 0 else chance.randint(1, 10))


def _width(chance, largest):
    return 2 * int(chance.randint(1, largest // 2 + 1))


def legal_calls(chance):
    """Draw calls of all that the contract allows."""
    kinds = (_any_frequencies, _any_rotation, _any_decode)
    count = 12 if chance.randint(10) == 0 else 1 + few(chance)
    calls = [kinds[chance.randint(3)](chance) for _ in range(count)]
    if chance.randint(4) == 0 and isinstance(calls[0], Decode):
        # The same decoder, or the same array, once more.
        again = calls[0].recorder, calls[0].x
        rows = chance.standard_normal((1 + few(chance), again[1].shape[1]))
        calls.append(Decode(rows if chance.randint(2) else again[1], again[0]))
    return calls


def _any_base(chance):
    exotic = (1, 2, 0.5, 1e-3, 1e12, 1e300, np.float64(7.5), np.int64(3))
    if chance.randint(2):
        return exotic[chance.randint(len(exotic))]
    return float(10 ** chance.uniform(-4, 9))


def _any_frequencies(chance):
    return Frequencies(_width(chance, 64 if chance.randint(4) else 1024), _any_base(chance))


def _any_width(chance):
    return _width(chance, 8) if chance.randint(6) else _width(chance, 200)


def _any_count(chance, most):
    return int(chance.randint(1, 9) if chance.randint(8) else chance.randint(1, most))


def _any_rotation(chance):
    count, width = _any_count(chance, 600), _any_width(chance)
    return Rotation(
        _any_rows(chance, count, width, 1e9),
        _any_positions(chance, count),
        _any_base(chance) if chance.randint(2) else NO_BASE,
    )


def _any_positions(chance, count):
    """Draw positions as a list, or an array of any integers and in any part of memory."""
    far = int(2 ** chance.uniform(0, 20)) if chance.randint(10) else 2**20
    dtypes = [np.int64, np.int32, np.uint64, np.uint32]
    dtypes += [np.int16] if far < 2**15 else []
    dtypes += [np.int8, np.uint8] if far < 2**7 else []
    dtype = dtypes[chance.randint(len(dtypes))]
    lowest = 0 if np.dtype(dtype).kind == "u" else -far
    places = chance.randint(lowest, far + 1, size=count)
    if chance.randint(4) == 0:
        places[:] = np.sort(places)[:: 1 - 2 * chance.randint(2)]
    if chance.randint(8) == 0:
        places[: count // 2] = far
    if chance.randint(2):
        return places.tolist()
    return _stored(chance, places.astype(dtype))


def _any_decode(chance):
    count, width = _any_count(chance, 300), _any_width(chance)
    if width > 16:
        count = min(count, 20)
    base = _any_base(chance) if chance.randint(2) else 10000
    decoder = Decoder(width, base, int(chance.randint(2) * chance.randint(1000)))
    return Decode(_any_rows(chance, count, width, 1e4), Recorder(decoder))


def _any_rows(chance, count, width, loudest):
    """Draw rows of any size, equal, zero, integer, and stored in any way."""
    rows = chance.standard_normal((count, width))
    kind = chance.randint(8)
    if kind == 0:
        rows[:] = rows[:1]
    elif kind == 1:
        rows[chance.randint(0, 2, size=count) == 1] = 0
    elif kind == 2:
        rows[:, : width // 2] = 0
    elif kind == 3:
        # One direction, louder and louder: its last scores are far above the first.
        rows[:] = rows[:1] * np.arange(count)[:, np.newaxis]
    if chance.randint(3) == 0:
        rows *= 10 ** chance.uniform(-12, np.log10(loudest))
    if chance.randint(4) == 0:
        dtypes = (np.int64, np.int32, np.int8, np.uint8)
        return _stored(chance, np.abs(np.clip(9 * rows, -99, 99)).astype(dtypes[kind % 4]))
    return _stored(chance, rows)


def _stored(chance, array):
    """Return an array of the same numbers that lies in memory in another way."""
    way = chance.randint(7)
    if way == 1:
        array.flags.writeable = False
    elif way == 2:
        return np.asfortranarray(array)
    elif way == 3:
        return np.repeat(array, 2, axis=0)[::2]
    elif way == 4:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    elif way == 5:
        return array[::-1].copy()[::-1]
    return array


def rare_calls():
    """Return calls that are legal, but hardly ever made, each with its kind."""
    # Integers from 257 on are objects of their own, and a buffer that doubles does so at 512.
    rows = np.random.RandomState(0).standard_normal((600, 2))
    yield "long", [Decode(rows, Recorder(Decoder(2)))]
    yield "long", [Rotation(np.ones((1100, 2)), list(range(1100)))]
    yield "empty", [Rotation(np.empty((0, 4)), [])]
    yield "empty", [Decode(np.empty((0, 4)), Recorder(Decoder(4)))]
