"""The process that runs the code under test: it loads one file and answers one call at a time.

Standard library and numpy only, and the modules of the package that load and call a file.
Nothing here is a defence: the code that runs here can change all of it. What it is allowed to do
is decided by the kernel, and what it answers is checked by the grader.

A call works on the grader's own objects as far as can be seen from here: an argument that is the
same object there is the same object here, and what the code does to one is told with the answer.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import random
from collections.abc import Callable, Iterator
from importlib.util import decode_source
from pathlib import Path
from typing import Any

import numpy as np

from ..testing.comparison import Broken
from ..testing.implementation import InProcess, told
from ..testing.loading import LoadError, SpecError, from_source, titled
from . import doubles, probes, wire
from .doubles import Ahead, Decoder, Kept


class Worker:
    """One worker: the socket it answers on, the code, and the objects it shares with the grader.

    `seal` is called before the code is loaded, and takes from this process what it must not have.
    """

    def __init__(self, descriptor: int, seal: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._seal = seal
        self._received = bytearray()
        self._sequence = 0
        self._cap = wire.SMALLEST_CAP
        self._loaded: InProcess | None = None
        self._ahead = Ahead()
        self._instances: dict[int, InProcess] = {}
        self._kept: dict[int, Kept] = {}
        self._decoders: dict[int, tuple[Decoder, dict[str, Any]]] = {}

    def serve(self) -> None:
        """Answer until the grader closes the socket."""
        while True:
            frame = self._read()
            self._sequence = frame.sequence
            if frame.kind == wire.LOAD:
                self._load(*frame.items)
            elif frame.kind == wire.CALL:
                self._call(*frame.items)
            elif frame.kind == wire.TEST:
                self._seal()
                self._send(wire.TESTED, {"could": probes.not_refused(*frame.items)})

    def _load(self, source: bytes, name: str, attribute: str, seed: int) -> None:
        self._seal()
        random.seed(seed)
        np.random.seed(seed)
        called = titled(name, attribute)
        with contextlib.suppress(Exception):  # For inspect.getsource; loading says what is wrong.
            lines = decode_source(source).splitlines(keepends=True)
            linecache.cache[name] = (len(source), None, lines, name)
        try:
            self._loaded = from_source(source, called, Path(name), attribute, at_home=False)
        except (LoadError, SpecError) as error:
            self._send(wire.FAILED, type(error).__name__, str(error))
            return
        except KeyboardInterrupt:
            text = f"{called} cannot be loaded: it raised KeyboardInterrupt"
            self._send(wire.FAILED, "LoadError", text)
            return
        self._send(wire.LOADED)

    def _call(self, request: dict[str, Any], *contents: Any) -> None:
        """Make a call and tell what came of it; see `call` for the form of both messages."""
        self._cap = request["cap"]
        for number in request["dropped"]:
            for table in (self._instances, self._kept, self._decoders):
                table.pop(number, None)
        content = iter(contents)
        for number in request["refilled"]:
            self._refill(number, next(content))
        arguments = request["arguments"]
        given = [self._argument(argument, content) for argument in arguments]
        named = {name: self._argument(arg, content) for name, arg in request["named"].items()}
        self._ahead = Ahead()
        if "ahead" in request:
            self._ahead = Ahead(arguments[0]["number"], given[1], list(content))
        function = request["function"]
        answer: dict[str, Any] = {}
        try:
            impl = self._instance(request["instance"], request["replaced"])
            result = getattr(impl, function)(*given, **named)
        except Broken as broken:
            answer["raised"] = [broken.kind, broken.sentence[: wire.LONGEST_TEXT]]
        except LoadError as error:
            answer["raised"] = ["load", str(error)[: wire.LONGEST_TEXT]]
        except KeyboardInterrupt as error:
            answer["raised"] = ["raised", f"{function} raised {told(error, '')}"]
        arrays = self._changes(given, arguments, answer)
        if "raised" not in answer:
            arrays += self._result(function, result, given, arguments, answer)
        self._send(wire.RETURNED, self._ahead.told(), answer, *arrays)

    def _instance(self, number: int, replaced: str | None) -> InProcess:
        if number not in self._instances:
            assert self._loaded is not None
            self._instances[number] = (
                self._loaded.with_replaced(replaced, self._right_one)
                if replaced
                else self._loaded.fresh()
            )
        return self._instances[number]

    def _right_one(self, *arguments: Any, **named: Any) -> Any:
        arrays: list[Any] = []
        plain = [doubles.plain(argument, arrays) for argument in arguments]
        by_name = {name: doubles.plain(value, arrays) for name, value in named.items()}
        question = {"arguments": plain, "named": by_name}
        return self._asked(wire.RIGHT_ONE, 0, question, *arrays)

    def _argument(self, argument: Any, contents: Iterator[Any]) -> Any:
        """Return the object that an argument describes: the one it was before, if it is known."""
        if type(argument) is list:
            return list(argument)
        if type(argument) is not dict:
            return argument
        number = argument["number"]
        if "width" in argument:
            if number not in self._decoders:
                decoder = Decoder(argument["width"], argument["base"], self._projected, number)
                self._decoders[number] = (decoder, doubles.attributes(decoder))
            return self._decoders[number][0]
        if "writeable" in argument:
            array = next(contents)
            if layout := argument.get("layout"):
                dtype, shape, strides, offset = layout
                array = np.ndarray(tuple(shape), wire.DTYPES[dtype], array, offset, tuple(strides))
            if not argument["writeable"]:
                array.flags.writeable = False
            self._keep(number, array)
        return self._kept[number].array

    def _refill(self, number: int, content: Any) -> None:
        array = self._kept[number].array
        was_writeable = array.flags.writeable
        if not was_writeable:
            array.flags.writeable = True
        array[...] = content
        array.flags.writeable = was_writeable
        self._keep(number, array)

    def _keep(self, number: int, array: Any) -> None:
        self._kept[number] = Kept(
            array, array.tobytes(), array.flags.writeable, array.shape, array.dtype
        )

    def _changes(
        self, given: list[Any], arguments: list[Any], answer: dict[str, Any]
    ) -> list[Any]:
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
            if type(value) is list and not doubles.equal(value, argument):
                plain = all(type(entry) in (int, float) for entry in value)
                answer["lists"] = [at, value if plain else [None]]
        for number, (decoder, attributes) in self._decoders.items():
            if name := doubles.changed(decoder, attributes):
                answer["decoders"] = [number, name]
        return contents

    def _result(
        self,
        function: str,
        result: Any,
        given: list[Any],
        arguments: list[Any],
        answer: dict[str, Any],
    ) -> list[Any]:
        """Tell in `answer` what the code returned; return its content, where it has one."""
        if type(result) is not np.ndarray or not wire.can_carry(result.dtype):
            answer["type"] = doubles.type_of(result)
            numbers = doubles.numbers_in(result)
            carried = numbers is not None and numbers.nbytes <= self._cap // 2
            return [doubles.copied(numbers)] if carried else []
        size = result.size * result.itemsize
        if size > self._cap // 2 or result.ndim > wire.MOST_DIMENSIONS:
            shape = result.shape if result.ndim <= wire.MOST_DIMENSIONS else "too many axes"
            sentence = f"{function} returned a {result.dtype} array of shape {shape}: too large"
            answer["raised"] = ["type", sentence]
            return []
        known = [number for number, kept in self._kept.items() if kept.array is result]
        answer["number"] = known[0] if known else self._next_number()
        if known:
            return []
        self._keep(answer["number"], result)
        answer["writeable"] = result.flags.writeable
        if part := doubles.part_of(result, given, arguments):
            answer["part_of"] = part
        return [doubles.copied(result)]

    def _next_number(self) -> int:
        """Return a number for an object of this side: negative, so that no two sides agree."""
        return min((0, *self._kept)) - 1

    def _projected(self, what: int, number: int, rows: Any) -> Any:
        """Return what the grader's decoder answers."""
        given = doubles.numeric(rows)
        answer = self._ahead.take(what, number, given)
        return self._asked(what, number, given) if answer is None else answer

    def _asked(self, what: int, number: int, *items: Any) -> Any:
        """Return what the grader answers."""
        content = wire.pack(wire.ASK, self._sequence, self._ahead.told(), what, number, *items)
        if len(content) > self._cap:
            raise ValueError(f"{len(content)} bytes of rows in one call, which is too many")
        self._write(content)
        frame = self._read()
        if frame.kind == wire.REFUSE:
            kind, text = frame.items
            raise {"TypeError": TypeError}.get(kind, ValueError)(text)
        return frame.items[0]

    def _send(self, kind: int, *items: Any) -> None:
        self._write(wire.pack(kind, self._sequence, *items))

    def _write(self, content: bytes) -> None:
        while content:
            content = content[os.write(self._descriptor, content) :]

    def _read(self) -> wire.Frame:
        """Return the next message; the process ends where there will be none."""
        while (frame := wire.first_frame(self._received, 1 << 31)) is None:
            received = os.read(self._descriptor, 1 << 16)
            if not received:
                os._exit(0)
            self._received += received
        return frame
