"""The code under test, as the properties see it, and called in this process.

`Implementation` is all that a property knows. Where the code runs is the business of the class
behind it; here it runs in this process. How it is found is in loading.py.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import os
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TextIO

import numpy as np

from .comparison import Broken
from .plain import one_line

FUNCTIONS = ("rope_freqs", "apply_rope", "decode_incremental")
_RIGHT = "__right_one__"


class Implementation(Protocol):
    """The code under test, as the properties see it.

    Each function is called as the contract says and returns whatever the code returned. A
    function that is missing or raises is a `Broken`.
    """

    @property
    def name(self) -> str:
        """What the code is called."""

    @property
    def isolation(self) -> str:
        """Where the code runs: "none" is in this process."""

    def rope_freqs(self, d: int, *base: float, **named: float) -> Any:
        """Call rope_freqs."""

    def apply_rope(self, x: Any, *arguments: Any, **named: Any) -> Any:
        """Call apply_rope."""

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental."""

    def fresh(self) -> Implementation:
        """Return the same code with no memory of earlier calls, where that can be had."""

    def with_replaced(self, name: str, function: Callable[..., Any]) -> Implementation:
        """Return the same code, fresh, in which the others call `function` by that name."""

    def restarted(self, seed: int = 0) -> contextlib.AbstractContextManager[Implementation]:
        """Give the same code in a process that has run nothing yet, where it has its own.

        `seed` is what the random numbers of that process start from.
        """

    def close(self) -> None:
        """End what was started to run the code."""


