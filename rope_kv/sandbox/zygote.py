"""The parent of the workers of one submission: it imports what they need, and forks them.

It never sees the code under test. What it does is asked for on its control socket; when that is
closed, it ends, and its workers with it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

from . import kernel, wire
from .worker import Worker

# What a file of the exercise may well import; a worker may be unable to, later.
# fmt: off
_IMPORTED = (
    "abc", "array", "bisect", "builtins", "cmath", "collections", "contextlib", "copy", "ctypes",
    "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "gc", "hashlib",
    "heapq", "inspect", "io", "itertools", "json", "logging", "math", "numbers", "operator",
    "pathlib", "pickle", "pprint", "queue", "random", "re", "statistics", "string", "struct",
    "textwrap", "threading", "time", "traceback", "types", "typing", "unittest", "uuid",
    "warnings", "weakref",
    "numpy.random", "numpy.linalg", "numpy.fft", "numpy.polynomial", "numpy.testing",
)
# fmt: on
_NOT_QUIET = {"antigravity", "this", "idlelib", "lib2to3", "tkinter", "turtle", "turtledemo"}


def main(descriptor: int, level: str, memory: int, readable: list[str], needed: list[str]) -> None:
    """Serve the control socket `descriptor` until it is closed.

    A worker may have `memory` bytes of address space and, where the `level` is "kernel" or
    "bwrap", read what is in `readable` and no other file. `needed` are some of these, which tell
    whether another user could read them too.
    """
    control = socket.socket(fileno=descriptor)
    try:
        for name in _IMPORTED:
            with contextlib.suppress(ImportError):  # Not on every machine.
                importlib.import_module(name)
        _forget_the_package()
        gc.collect()
        gc.freeze()  # A worker does not look through what it has from here, nor copy it.
        confined = level != "process"
        kernel.set_dumpable(False)
        if not confined and not kernel.stays_readable(needed):
            _import_all()
        kernel.drop_root(needed, anyway=not confined)
        if confined:
            kernel.no_new_privileges()
            kernel.restrict_files(readable, writable=[os.devnull])
    except Exception as error:
        control.sendall(wire.UNABLE + f"{type(error).__name__}: {error}".encode()[:500])
        return
    control.sendall(wire.READY)

    def seal() -> None:
        kernel.limit_resources(memory)
        if confined:
            kernel.restrict_calls()

    _serve(control, seal)


def _import_all() -> None:
    """Import the whole standard library, for workers that cannot read it."""
    for name in sorted(sys.stdlib_module_names - _NOT_QUIET):
        if not name.startswith("_"):
            with contextlib.suppress(BaseException):
                importlib.import_module(name)


def _forget_the_package() -> None:
    """Leave no module of the package where the code under test would find it."""
    for name in list(sys.modules):
        if name.partition(".")[0] == "rope_kv":
            del sys.modules[name]
    sys.argv[:] = [""]


def _serve(control: socket.socket, seal: Callable[[], None]) -> None:
    workers: set[int] = set()
    while True:
        content, descriptors, _, _ = socket.recv_fds(control, wire.REQUEST.size, 1)
        if not content:
            for pid in workers:
                _end(pid)
            return
        what, pid = wire.REQUEST.unpack(content)
        if what == b"A":
            for one in workers:
                _end(one)
            workers.clear()
            control.sendall(wire.REPLY.pack(0))
        elif what == b"F":
            pid = os.fork()
            if pid == 0:
                control.close()
                _become_worker(descriptors[0], seal)
            os.close(descriptors[0])
            workers.add(pid)
            control.sendall(wire.REPLY.pack(pid))
        else:
            workers.discard(pid)
            control.sendall(wire.REPLY.pack(_end(pid)))


def _become_worker(descriptor: int, seal: Callable[[], None]) -> NoReturn:
    status = 1
    try:
        kernel.die_with_parent()
        Worker(descriptor, seal).serve()
        status = 0
    finally:
        os._exit(status)


def _end(pid: int) -> int:
    """Kill a worker, if it still lives, and return how it ended (os.waitpid)."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        return os.waitpid(pid, 0)[1]
    return -1
