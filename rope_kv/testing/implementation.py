"""The code under test: how it is found, loaded and called.

`Implementation` is all that a property knows. Where the code runs is the business of the class
behind it; here it runs in this process.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .comparison import Broken

FUNCTIONS = ("rope_freqs", "apply_rope", "decode_incremental")
_NOWHERE = io.StringIO()
_FILE_AND_ATTRIBUTE = re.compile(r"(?P<file>.+\.py)(?::(?P<attribute>[A-Za-z_][\w.]*))?\Z", re.S)
_MODULE_AND_ATTRIBUTE = re.compile(r"[A-Za-z_][\w.]*(?::[A-Za-z_][\w.]*)?\Z")


class SpecError(ValueError):
    """What was named is not there, or is not something that can be checked."""


class LoadError(Exception):
    """The code under test could not be loaded; the message is one sentence."""


class Implementation(Protocol):
    """The code under test, as the properties see it.

    Each function is called as the contract says and returns whatever the code returned. A
    function that is missing or raises is a `Broken`.
    """

    name: str

    @property
    def missing(self) -> tuple[str, ...]:
        """The functions of the contract that the code does not have."""

    def rope_freqs(self, d: int, *base: float) -> Any:
        """Call rope_freqs."""

    def apply_rope(self, x: Any, positions: Any, *base: float) -> Any:
        """Call apply_rope."""

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental."""

    def fresh(self) -> Implementation:
        """Return the same code with no memory of earlier calls, where that can be had."""

    def with_replaced(self, name: str, function: Callable[..., Any]) -> Implementation:
        """Return the same code, fresh, in which the others call `function` by that name."""


