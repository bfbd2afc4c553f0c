"""What a hunt remembers: Hypothesis's example database, in a folder or on a Redis server.

It may be shared by runs, processes and machines: what one of them finds, the others try first. Its
entries are choices that a strategy makes, no code and no pickles: a stranger's entry is at worst a
case like any other.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

# .hypothesis is where Hypothesis keeps what it knows, and most projects ignore it already.
FOLDER = Path(".hypothesis") / "hunt"
SCHEMES = ("redis", "rediss")
SECONDS_TO_ANSWER = 5.0
# A database that does not answer is left alone for so long.
SECONDS_ALONE = 60.0
# So much of what it missed is told to it when it is back.
MOST_MISSED = 10_000
# Of what HypoFuzz keeps, the cases that cover the code count; the rest is for its dashboard.
_OF_HYPOFUZZ, _COVERING = b"hypofuzz.", b".hypofuzz.corpus"

Answer = TypeVar("Answer")


class DatabaseError(ValueError):
    """There is no such database to be had; the message says why and what to do."""


class Remembered(ExampleDatabase):
    """A database whose entries are those of one implementation, and that may go away.

    The key of an entry is the name of the implementation, then Hypothesis's own key, which comes
    from the text of the property alone: so it is the same on every machine that has this version.
    Names are not shared on purpose. Hypothesis forgets a case that breaks nothing any more, and
    what one implementation does right it would forget for all the others.
    """

    def __init__(self, kept_in: ExampleDatabase, of: str, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._kept_in = kept_in
        self._prefix = f"{of}\n".encode("utf-8", "replace")
        self._tell = tell
        self._is_told = False
        self._alone_until = 0.0
        self._missed: deque[tuple[bytes, bytes]] = deque(maxlen=MOST_MISSED)

    def save(self, key: bytes, value: bytes) -> None:
        """Keep an entry; later, where the database does not answer."""
        if not _is_wanted(key):
            return
        named = self._prefix + key
        if not self._asked(lambda: _saved(self._kept_in, named, value), False):
            self._missed.append((named, value))

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the entries of a key; none where the database does not answer."""
        if not _is_wanted(key):
            return ()
        return self._asked(lambda: tuple(self._kept_in.fetch(self._prefix + key)), ())

    def delete(self, key: bytes, value: bytes) -> None:
        """Forget an entry."""
        if _is_wanted(key):
            self._asked(lambda: self._kept_in.delete(self._prefix + key, value), None)

    def _asked(self, question: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Return what the database answers, or `otherwise`; it never ends a hunt."""
        if time.monotonic() < self._alone_until:
            return otherwise
        try:
            while self._missed:
                self._kept_in.save(*self._missed[0])
                self._missed.popleft()
            return question()
        except Exception as error:
            self._alone_until = time.monotonic() + SECONDS_ALONE
            if not self._is_told:
                self._is_told = True
                self._tell(
                    f"the database does not answer any more ({type(error).__name__}): the hunt "
                    "goes on without what others find, and asks it again every minute"
                )
            return otherwise


def remembered(named: str | None, of: str, tell: Callable[[str], None]) -> Remembered:
    """Return the database of an implementation in a folder, or on the server at a URL.

    DatabaseError where it is not to be had. `of` is what the implementation is called on every
    machine; `tell` is called once, if the database goes away later.
    """
    kept_in = _in_folder(named) if named is None or not _is_url(named) else _on_server(named)
    return Remembered(kept_in, of, tell)


def shown(named: str | None) -> str:
    """Return where a database is, without the password that a URL may hold."""
    if named is None or not _is_url(named):
        return str(named or FOLDER)
    scheme, _, rest = named.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _is_url(named: str) -> bool:
    return "://" in named


def _saved(database: ExampleDatabase, key: bytes, value: bytes) -> bool:
    database.save(key, value)
    return True


def _is_wanted(key: bytes) -> bool:
    return _OF_HYPOFUZZ not in key or key.endswith(_COVERING)


def _in_folder(named: str | None) -> ExampleDatabase:
    folder = FOLDER if named is None else Path(named)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseError(
            f"the database cannot be kept in {folder}: {error.strerror}: name another folder"
        ) from None
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise DatabaseError(
            f"the database cannot be kept in {folder}: it may not be written: name another folder"
        )
    return DirectoryBasedExampleDatabase(folder)


def _on_server(url: str) -> ExampleDatabase:
    if not _is_of_redis(url):
        raise DatabaseError(
            f"{shown(url)} is no database: give a folder, or a Redis server as redis://host:6379/0"
        )
    try:
        import redis
        from hypothesis.extra.redis import RedisExampleDatabase
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        raise DatabaseError(
            f"the database {shown(url)} is on a Redis server, and the package redis is not "
            "installed: pip install 'rope_kv[hunt]'"
        ) from None
    options: dict[str, Any] = {
        "socket_timeout": SECONDS_TO_ANSWER,
        "socket_connect_timeout": SECONDS_TO_ANSWER,
        "retry": Retry(NoBackoff(), 1),
    }
    try:
        server = redis.Redis.from_url(url, **options)
        server.ping()
    except Exception as error:
        raise DatabaseError(
            f"the database {shown(url)} does not answer: {error}: start the server, "
            "or name another database"
        ) from None
    return RedisExampleDatabase(server, key_prefix=b"rope_kv hunt:")


def _is_of_redis(url: str) -> bool:
    """Return whether a URL names a Redis server: its host, and perhaps a port and a number."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    number = parts.path.strip("/")
    return (
        parts.scheme in SCHEMES
        and bool(parts.hostname)
        and port != 0
        and (not number or number.isdecimal())
    )
