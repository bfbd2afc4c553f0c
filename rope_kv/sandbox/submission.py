"""A file of code that nobody here wrote, and the processes that run it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

from ..testing.capabilities import NOTHING_DECLARED, Capabilities, CapabilityError
from ..testing.implementation import printable
from ..testing.loading import NO_BFLOAT16, LoadError, SpecError, titled
from . import wire
from .levels import Level
from .process import Deadline, GoneError, LateError, Worker
from .zygotes import give_back, start

LARGEST_FILE = 1 << 20  # bytes
# Loading may import; a call may not take as long.
LOADING = 5
ALONE = "isolated code has the standard library and numpy alone (--no-isolate runs it in process)"


class Limits(NamedTuple):
    """What one call may take: seconds, and bytes of address space for the process."""

    call_timeout: float = 2.0
    memory: int = 512 << 20


class Submission:
    """A file of code, and the processes that run it.

    `capabilities` are what it declared when it was first loaded; nothing before.
    """

    def __init__(
        self, source: bytes, name: str, attribute: str, level: Level | None, limits: Limits
    ) -> None:
        self.source = source
        self.name = name
        self.attribute = attribute
        self.limits = limits
        self.zygote = start(level, limits.memory)
        self.level = self.zygote.level
        self.capabilities = NOTHING_DECLARED
        self._has_declared = False
        self._is_over = False

    def load(self, seed: int) -> Worker:
        """Return a new worker that has loaded the file."""
        if self.zygote.is_closed:
            self.zygote = start(self.level, self.limits.memory)
        worker = self.zygote.fork()
        title = titled(self.name, self.attribute)
        seconds = LOADING * self.limits.call_timeout
        arguments = (self.source, self.name, self.attribute, seed)
        try:
            deadline = Deadline(seconds)
            worker.send(wire.pack(wire.LOAD, 0, *arguments), deadline)
            frame = worker.receive(deadline, wire.SMALLEST_CAP)
            if frame.kind == wire.LOADED:
                self._note(*frame.items)
                return worker
            if frame.kind != wire.FAILED:
                raise ValueError
            kind, text = map(printable, frame.items)
            if NO_BFLOAT16 in text:
                text = f"{title} cannot be loaded: {NO_BFLOAT16}; {ALONE}"
            elif "ModuleNotFoundError" in text:
                text += f"; {ALONE}"
        except CapabilityError as error:
            kind, text = "", f"{title} cannot be loaded: {printable(str(error))}"
        except LateError:
            kind, text = "", f"{title} cannot be loaded: it has not ended after {seconds:g} s"
        except GoneError:
            kind, text = "", f"{title} cannot be loaded: its process {worker.end()}"
        except (wire.WireError, ValueError, TypeError, LookupError, AttributeError):
            kind, text = "", f"{title} cannot be loaded: it sent what no file has to send"
        worker.end()
        if kind == "SpecError" and self.attribute:
            raise SpecError(text)
        raise LoadError(text, self.level)

    def _note(self, declared: dict[str, Any]) -> None:
        """Take what a worker says of the file for declared, if it can be."""
        if type(declared) is not dict:
            raise TypeError
        capabilities = Capabilities.of(declared)
        if capabilities.dtype == "bfloat16":
            raise CapabilityError(f"{NO_BFLOAT16}; {ALONE}")
        if not self._has_declared:
            self.capabilities, self._has_declared = capabilities, True

    def close(self) -> None:
        """End all processes that have seen the file."""
        if not self._is_over:
            self._is_over = True
            give_back(self.zygote, self.limits.memory)


def read_source(file: Path) -> bytes:
    """Return the bytes of a file that a stranger made: an ordinary file of a sensible size."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise SpecError(f"there is no file {file}") from None
    except OSError as error:
        if file.is_symlink():
            raise LoadError(
                f"{file.name} cannot be loaded: it is a symbolic link; name the file itself"
            ) from None
        raise SpecError(f"{file} cannot be read: {error.strerror}") from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise LoadError(f"{file.name} cannot be loaded: it is not an ordinary file")
        content = b""
        while len(content) <= LARGEST_FILE and (more := os.read(descriptor, LARGEST_FILE)):
            content += more
    finally:
        os.close(descriptor)
    if len(content) > LARGEST_FILE:
        raise LoadError(f"{file.name} cannot be loaded: it is larger than {LARGEST_FILE} bytes")
    return content