class InProcess:
    """An implementation whose code runs in this process."""

    def __init__(
        self,
        code: Any,
        name: str,
        reload: Callable[[], Any] | None = None,
        path: str = "",
        replaced: dict[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.name = name
        self._code = code
        self._reload = reload
        self._path = path
        self._replaced = replaced or {}

    @property
    def missing(self) -> tuple[str, ...]:
        """The functions of the contract that the code does not have."""
        return tuple(name for name in FUNCTIONS if not callable(getattr(self._code, name, None)))

    def rope_freqs(self, d: int, *base: float) -> Any:
        """Call rope_freqs."""
        return self._call("rope_freqs", d, *base)

    def apply_rope(self, x: Any, positions: Any, *base: float) -> Any:
        """Call apply_rope."""
        return self._call("apply_rope", x, positions, *base)

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental."""
        return self._call("decode_incremental", decoder, x_embedded)

    def fresh(self) -> InProcess:
        """Return the file executed anew; a module or an object is returned as it is."""
        if self._reload is None:
            return self
        return InProcess(self._reload(), self.name, self._reload, self._path, self._replaced)

    def with_replaced(self, name: str, function: Callable[..., Any]) -> InProcess:
        """Return the same code, fresh, in which the others call `function` by that name."""
        code = self.fresh()._code
        return InProcess(code, self.name, self._reload, self._path, {name: function})

    def _call(self, name: str, *arguments: Any) -> Any:
        function = self._replaced.get(name) or getattr(self._code, name, None)
        if not callable(function):
            raise Broken(f"{name} is missing: {self.name} has no function of that name", "missing")
        namespace = getattr(function, "__globals__", None)
        if not isinstance(namespace, dict) or function is self._replaced.get(name):
            namespace = {}
        try:
            with _quiet(), _names_set(namespace, self._replaced):
                return function(*arguments)
        except KeyboardInterrupt:
            raise  # Someone wants to stop, and this is the only way to say so.
        except BaseException as error:
            sentence = f"{name} raised {told(error, self._path)}"
        raise Broken(sentence, "raised")


def load(target: Any) -> InProcess:
    """Return the implementation that `target` names.

    `target` is "file.py", "file.py:attribute", "package.module", "package.module:attribute", or
    any object that has the functions. SpecError where there is no such thing, LoadError where
    the code itself fails while it loads.
    """
    if isinstance(target, Path):
        target = str(target)
    if not isinstance(target, str):
        return InProcess(target, getattr(target, "__name__", type(target).__name__))
    if matched := _FILE_AND_ATTRIBUTE.match(target):
        return _load_file(target, Path(matched["file"]), matched["attribute"])
    if _MODULE_AND_ATTRIBUTE.match(target):
        module, _, attribute = target.partition(":")
        return InProcess(_attribute(_module(module), attribute, module), target)
    raise SpecError(
        f"cannot tell what {target!r} is: give file.py, file.py:name, a module or module:name"
    )


def told(error: BaseException, path: str) -> str:
    """Return an exception in one line: type, message, and the line of `path` it came from."""
    try:
        message = str(error)
    except Exception:
        message = "(its message cannot be shown)"
    message = " ".join(message.split())
    text = type(error).__name__ + (f": {message:.300}" if message else "")
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if path and frame.filename == path]
    return text + (f" (line {lines[-1]})" if lines else "")


def _load_file(spec: str, file: Path, attribute: str | None) -> InProcess:
    if not file.is_file():
        raise SpecError(f"there is no file {file}")
    path = file.resolve()
    name = f"{file.name}:{attribute}" if attribute else file.name
    try:
        with _quiet():
            compiled = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError, OSError) as error:
        raise LoadError(f"{name} cannot be loaded: {told(error, str(path))}") from None

    def reload() -> Any:
        return _attribute(_executed(compiled, path, name), attribute or "", name)

    return InProcess(reload(), name, reload, str(path))


def _executed(compiled: types.CodeType, path: Path, name: str) -> types.ModuleType:
    """Return a new module in which the code of a file has run.

    It stands in sys.modules while it runs, since dataclasses need that, and not afterwards:
    Hypothesis reads the constants of loaded modules and would draw other cases for each file.
    Modules that it imported from its own folder are forgotten as well.
    """
    module = types.ModuleType("submission_" + re.sub(r"\W", "_", path.stem))
    module.__file__ = str(path)
    before = set(sys.modules)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(path.parent))
    try:
        with _quiet(), contextlib.chdir(path.parent):
            exec(compiled, module.__dict__)
    except (Exception, SystemExit) as error:
        raise LoadError(f"{name} cannot be loaded: it raised {told(error, str(path))}") from None
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(path.parent))
        for imported in set(sys.modules) - before:
            origin = getattr(sys.modules[imported], "__file__", None)
            if origin and Path(origin).parent == path.parent:
                del sys.modules[imported]
        sys.modules.pop(module.__name__, None)
    return module


def _module(name: str) -> types.ModuleType:
    with contextlib.suppress(ValueError):
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            hint = f"; did you mean {name}.py?" if Path(f"{name}.py").is_file() else ""
            raise SpecError(f"there is no module {name}{hint}") from None
        raise LoadError(f"{name} cannot be loaded: it raised {told(error, '')}") from None
    except (Exception, SystemExit) as error:
        raise LoadError(f"{name} cannot be loaded: it raised {told(error, '')}") from None


def _attribute(code: Any, attribute: str, where: str) -> Any:
    for part in filter(None, attribute.split(".")):
        try:
            code = getattr(code, part)
        except AttributeError:
            raise SpecError(f"{where} has no {attribute!r}") from None
    return code


@contextlib.contextmanager
def _names_set(namespace: dict[str, Any], values: dict[str, Any]) -> Iterator[None]:
    """Set names of a namespace inside the block, and put back what was there."""
    before = {name: namespace[name] for name in values if name in namespace}
    namespace.update(values)
    try:
        yield
    finally:
        for name in values:
            namespace.pop(name, None)
        namespace.update(before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the code prints and warns of out of the report: neither breaks a property."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(_NOWHERE),
        contextlib.redirect_stderr(_NOWHERE),
    ):
        warnings.simplefilter("ignore")
        yield
        _NOWHERE.seek(0)
        _NOWHERE.truncate()
