"""The code under test, as the properties see it, and called in this process.

`Implementation` is all that a property knows. Where the code runs is the business of the class
behind it; here it runs in this process. How it is found is in loading.py.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

from .capabilities import NOTHING_DECLARED, Capabilities
from .comparison import Broken, matrix
from .forms import dtype_of
from .plain import one_line
from .replacing import standing_in
from .started import Batch, Session

FUNCTIONS = ("rope_freqs", "apply_rope", "decode_incremental")
# Each function that a property judges, and the capability that says whether it is there. A
# session and a batch are judged as one, by all their methods, and other paths together.
PARTS = {
    "rope_freqs": "rope_freqs",
    "apply_rope": "apply_rope",
    "decode_incremental": "decode_incremental",
    "convert_layout": "convert_layout",
    "start": "sessions",
    "start_batch": "batch",
    "paths": "paths",
}
_ITSELF = object()  # stands for the code, where a method of something it has started is not meant


# What may be an attribute instead of a method.
ATTRIBUTES = ("length",)


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

    @property
    def capabilities(self) -> Capabilities:
        """What it declares beyond the exercise."""

    def rope_freqs(self, d: int, *base: float, **named: Any) -> Any:
        """Call rope_freqs."""

    def apply_rope(self, x: Any, *arguments: Any, **named: Any) -> Any:
        """Call apply_rope."""

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental, or feed a session row by row where there is none."""

    def convert_layout(self, x: Any, source: str, target: str) -> Any:
        """Call convert_layout."""

    def path(self, name: str, decoder: Any, x_embedded: Any) -> Any:
        """Call another function that is declared to do what decode_incremental does."""

    def start(self, decoder: Any, **named: Any) -> Session:
        """Start a session."""

    def start_batch(self, decoder: Any, size: int, **named: Any) -> Batch:
        """Start a batch."""

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
    `known_failures` are the properties that it says to break, and why; `known_cases` is the
    folder of the cases that show them, where it does not name another.
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
        capabilities: Capabilities | None = None,
        known_cases: Path | None = None,
    ) -> None:
        self.name = name
        self.known_failures: dict[str, str] = dict(getattr(code, "known_failures", {}))
        self.known_cases = Path(own) if (own := getattr(code, "known_cases", "")) else known_cases
        self.capabilities = capabilities or Capabilities.of(getattr(code, "capabilities", {}))
        self._code = code
        self._home = home
        self._reload = reload
        self._path = path
        self._replaced = replaced

    def rope_freqs(self, d: int, *base: float, **named: Any) -> Any:
        """Call rope_freqs."""
        return self._call("rope_freqs", (d, *base), named)

    def apply_rope(self, x: Any, *arguments: Any, **named: Any) -> Any:
        """Call apply_rope."""
        return self._call("apply_rope", (x, *arguments), named)

    def decode_incremental(self, decoder: Any, x_embedded: Any) -> Any:
        """Call decode_incremental, or feed a session row by row where there is none."""
        has = [
            callable(getattr(self._code, name, None)) for name in ("decode_incremental", "start")
        ]
        if has == [False, True]:
            # Integers are for decode_incremental: a session is given rows as it declares them.
            x = np.asarray(x_embedded, dtype=dtype_of(self.capabilities.dtype))
            session, rows = self.start(decoder), [x[:0]]
            for t in range(len(x)):
                row = session.feed(x[t : t + 1])
                matrix(row, (1, x.shape[1]), "feed")
                # A copy, since whether the next call writes into it is another question.
                rows.append(np.array(row).reshape(1, x.shape[1]))
            return np.concatenate(rows)
        return self._call("decode_incremental", (decoder, x_embedded), {})

    def convert_layout(self, x: Any, source: str, target: str) -> Any:
        """Call convert_layout."""
        return self._call("convert_layout", (x, source, target), {})

    def path(self, name: str, decoder: Any, x_embedded: Any) -> Any:
        """Call another function that is declared to do what decode_incremental does."""
        return self._call(name, (decoder, x_embedded), {})

    def start(self, decoder: Any, **named: Any) -> Session:
        """Start a session."""
        return Session(self, self._call("start", (decoder,), named))

    def start_batch(self, decoder: Any, size: int, **named: Any) -> Batch:
        """Start a batch."""
        return Batch(self, self._call("start_batch", (decoder, size), named))

    def on(self, started: Any, method: str, *arguments: Any) -> Any:
        """Call a method of what the code has started; what is no method is an attribute."""
        return self._call(method, arguments, {}, started)

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

    def declare_nothing(self) -> None:
        """Forget what the code declares: it is to be judged by the exercise alone."""
        self.capabilities, self.known_failures = NOTHING_DECLARED, {}

    def close(self) -> None:
        """Do nothing: nothing was started."""

    def _with(
        self, code: Any, home: Home | None, replaced: tuple[str, Callable[..., Any]] | None
    ) -> InProcess:
        return InProcess(
            code,
            self.name,
            home=home,
            reload=self._reload,
            path=self._path,
            replaced=replaced,
            capabilities=self.capabilities,
            known_cases=self.known_cases,
        )

    def _call(
        self, name: str, arguments: tuple[Any, ...], named: dict[str, Any], of: Any = _ITSELF
    ) -> Any:
        """Call a function of the code, or a method `of` something that the code has started."""
        code = self._code
        if self._replaced is not None and self._replaced[0] == name:
            return self._replaced[1](*arguments, **named)
        with contextlib.ExitStack() as around:
            if self._replaced is not None:
                code = around.enter_context(standing_in(code, name, *self._replaced))
            if self._home is not None:
                around.enter_context(self._home.at_home())
            around.enter_context(quiet())
            try:
                function = getattr(code if of is _ITSELF else of, name, None)
                if name in ATTRIBUTES and function is not None and not callable(function):
                    return function
                if callable(function):
                    return function(*arguments, **named)
                owner = self.name if of is _ITSELF else f"a {type(of).__name__}"
                broken = Broken(
                    f"{name} is missing: {owner} has no function of that name", "missing"
                )
            except KeyboardInterrupt:
                raise  # Someone wants to stop, and this is the only way to say so.
            except NotImplementedError as error:
                broken = Broken(f"{name} raised {told(error, self._path)}", "unwritten")
            except BaseException as error:
                broken = Broken(f"{name} raised {told(error, self._path)}", "raised")
        raise broken


def told(error: BaseException, path: str) -> str:
    """Return an exception in one line: type, message, and where in `path` it came from.

    That is the line, and where another function called the one with the line, the line of `path`
    that was called first: what a caller hands over wrongly is noticed by the function it calls.
    """
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
    if not lines:
        return text
    called = f", called from line {lines[0]}" if lines[0] != lines[-1] else ""
    return f"{text} (line {lines[-1]}{called})"


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