class Home:
    """Where the code of a file lives: its folder, if any, and the modules loaded from there.

    They stand in sys.path and sys.modules while its code runs, since dataclasses, pickle and
    imports need that, and not between: Hypothesis reads the constants of loaded modules and would
    draw other cases for each file, and two files may each have a `helper` beside them.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.modules: dict[str, types.ModuleType] = {}

    @contextlib.contextmanager
    def at_home(self) -> Iterator[None]:
        """Put the folder and its modules in their place inside the block."""
        if self._folder:
            sys.path.insert(0, self._folder)
        hidden = {name: sys.modules[name] for name in self.modules if name in sys.modules}
        sys.modules.update(self.modules)
        known = len(sys.modules)
        try:
            yield
        finally:
            for name in list(sys.modules)[known:] if len(sys.modules) > known else ():
                origin = getattr(sys.modules[name], "__file__", None) or ""
                if self._folder and os.path.dirname(origin) == self._folder:
                    self.modules[name] = sys.modules[name]
            for name in self.modules:
                sys.modules.pop(name, None)
            sys.modules.update(hidden)
            if self._folder and self._folder in sys.path:
                sys.path.remove(self._folder)


class InProcess:
    """An implementation whose code runs in this process.

    `reload` gives the code anew and its home, where the code is a file; `path` is that file.
    """

    isolation = "none"

    def __init__(
        self,
        code: Any,
        name: str,
        *,
        home: Home | None = None,
        reload: Callable[[], tuple[Any, Home]] | None = None,
        path: str = "",
        replaced: tuple[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.name = name
        self._code = code
        self._home = home
        self._reload = reload
        self._path = path
        self._replaced = replaced

    def rope_freqs(self, d: int, *base: float, **named: float) -> Any:
        """Call rope_freqs."""
        return self._call("rope_freqs", (d, *base), named)

    def apply_rope(self, x: Any, *arguments: Any, **named: Any) -> Any:
        """Call apply_rope."""
        return self._call("apply_rope", (x, *arguments), named)

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental."""
        return self._call("decode_incremental", (decoder, x_embedded), {})

    def fresh(self) -> InProcess:
        """Return the file executed anew; a module or an object is returned as it is."""
        if self._reload is None:
            return self
        code, home = self._reload()
        return self._with(code, home, self._replaced)

    def with_replaced(self, name: str, function: Callable[..., Any]) -> InProcess:
        """Return the same code, fresh, in which the others call `function` by that name."""
        fresh = self.fresh()
        return self._with(fresh._code, fresh._home, (name, function))

    def restarted(self, seed: int = 0) -> contextlib.AbstractContextManager[InProcess]:
        """Give the same code, fresh: there is no other process to be had."""
        return contextlib.nullcontext(self.fresh())

    def close(self) -> None:
        """Do nothing: nothing was started."""

    def _with(
        self, code: Any, home: Home | None, replaced: tuple[str, Callable[..., Any]] | None
    ) -> InProcess:
        return InProcess(
            code, self.name, home=home, reload=self._reload, path=self._path, replaced=replaced
        )

    def _call(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        code = self._code
        if self._replaced is not None and self._replaced[0] == name:
            return self._replaced[1](*arguments, **named)
        with contextlib.ExitStack() as around:
            if self._replaced is not None:
                code = around.enter_context(_standing_in(code, name, *self._replaced))
            function = getattr(code, name, None)
            if not callable(function):
                raise Broken(
                    f"{name} is missing: {self.name} has no function of that name", "missing"
                )
            if self._home is not None:
                around.enter_context(self._home.at_home())
            around.enter_context(quiet())
            try:
                return function(*arguments, **named)
            except KeyboardInterrupt:
                raise  # Someone wants to stop, and this is the only way to say so.
            except NotImplementedError as error:
                broken = Broken(f"{name} raised {told(error, self._path)}", "unwritten")
            except BaseException as error:
                broken = Broken(f"{name} raised {told(error, self._path)}", "raised")
        raise broken


def told(error: BaseException, path: str) -> str:
    """Return an exception in one line: type, message, and the line of `path` it came from."""
    try:
        message = str(error)
    except Exception:
        message = "(its message cannot be shown)"
    message = printable(message)
    text = printable(type(error).__name__) + (f": {message:.300}" if message else "")
    if isinstance(error, SyntaxError) and error.lineno:
        return printable(f"{type(error).__name__}: {error.msg}") + f" (line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if path and frame.filename == path]
    return text + (f" (line {lines[-1]})" if lines else "")


def printable(text: str) -> str:
    """Return text that others wrote in one line, without what could act on a terminal.

    TypeError for what is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"not text but {type(text).__name__}")
    return one_line(text[:4096])


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what the code prints and warns of out of the report: neither breaks a property."""
    nowhere = _nowhere()
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        warnings.simplefilter("ignore")
        yield


_open_nowhere: list[TextIO] = []


def _nowhere() -> TextIO:
    """Return a file that keeps nothing.

    A real one, since code may ask its output for a descriptor, a buffer or another encoding;
    and a new one where the code has closed the last.
    """
    if not _open_nowhere or _open_nowhere[-1].closed:
        _open_nowhere[:] = [open(os.devnull, "w", encoding="utf-8")]  # noqa: SIM115
        atexit.register(_open_nowhere[0].close)
    return _open_nowhere[-1]


@contextlib.contextmanager
def _standing_in(code: Any, caller: str, name: str, right: Callable[..., Any]) -> Iterator[Any]:
    """Give the code, in which `right` is called wherever its function `name` would be.

    A plain function gets another body for a while, so whoever refers to it, and however, calls
    the right one. What is no plain function is replaced by name: where `caller` looks it up, and
    in the module.
    """
    original = getattr(code, name, None)
    function = getattr(original, "__func__", original)
    if isinstance(function, types.FunctionType) and not function.__code__.co_freevars:
        wrong_body, namespace = function.__code__, function.__globals__
        is_method = function is not original
        namespace[_RIGHT] = (
            (lambda _, *args, **named: right(*args, **named)) if is_method else right
        )
        function.__code__ = _other_body.__code__
        try:
            yield code
        finally:
            function.__code__ = wrong_body
            namespace.pop(_RIGHT, None)
        return
    calling = getattr(code, caller, None)
    namespaces = [getattr(getattr(calling, "__func__", calling), "__globals__", {})]
    if isinstance(code, types.ModuleType):
        namespaces.append(vars(code))
    else:
        with contextlib.suppress(Exception):
            code = copy.copy(code)
            setattr(code, name, right)
    before = [{name: space[name]} if name in space else {} for space in namespaces]
    for namespace in namespaces:
        namespace[name] = right
    try:
        yield code
    finally:
        for namespace, found in zip(namespaces, before, strict=True):
            namespace.pop(name, None)
            namespace.update(found)


def _other_body(*arguments: Any, **named: Any) -> Any:
    return __right_one__(*arguments, **named)  # type: ignore[name-defined] # noqa: F821
