"""What a worker shares with the grader: arrays, decoders, and what the code has started.

An argument that is the same object there is the same object here, and what the code does to one is
told with the answer. `arguments` and `results` say in what form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import doubles, wire
from .doubles import Decoder, Kept


class Objects:
    """The objects that both processes know, by their numbers.

    `ask` is what a decoder does with a projection, its own number and rows. `started` are
    sessions and batches.
    """

    def __init__(self, ask: Callable[[int, int, Any], Any]) -> None:
        self._ask = ask
        self._kept: dict[int, Kept] = {}
        self._decoders: dict[int, tuple[Decoder, dict[str, Any]]] = {}
        self.started: dict[int, Any] = {}

    def drop(self, number: int) -> None:
        """Forget what has this number."""
        for table in (self._kept, self._decoders, self.started):
            table.pop(number, None)

    def argument(self, told: Any, contents: Iterator[Any]) -> Any:
        """Return the object that is told of: the one it was before, if it is known."""
        if type(told) is list:
            return list(told)
        if type(told) is not dict:
            return told
        if "list" in told:
            return [self.argument(entry, contents) for entry in told["list"]]
        if "mapping" in told:
            return told["mapping"]
        number = told["number"]
        if "settings" in told:
            decoder = Decoder(told["settings"], self._ask, number)
            self._decoders[number] = (decoder, doubles.attributes(decoder))
        if number in self._decoders:
            return self._decoders[number][0]
        if "writeable" in told:
            array = next(contents)
            if layout := told.get("layout"):
                dtype, shape, strides, offset = layout
                array = np.ndarray(tuple(shape), wire.DTYPES[dtype], array, offset, tuple(strides))
            if not told["writeable"]:
                array.flags.writeable = False
            self._keep(number, array)
        return self._kept[number].array

    def refill(self, number: int, content: Any) -> None:
        """Give an array the content that it has in the grader."""
        array = self._kept[number].array
        was_writeable = array.flags.writeable
        if not was_writeable:
            array.flags.writeable = True
        array[...] = content
        array.flags.writeable = was_writeable
        self._keep(number, array)

    def changes(self, given: list[Any], arguments: list[Any], answer: dict[str, Any]) -> list[Any]:
        """Tell in `answer` what the code did to objects of the grader; return the new contents."""
        changed, contents = [], []
        for number, kept in list(self._kept.items()):
            array, writeable = kept.array, kept.array.flags.writeable
            if array.shape != kept.shape or array.dtype != kept.dtype:
                changed.append([number, writeable, False])
            elif writeable != kept.writeable or array.tobytes() != kept.content:
                changed.append([number, writeable, True])
                contents.append(doubles.copied(array))
                self._keep(number, array)
        if changed:
            answer["arrays"] = changed
        for at, (value, argument) in enumerate(zip(given, arguments, strict=True)):
            if type(argument) is list and not doubles.equal(value, argument):
                plain = all(type(entry) in (int, float) for entry in value)
                answer["lists"] = [at, value if plain else [None]]
        for number, (decoder, attributes) in self._decoders.items():
            if name := doubles.changed(decoder, attributes):
                answer["decoders"] = [number, name]
        return contents

    def result(
        self,
        function: str,
        result: Any,
        given: list[Any],
        arguments: list[Any],
        answer: dict[str, Any],
        largest: int,
    ) -> list[Any]:
        """Tell in `answer` what the code returned; return its contents, up to `largest` bytes.

        A list is told entry by entry where something was fed: a batch returns several arrays.
        """
        told = _Teller(self, function, given, arguments, largest)
        is_list = function == "feed" and type(result) in (list, tuple)
        if is_list and len(result) <= wire.MOST_PARTS:
            answer["type"] = type(result).__name__
            answer["parts"] = [told.of(part) for part in result]
        else:
            answer |= told.of(result)
        if told.too_large:
            answer["raised"] = ["type", told.too_large]
            return []
        return told.contents

    def number_of(self, array: Any) -> int | None:
        """Return the number of an array that is known, or None."""
        return next((number for number, kept in self._kept.items() if kept.array is array), None)

    def keep_result(self, array: Any) -> int:
        """Return a number for a new array: negative, so that no two sides agree."""
        number = min((0, *self._kept)) - 1
        self._keep(number, array)
        return number

    def _keep(self, number: int, array: Any) -> None:
        self._kept[number] = Kept(
            array, array.tobytes(), array.flags.writeable, array.shape, array.dtype
        )


class _Teller:
    """What is told of a result; `too_large` is a sentence, where it is that."""

    def __init__(
        self,
        objects: Objects,
        function: str,
        given: list[Any],
        arguments: list[Any],
        largest: int,
    ) -> None:
        self._objects = objects
        self._function = function
        self._given = given
        self._arguments = arguments
        self._left = largest
        self.contents: list[Any] = []
        self.too_large = ""

    def of(self, result: Any) -> dict[str, Any]:
        """Return what is told of a result, or of one part."""
        if not _is_array(result):
            is_long = type(result) in (list, tuple) and len(result) > wire.LONGEST_LIST
            numbers = None if is_long else doubles.numbers_in(result)
            carried = numbers is not None and self._fits(numbers)
            if carried:
                self.contents.append(doubles.copied(numbers))
            return {"type": doubles.type_of(result), "carried": carried}
        known = self._objects.number_of(result)
        if known is not None:
            return {"number": known}
        if result.ndim > wire.MOST_DIMENSIONS or not self._fits(result):
            shape = result.shape if result.ndim <= wire.MOST_DIMENSIONS else "too many axes"
            self.too_large = (
                f"{self._function} returned a {result.dtype} array of shape {shape}: too large"
            )
            return {}
        told: dict[str, Any] = {
            "number": self._objects.keep_result(result),
            "writeable": result.flags.writeable,
        }
        if part := doubles.part_of(result, self._given, self._arguments):
            told["part_of"] = part
        self.contents.append(doubles.copied(result))
        return told

    def _fits(self, array: Any) -> bool:
        """Return whether a content can go along; then there is less room for the next."""
        fits = array.size * array.itemsize <= self._left
        if fits:
            self._left -= array.size * array.itemsize
        return bool(fits)


def _is_array(result: Any) -> bool:
    return type(result) is np.ndarray and wire.can_carry(result.dtype)
