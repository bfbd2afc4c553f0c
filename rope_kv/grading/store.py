"""The folder of a class: what was done is on the disk before it counts as done.

    OUT/results.csv, results.jsonl, index.html, reports/   what people read, made anew at each end
    OUT/state/done/                                        what came of each file, by its digest
    OUT/state/settings.json, lock, unfinished/             what it was asked for, and by whom

A file takes its name when all of it is written. What was being written when the power went is in
`unfinished`, where nobody reads. A folder that is not that of a class is left as it is, and no
symbolic link in it is followed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..testing.plain import one_line
from .submission import LINK
from .work import Outcome, Settings, digest_of, versions

SCHEMA = "rope-kv/class/1"
REPORTS = "reports"
ANOTHER = "choose another folder for --out"
# What a class leaves behind that was cut short before anything was done.
_BEGUN = {"done", "lock", "settings.json", "unfinished"}


class StoreError(ValueError):
    """The folder named cannot be that of this class; the message says why and what to do."""


class Store:
    """The folder of a class, which no other process uses meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports = folder / REPORTS
        self._state = folder / "state"
        self._settings = self._state / "settings.json"
        self._done = self._state / "done"
        self._unfinished = self._state / "unfinished"

    @contextlib.contextmanager
    def opened(self, settings: Settings, resume: bool) -> Iterator[None]:
        """Use the folder in the block; StoreError where it is not one for these settings."""
        self._expect_it_is_ours(resume)
        self._make()
        with self._locked():
            # Another process may have begun a class here meanwhile.
            self._expect_it_is_ours(resume)
            self._forget_unfinished()
            self._expect_the_same(facts_of(settings))
            yield

    def outcome(self, digest: str) -> Outcome | None:
        """Return what came of a file, if it is known and was written down whole."""
        try:
            mark, stored = self._path(digest).read_text(encoding="utf-8").split("\n", 1)
            if mark != digest_of(stored.encode()):
                return None
            outcome = Outcome(**json.loads(stored))
        except (OSError, ValueError, TypeError):
            return None
        return outcome if outcome.digest == digest else None

    def is_done(self, digest: str) -> bool:
        """Return whether it is known what came of a file."""
        return self.outcome(digest) is not None

    def keep(self, outcome: Outcome) -> None:
        """Write down what came of a file, so that it stays whatever happens."""
        stored = json.dumps(outcome._replace(seconds=0.0)._asdict())
        # A disk that fails may keep a file that has another content, or none.
        marked = f"{digest_of(stored.encode())}\n{stored}"
        self.write(self._path(outcome.digest), marked, lasting=True)

    def write(self, path: Path, content: str, *, lasting: bool = False) -> None:
        """Write a file whole; on the disk before this returns where it is to be `lasting`."""
        unfinished = self._unfinished / path.name
        try:
            unfinished.unlink(missing_ok=True)
            with open(unfinished, "x", encoding="utf-8", newline="") as file:
                file.write(content)
                if lasting:
                    file.flush()
                    os.fsync(file.fileno())
            path.parent.mkdir(exist_ok=True)
            os.replace(unfinished, path)
        except OSError as error:
            raise cannot_write(path, error) from None
        if lasting:
            _sync_folder(path.parent)

    def remove(self, path: Path) -> None:
        """Take away a file, if it is there."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"cannot remove {path}: {error.strerror}") from None

    def _path(self, digest: str) -> Path:
        return self._done / f"{digest}.jsonl"

    def _expect_it_is_ours(self, resume: bool) -> None:
        """Raise StoreError where the folder is another's, or a class that is not to be resumed."""
        try:
            if not os.path.lexists(self.folder):
                return
            if not self.folder.is_dir():
                raise StoreError(f"{self.folder} is not a folder: choose another name for --out")
            for folder in (self._state, self._done, self._unfinished, self.reports):
                if folder.is_symlink():
                    raise StoreError(f"{folder} {LINK}: {ANOTHER}")
            is_new = self._is_new()
            is_ours = bool(self._begun_with()) if os.path.lexists(self._settings) else is_new
        except OSError as error:
            raise StoreError(f"cannot read {self.folder}: {error.strerror}") from None
        if not is_ours:
            raise StoreError(f"{self.folder} is not empty, and holds no class: {ANOTHER}")
        if not is_new and not resume:
            raise StoreError(
                f"{self.folder} holds a class already: add --resume to go on with it, or choose "
                "another folder"
            )

    def _is_new(self) -> bool:
        """Return whether there is nothing but what the first moments of a class leave."""
        return (
            _names(self.folder) <= {"state"}
            and _names(self._state) <= _BEGUN
            and not _names(self._done)
            and _names(self._unfinished) <= {self._settings.name}
        )

    def _begun_with(self) -> dict[str, Any]:
        """Return what the class was begun with; {} where the file is not one of ours."""
        try:
            found = json.loads(self._settings.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise StoreError(f"{self._settings} cannot be read: {ANOTHER}") from None
        schema = found.get("schema") if isinstance(found, dict) else None
        is_ours = isinstance(schema, str) and schema.startswith("rope-kv/class/")
        return found if is_ours else {}

    def _make(self) -> None:
        try:
            for folder in (self._done, self._unfinished):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make {self.folder}: {error.strerror}") from None
        for folder in (self.folder.absolute().parent, self.folder, self._state):
            _sync_folder(folder)

    def _forget_unfinished(self) -> None:
        try:
            shutil.rmtree(self._unfinished)
            self._unfinished.mkdir()
        except OSError as error:
            raise StoreError(f"cannot write in {self.folder}: {error.strerror}") from None

    def _expect_the_same(self, facts: dict[str, Any]) -> None:
        """Raise StoreError where the class was begun with other settings, or versions."""
        if self._is_new():
            self.write(self._settings, json.dumps(facts, indent=1) + "\n", lasting=True)
            return
        found = self._begun_with()
        for name, value in facts.items():
            if (was := found.get(name)) != value:
                raise StoreError(
                    f"{self.folder} was begun with {_difference(name, was, value)}: results of "
                    f"both would be mixed; go on with the same, or {ANOTHER}"
                )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes out; a process that ends in any way leaves no lock behind."""
        lock = self._state / "lock"
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise StoreError(f"cannot write {lock}: {error.strerror}") from None
        try:
            self._lock(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(
                f"{self.folder} is in use by another rope-kv grade: wait until it has ended"
            ) from None
        except OSError as error:
            raise StoreError(
                f"{self.folder} cannot be locked: {error.strerror}; {ANOTHER}, on another disk"
            ) from None


def cannot_write(path: Path, error: OSError) -> StoreError:
    """Return what is said where the disk is full, or read-only."""
    return StoreError(
        f"cannot write {path}: {error.strerror or error}; what was done is kept, and --resume "
        "goes on with it"
    )


def facts_of(settings: Settings) -> dict[str, Any]:
    """Return what decides the verdicts of a class: what was asked for, and the versions."""
    facts: dict[str, Any] = {"schema": SCHEMA}
    facts |= {name: value for name, value in settings._asdict().items() if name != "first"}
    facts["points"] = [list(pair) for pair in settings.points]
    facts["first"] = settings.first_digest()
    return facts | dict(versions())


def _difference(name: str, was: Any, value: Any) -> str:
    """Return in which setting or version two runs differ, in the words of the command."""
    option = "--each-time-limit" if name == "time_limit" else f"--{name.replace('_', '-')}"
    if name in ("first", "points"):
        return f"other {option}"
    if name not in Settings._fields:
        option = name

    def said(one: Any) -> str:
        if isinstance(one, bool) or one is None:
            return option if one else f"no {option}"
        return f"{option} {one_line(str(one)):.60}"

    return f"{said(was)}, and this is with {said(value)}"


def _names(folder: Path) -> set[str]:
    return set(os.listdir(folder)) if os.path.lexists(folder) else set()


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
