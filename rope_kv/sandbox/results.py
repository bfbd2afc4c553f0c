"""What a worker tells of a call that is over: what the code did to objects, and what it returned.

Everything here comes from a process that is not to be trusted. What cannot be understood raises
one of the usual exceptions, which the caller takes for a breach.

The worker tells, in one object,
    raised               kind and sentence, where the function returned nothing
    arrays, lists, decoders   what the code did to its arguments, and to earlier results
and of what was returned
    number               of an array: that of one of ours, or a negative one
    writeable, part_of   of a new array; the argument that it is a view of
    type, carried        of what is no plain array, and whether its numbers come along
    parts                of a list that `feed` returned, each entry told likewise
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..testing.comparison import Broken
from ..testing.implementation import printable
from . import wire
from .link import Link


class Returned:
    """What came of one call of a function with some arguments, by an answer and its contents."""

    def __init__(
        self,
        link: Link,
        function: str,
        arguments: tuple[Any, ...],
        answer: dict[str, Any],
        contents: Iterator[Any],
    ) -> None:
        self._link = link
        self._function = function
        self._arguments = arguments
        self._answer = answer
        self._contents = contents

    def apply(self) -> None:
        """Do here what the code did to objects that are doubles of ours."""
        for number, writeable, is_like_before in self._answer.get("arrays", ()):
            content = next(self._contents) if is_like_before else None
            value = self._link.find(number)
            if not isinstance(value, np.ndarray):
                continue
            if content is None or content.shape != value.shape or content.dtype != value.dtype:
                raise Broken(f"{self._function} gave an array another shape or dtype", "purity")
            with contextlib.suppress(ValueError):  # A view of what may not be written.
                value.flags.writeable = True
                value[...] = content
            value.flags.writeable = bool(writeable) and value.flags.writeable
            self._link.keep(number, value)
        if "lists" in self._answer:
            at, entries = self._answer["lists"]
            if type(self._arguments[at]) is not list:
                raise ValueError
            self._arguments[at][:] = entries
        if "decoders" in self._answer:
            number, name = self._answer["decoders"]
            self._link.find(number).note_change(printable(name))

    def result(self) -> Any:
        """Return what the code returned."""
        if "parts" not in self._answer:
            return self._one(self._answer)
        parts = self._answer["parts"]
        if type(parts) is not list or len(parts) > wire.MOST_PARTS:
            raise ValueError
        # No map: it would take a content that is missing for the end of the list.
        return {"list": list, "tuple": tuple}[self._answer["type"]]([self._one(p) for p in parts])

    def _one(self, told: dict[str, Any]) -> Any:
        """Return a result, or a part of one: the same object, where it is one of ours."""
        if "type" in told:
            numbers = next(self._contents) if told["carried"] else None
            return _foreign(printable(told["type"]), numbers)
        number = told["number"]
        known = self._link.find(number)
        if isinstance(known, np.ndarray):
            return known
        content = next(self._contents)
        if type(content) is not np.ndarray or number >= 0:
            raise ValueError
        value = self._view(content, *told["part_of"]) if "part_of" in told else content
        value.flags.writeable = bool(told["writeable"]) and value.flags.writeable
        self._link.keep(number, value)
        self._link.hold(value)
        return value

    def _view(self, content: Any, number: int, offset: int, strides: list[int]) -> Any:
        """Return a result that is part of an argument's memory as just that, if it is."""
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            whole = self._link.find(number)
            view = np.ndarray(content.shape, content.dtype, whole, offset, tuple(strides))
            if whole is not None and view.tobytes() == content.tobytes():
                return view
        return content


class _Foreign:
    """A stand-in for a result that is no plain array: the name of its type, and its numbers."""

    numbers: Any = None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.numbers is None:
            raise TypeError("not an array of numbers")
        return np.array(self.numbers, dtype=dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _foreign(name: str, numbers: Any) -> Any:
    """Return what has the name of a type, and numbers: itself, where these say all."""
    if numbers is not None and type(numbers) is not np.ndarray:
        raise ValueError
    if name == "NoneType":
        return None
    if name == "int" and numbers is None:
        return 1 << 1024  # No float can hold it: so large, how large does not matter.
    if name == "ndarray of object" and numbers is not None:
        return numbers.astype(object)
    if name in ("list", "tuple") and numbers is not None and numbers.ndim:
        return numbers.tolist() if name == "list" else tuple(numbers.tolist())
    if numbers is not None and not numbers.ndim:
        if name in ("int", "float", "bool"):
            return {"int": int, "float": float, "bool": bool}[name](numbers)
        if name == numbers.dtype.name:
            return numbers[()]
    stand_in = type(name[:80], (_Foreign,), {})()
    stand_in.numbers = numbers
    return stand_in
