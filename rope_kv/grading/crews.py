"""Who does the work: an executor, of this machine or of a cluster, and how to get a new one.

`check` and its arguments are all that an executor is given, so any will do.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import connection
from pathlib import Path
from typing import Any

from ..testing.plain import one_line
from . import work

EXECUTORS = "dask://HOST:PORT, or module:name of a concurrent.futures.Executor"
IN_THIS_PROCESS = "--executor concurrent.futures:ThreadPoolExecutor"


class CrewError(ValueError):
    """The executor is not to be had, or no more; the message says why and what to do."""


class Crew:
    """An executor for `jobs` checks at a time, and how to get another when its processes die."""

    def __init__(self, make: Callable[[], Executor] | None, executor: Executor, jobs: int) -> None:
        self._make = make
        self.executor = executor
        self.jobs = jobs

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have something done."""
        with _interrupts_put_off():
            return self.executor.submit(task, *arguments)

    def renew(self) -> None:
        """Take a new executor in the place of one that is broken; CrewError where none is left."""
        if self._make is None:
            raise CrewError("the executor has ended before the class was through")
        _end(self.executor)
        self.executor = self._make()


@contextlib.contextmanager
def crew_for(named: str | Executor | None, jobs: int | None) -> Iterator[Crew]:
    """Give the crew that is named: by default as many processes here as there are cores.

    CrewError where it is not to be had. An executor that was made elsewhere is not ended here.
    """
    if isinstance(named, Executor):
        yield Crew(None, named, jobs or cores())
    elif named is not None and named.startswith("dask://"):
        from .dask_cluster import crew_of

        with crew_of(named.removeprefix("dask://"), jobs) as crew:
            yield crew
    else:
        crew = _local(jobs or cores()) if named is None else _imported(named, jobs or cores())
        try:
            yield crew
        finally:
            _end(crew.executor)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _local(jobs: int) -> Crew:
    def make() -> Executor:
        try:
            # Not forked: a thread of this process may hold a lock.
            context = multiprocessing.get_context("spawn")
            return ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
        except (OSError, ImportError, NotImplementedError) as error:
            raise CrewError(
                f"no processes can be started here ({_said(error)}): {IN_THIS_PROCESS} does the "
                "work in this one"
            ) from None

    return Crew(make, make(), jobs)


@contextlib.contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """Hold Ctrl-C back in the block, and from a process started in it until `_begin`.

    It would die of it while it imports, with a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Make a process one of a pool: it leaves Ctrl-C to its parent, and ends with it."""
    # Not SIG_IGN: the processes of a student's file would inherit that.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    work.in_process_of_its_own()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _end(executor: Executor) -> None:
    """End an executor without waiting for what it is doing, which nobody wants any more."""
    is_pool = isinstance(executor, ProcessPoolExecutor)
    processes = list((getattr(executor, "_processes", None) or {}).values()) if is_pool else []
    # Whatever an executor that others wrote says to this: what was done stays done.
    with contextlib.suppress(Exception):
        executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    for process in processes:
        process.join(5)


def _imported(named: str, jobs: int) -> Crew:
    """Return the crew of an Executor, or of what makes one, named module:name."""
    shown = one_line(named)
    found = _found(named, shown)
    if isinstance(found, Executor):
        return Crew(None, found, jobs)

    def make() -> Executor:
        with _told(shown):
            executor = found()
        if not isinstance(executor, Executor):
            kind = type(executor).__name__
            raise CrewError(f"{shown} makes an object of type {kind}: name {EXECUTORS}")
        return executor

    return Crew(make, make(), jobs)


def _found(named: str, shown: str) -> Any:
    module, _, attribute = named.partition(":")
    if not module or not attribute:
        raise CrewError(f"there is no executor {shown!r}: name {EXECUTORS}")
    # As for an implementation: a module beside the class is found, whatever started this process.
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    with _told(shown):
        found = getattr(importlib.import_module(module), attribute)
    if not isinstance(found, Executor) and not callable(found):
        kind = type(found).__name__
        raise CrewError(f"{shown} is an object of type {kind}: name {EXECUTORS}")
    return found


@contextlib.contextmanager
def _told(shown: str) -> Iterator[None]:
    """Make one sentence of whatever goes wrong with the code of an executor."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise CrewError(f"the executor {shown} cannot be had: {_said(error)}") from None


def _said(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}")
