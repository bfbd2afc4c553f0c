"""Finding the code under test: a file, a module, an attribute of one, or an object."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

from .capabilities import CapabilityError
from .forms import dtype_of
from .implementation import PARTS, Home, InProcess, quiet, told

_FILE_AND_ATTRIBUTE = re.compile(r"(?P<file>.+\.py)(?::(?P<attribute>[A-Za-z_][\w.]*))?\Z", re.S)
_MODULE_AND_ATTRIBUTE = re.compile(r"[A-Za-z_][\w.]*(?::[A-Za-z_][\w.]*)?\Z")
NO_BFLOAT16 = "bfloat16 needs ml_dtypes"


class SpecError(ValueError):
    """What was named is not there, or is not something that can be checked."""


class LoadError(Exception):
    """The code under test could not be loaded; the message is one sentence.

    `isolation` is where it was to be loaded, as `Implementation.isolation`.
    """

    def __init__(self, message: str, isolation: str = "none") -> None:
        super().__init__(message)
        self.isolation = isolation


def load(target: Any) -> InProcess:
    """Return the implementation that `target` names.

    `target` is "file.py", "file.py:attribute", "package.module", "package.module:attribute", or
    any object that has the functions. SpecError where there is no such thing, LoadError where
    the code itself fails while it loads.
    """
    if isinstance(target, Path):
        target = str(target)
    if not isinstance(target, str):
        return _opened(usable(target), getattr(target, "__name__", type(target).__name__))
    if (named := file_and_attribute(target)) is not None:
        return _load_file(*named)
    if _MODULE_AND_ATTRIBUTE.match(target):
        name, _, attribute = target.partition(":")
        module = _module(name)
        code = usable(_attribute(module, attribute, name))
        return _opened(code, target, known_cases=_known_cases(module, attribute))
    raise SpecError(
        f"cannot tell what {target!r} is: give file.py, file.py:name, a module or module:name"
    )


def file_and_attribute(target: Any) -> tuple[Path, str] | None:
    """Return the file that a target names and the attribute in it, or None if it names no file."""
    matched = _FILE_AND_ATTRIBUTE.match(str(target)) if isinstance(target, str | Path) else None
    return (Path(matched["file"]), matched["attribute"] or "") if matched else None


def titled(file: str, attribute: str) -> str:
    """Return what the implementation in a file, or in an attribute of it, is called."""
    return f"{file}:{attribute}" if attribute else file


def usable(code: Any) -> Any:
    """Return the code, unless it is a class whose methods need an instance."""
    if isinstance(code, type) and any(
        inspect.isfunction(inspect.getattr_static(code, name, None)) for name in PARTS
    ):
        raise SpecError(f"{code.__name__} is a class: name an instance of it")
    return code


def _load_file(file: Path, attribute: str) -> InProcess:
    name = titled(file.name, attribute)
    path = file.resolve()
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        raise SpecError(f"there is no file {file}") from None
    except OSError as error:
        raise SpecError(f"{file} cannot be read: {error.strerror}") from None
    return from_source(source, name, path, attribute)


def from_source(
    source: bytes, name: str, path: Path, attribute: str = "", *, at_home: bool = True
) -> InProcess:
    """Return the implementation that the bytes of a Python file define.

    They are bytes so that the file's own declaration of a coding counts. `name` is what the
    implementation is called in messages, `path` what the file is called in tracebacks and as
    `__file__`; `attribute` is the name in the file that has the functions, "" for the file
    itself. `at_home`, the code runs in the folder of `path` and finds its neighbours there.
    """
    try:
        with quiet():
            compiled = compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise LoadError(f"{name} cannot be loaded: {told(error, str(path))}") from None

    def reload() -> tuple[Any, Home]:
        module, home = _executed(compiled, path, name, at_home)
        return usable(_attribute(module, attribute, name)), home

    code, home = reload()
    return _opened(code, name, home=home, reload=reload, path=str(path))


def _opened(code: Any, name: str, **more: Any) -> InProcess:
    """Return the implementation, if what it declares can be understood and had."""
    try:
        with quiet():
            impl = InProcess(code, name, **more)
    except CapabilityError as error:
        raise LoadError(f"{name} cannot be loaded: {error}") from None
    except (Exception, SystemExit) as error:
        what = told(error, more.get("path", ""))
        raise LoadError(f"{name} cannot be loaded: what it declares raised {what}") from None
    try:
        dtype_of(impl.capabilities.dtype)
    except ImportError:
        raise LoadError(
            f"{name} cannot be loaded: {NO_BFLOAT16}: pip install 'rope_kv[bfloat16]'"
        ) from None
    return impl


def _executed(
    compiled: types.CodeType, path: Path, name: str, at_home: bool
) -> tuple[types.ModuleType, Home]:
    """Return a new module in which the code of a file has run, and its home."""
    module = types.ModuleType("submission_" + re.sub(r"\W", "_", path.stem))
    module.__file__ = str(path)
    home = Home(str(path.parent) if at_home else "")
    home.modules[module.__name__] = module
    there = contextlib.chdir(path.parent) if at_home else contextlib.nullcontext()
    try:
        with home.at_home(), quiet(), there:
            exec(compiled, module.__dict__)
    except (Exception, SystemExit) as error:
        raise LoadError(f"{name} cannot be loaded: it raised {told(error, str(path))}") from None
    return module, home


def _module(name: str) -> types.ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        with quiet():
            module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            hint = ""
            if Path(f"{name}.py").is_file():
                hint = f"; did you mean {name}.py?"
            elif Path(name).is_file():
                hint = f"; the file {name} does not end in .py"
            raise SpecError(f"there is no module {name}{hint}") from None
        # Not above: a worker imports this module, and can read no adapter.
        from ..adapters import package_of

        if package := package_of(name):
            needed = f"it needs {package}: pip install 'rope_kv[{package}]'"
            raise LoadError(f"{name} cannot be loaded: {needed}") from None
        raise LoadError(f"{name} cannot be loaded: it raised {told(error, '')}") from None
    except (Exception, SystemExit) as error:
        raise LoadError(f"{name} cannot be loaded: it raised {told(error, '')}") from None
    if getattr(module, "__file__", None) is None and hasattr(module, "__path__"):
        raise SpecError(f"{name} is a folder without code of its own: name a file in it")
    return module


def _known_cases(module: types.ModuleType, attribute: str) -> Path | None:
    """Return where the cases of known failures are by default: known/, beside the module."""
    if module.__file__ is None:
        return None
    path = Path(module.__file__)
    return path.parent / "known" / path.stem / attribute


def _attribute(code: Any, attribute: str, where: str) -> Any:
    for part in filter(None, attribute.split(".")):
        try:
            code = getattr(code, part)
        except AttributeError:
            raise SpecError(f"{where} has no {attribute!r}") from None
    return code
