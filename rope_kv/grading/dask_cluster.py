"""A dask cluster does the work: many machines, each of which may be lost at any time."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from ..testing.plain import one_line
from . import work
from .crews import Crew, CrewError

SECONDS_TO_ANSWER = 10
# How often dask has a check again that has raised an error; it is `running` that counts deaths.
RETRIES = 2


@contextlib.contextmanager
def crew_of(address: str, jobs: int | None) -> Iterator[Crew]:
    """Give the crew of the scheduler at HOST:PORT; the work of a lost worker is done by another.

    CrewError where it is not to be had.
    """
    shown = one_line(address)
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise CrewError(f"there is no executor 'dask://{shown}': name dask://HOST:PORT")
    try:
        import distributed  # noqa: F401 - what it logs is kept quiet from here
    except ImportError:
        raise CrewError(
            "--executor dask://HOST:PORT needs dask: pip install 'rope_kv[cluster]'"
        ) from None
    with _quiet():
        try:
            client = _client(f"tcp://{address}")
        except Exception as error:
            why = one_line(str(error)) or "it is none, or busy"
            raise CrewError(f"no dask scheduler answers at {shown}: {why}") from None
        with client:
            try:
                client.wait_for_workers(1, timeout=SECONDS_TO_ANSWER)
            except TimeoutError:
                raise CrewError(
                    f"the dask cluster at {shown} has no workers: start some first"
                ) from None
            # A worker checks one file at a time, however many threads it has.
            workers = len(client.nthreads())
            client.register_worker_callbacks(work.in_process_of_its_own)
            executor = client.get_executor(pure=False, retries=RETRIES)
            yield Crew(None, executor, jobs or workers or 1)


def _client(address: str) -> Any:
    """Return a client of the scheduler at an address; an error where there is none in time.

    dask itself would wait for ever where something else listens there.
    """
    from distributed import Client

    answer: Future[Any] = Future()

    def connect() -> None:
        try:
            answer.set_result(Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False))
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=connect, daemon=True).start()
    return answer.result(2 * SECONDS_TO_ANSWER)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep dask from printing what it logs: whatever matters is told in a sentence of ours."""
    names = [name for name in logging.root.manager.loggerDict if _is_of_dask(name)]
    loggers = [logging.getLogger(name) for name in names]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for one, level in zip(loggers, before, strict=True):
            one.setLevel(level)


def _is_of_dask(name: str) -> bool:
    return name.partition(".")[0] in ("dask", "distributed", "tornado")
