"""The self-test of a worker: it tries what it must not be able to do, and tells what it could."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import threading
from collections.abc import Callable

READ, WRITE, MAKE, CONNECT = "read a file", "write a file", "make a file", "open a socket"
FORK, THREAD, SIGNAL = "start a process", "start a thread", "signal another process"
MEMORY, LIMITS = "read the memory of its parent", "raise its limits"


def not_refused(readable: str, folder: str) -> list[str]:
    """Return which of the forbidden actions succeeded.

    `readable` is a file that must not be read, `folder` one in which nothing must be made.
    """
    actions: dict[str, Callable[[], None]] = {
        READ: lambda: _read(readable),
        MAKE: lambda: _make(folder),
        WRITE: lambda: _write(folder),
        CONNECT: lambda: socket.socket().close(),
        FORK: _fork,
        THREAD: _start_thread,
        SIGNAL: lambda: os.kill(os.getppid(), 0),
        MEMORY: lambda: _read(f"/proc/{os.getppid()}/mem"),
        LIMITS: _raise_limits,
    }
    could = []
    for name, action in actions.items():
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            action()
            could.append(name)
    return could


def _read(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY))


def _make(folder: str) -> None:
    path = os.path.join(folder, f"rope_kv-{os.getpid()}-made")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.unlink(path)


def _write(folder: str) -> None:
    path = os.path.join(folder, f"rope_kv-{os.getpid()}-written")
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    try:
        os.write(descriptor, b"x")
    finally:
        os.close(descriptor)
        os.unlink(path)


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _start_thread() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def _raise_limits() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 1, most + 1))
