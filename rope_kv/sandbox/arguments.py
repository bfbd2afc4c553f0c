"""How the worker is told of the arguments of a call: by what is plain, and by numbers of ours.

An argument is told as
    a number, a text, None, or a list of numbers   what it is
    {number}                     an array or a decoder that is known
    {number, writeable}          a new array, whose content comes along
    {number, writeable, layout}  one that is not contiguous: dtype, shape, strides and offset in
                                 the bytes that come along
    {number, settings}           a new decoder
    {list}                       a list in which there are arrays, each entry told likewise
    {mapping}                    a dict of what is plain
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..testing.trace import SETTINGS, TracedDecoder
from . import wire
from .link import Link


class Told:
    """The arguments of one call, as the worker is told of them; `contents` go along."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.contents: list[Any] = []

    def of(self, value: Any) -> Any:
        """Return an argument as the worker is told of it."""
        if isinstance(value, TracedDecoder):
            return self._decoder(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, list) and any(isinstance(entry, np.ndarray) for entry in value):
            return {"list": [self.of(entry) for entry in value]}
        return {"mapping": value} if isinstance(value, dict) else value

    def _decoder(self, decoder: TracedDecoder) -> dict[str, Any]:
        number, is_new = self._number(decoder)
        if not is_new:
            return {"number": number}
        return {"number": number, "settings": {name: getattr(decoder, name) for name in SETTINGS}}

    def _array(self, array: Any) -> dict[str, Any]:
        number, is_new = self._number(array)
        self._link.hold(array)
        if not is_new:
            return {"number": number}
        told = {"number": number, "writeable": array.flags.writeable}
        if array.flags.c_contiguous:
            self.contents.append(array)
            return told
        memory, offset = _memory_of(array)
        self.contents.append(memory)
        layout = [wire.code_of(array.dtype), array.shape, array.strides, offset]
        return told | {"layout": layout}

    def _number(self, value: Any) -> tuple[int, bool]:
        """Return the number of an object, and whether it is a new one."""
        known = self._link.number_of(value)
        if known is not None:
            return known, False
        number = self._link.number()
        self._link.keep(number, value)
        return number, True


def arrays_in(arguments: tuple[Any, ...]) -> list[Any]:
    """Return the arrays among arguments, those in lists as well."""
    found = []
    for argument in arguments:
        entries = argument if isinstance(argument, list) else [argument]
        found += [entry for entry in entries if isinstance(entry, np.ndarray)]
    return found


def _memory_of(array: Any) -> tuple[Any, int]:
    """Return the memory that an array's entries lie in, as bytes, and where its first one is."""
    low, high = wire.extent(array)
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    start, _ = wire.extent(whole)
    content = np.frombuffer(whole.tobytes(order="A"), np.uint8)[low - start : high - start]
    return content.copy(), array.__array_interface__["data"][0] - low
