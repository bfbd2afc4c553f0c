"""The process that runs the code under test: it loads one file and answers one call at a time.

Standard library and numpy only, and the modules of the package that load and call a file.
Nothing here is a defence: the code that runs here can change all of it. What it is allowed to do
is decided by the kernel, and what it answers is checked by the grader.

A call works on the grader's own objects as far as can be seen from here; see `objects`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import linecache
import os
import random
from collections.abc import Callable
from importlib.util import decode_source
from pathlib import Path
from typing import Any

import numpy as np

from ..testing.comparison import Broken
from ..testing.implementation import ATTRIBUTES, InProcess, told
from ..testing.loading import LoadError, SpecError, from_source, titled
from . import doubles, probes, wire
from .doubles import Ahead
from .objects import Objects


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
        self._objects = Objects(self._projected)

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
        self._send(wire.LOADED, dataclasses.asdict(self._loaded.capabilities))

    def _call(self, request: dict[str, Any], *contents: Any) -> None:
        """Make a call and tell what came of it; see `call` for the form of both messages."""
        self._cap = request["cap"]
        objects, content = self._objects, iter(contents)
        for number in request["refilled"]:
            objects.refill(number, next(content))
        for number in request["dropped"]:  # Afterwards: code may have kept a view of it.
            objects.drop(number)
            self._instances.pop(number, None)
        arguments = request["arguments"]
        given = [objects.argument(argument, content) for argument in arguments]
        named = {name: objects.argument(arg, content) for name, arg in request["named"].items()}
        self._ahead = Ahead()
        if "ahead" in request:
            number, at, count, has_out = request["ahead"]
            rest = list(content)
            out = rest.pop() if has_out else None
            self._ahead = Ahead(number, given[at], rest[:count], rest[count:], out)
        function = request["function"]
        answer: dict[str, Any] = {}
        try:
            result = self._result(request, given, named)
        except Broken as broken:
            answer["raised"] = [broken.kind, broken.sentence[: wire.LONGEST_TEXT]]
        except LoadError as error:
            answer["raised"] = ["load", str(error)[: wire.LONGEST_TEXT]]
        except KeyboardInterrupt as error:
            answer["raised"] = ["raised", f"{function} raised {told(error, '')}"]
        arrays = objects.changes(given, arguments, answer)
        if "raised" not in answer and request["result"] == "value":
            largest = self._cap // 2
            arrays += objects.result(function, result, given, arguments, answer, largest)
        elif "raised" not in answer and request["result"] != "nothing":
            objects.started[request["result"]] = result
        self._send(wire.RETURNED, *self._ahead.told(), answer, *arrays)

    def _result(self, request: dict[str, Any], given: list[Any], named: dict[str, Any]) -> Any:
        """Return what the function that is asked for returns."""
        function = request["function"]
        if "on" in request:
            started = self._objects.started[request["on"]]
            if function in ATTRIBUTES:
                return getattr(started, function)
            return getattr(started, function)(*given)
        impl = self._instance(request["instance"], request["replaced"])
        if request["path"]:
            return impl.path(function, *given)
        return getattr(impl, function)(*given, **named)

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

    def _projected(self, what: int, number: int, rows: Any) -> Any:
        """Return what the grader's decoder answers."""
        given = doubles.numeric(rows)
        answer = self._ahead.take(what, number, given)
        return self._asked(what, number, given) if answer is None else answer

    def _asked(self, what: int, number: int, *items: Any) -> Any:
        """Return what the grader answers."""
        content = wire.pack(wire.ASK, self._sequence, *self._ahead.told(), what, number, *items)
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
