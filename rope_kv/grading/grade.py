"""A whole class, from what was handed in to what came of it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor
from pathlib import Path
from typing import NamedTuple

from ..sandbox.submission import read_source
from ..testing.loading import LoadError, SpecError
from ..testing.plain import one_line
from . import submissions, work
from .crews import Crew, crew_for
from .display import Seen
from .publishing import Handed, publish
from .publishing import harvest as keep_cases
from .rows import MISSING, Row
from .running import LostError, run
from .store import Store
from .submission import Submission
from .work import Outcome, Settings

# So many files for each that works make it worth while to find out how long one takes.
LARGE = 20
# A large cluster need not be warmed up whole.
MOST_REFERENCES = 64


class GradingError(Exception):
    """A class cannot be graded here; the message says why and what to do."""


class Class(NamedTuple):
    """What came of a class: a row for each student, and how many files are not checked yet.

    `stopped` says why not, "" where nothing stopped it.
    """

    rows: list[Row]
    left: int
    stopped: str = ""


def grade(
    sources: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    file_name: str = "",
    settings: Settings | None = None,
    executor: str | Executor | None = None,
    jobs: int | None = None,
    resume: bool = False,
    harvest: str | Path | None = None,
    time_limit: float | None = None,
    seen: Seen | None = None,
) -> Class:
    """Check what a class handed in, and write what came of it to a folder.

    Every file runs isolated and is judged by the exercise, whatever it declares. Files with the
    same bytes are checked once.

    Parameters
    ----------
    sources : paths or patterns
        Files, folders, lists or exports; see `submissions.find`.
    out : folder
        New, or that of the same class. Where it is among the sources, it is no student's.
    file_name : str
        Which file to check where a student has several.
    settings : Settings, optional
        What decides a verdict.
    executor : Executor or str, optional
        Who does the work; by default as many processes here as there are cores. See `crew_for`.
        Each of these imports the script that was started: it calls this under
        `if __name__ == "__main__":`.
    jobs : int, optional
        How many files are checked at a time.
    resume : bool
        Whether to go on with the class in that folder.
    harvest : folder, optional
        Where to keep a file for each distinct counterexample.
    time_limit : seconds, optional
        After that time no file is begun.
    seen : Seen, optional
        Shows what is going on.

    Raises
    ------
    SubmissionsError, StoreError, CrewError, GradingError
        Where there is nothing to grade, or it cannot be done; in one sentence.

    """
    settings, seen = settings or Settings(), seen or Seen()
    sources = [sources] if isinstance(sources, str | Path) else sources
    store = Store(Path(out))
    ours = [Path(folder) for folder in (out, harvest) if folder is not None]
    handed, paths = _handed(submissions.find(sources, file_name, seen.note, ours))
    failed: dict[str, Outcome] = {}
    with store.opened(settings, resume):
        todo = [digest for digest in paths if not store.is_done(digest)]
        seen.found(len(handed), len(paths), len(todo))
        until = None if time_limit is None else time.monotonic() + time_limit

        def read(digest: str) -> bytes:
            return read_source(paths[digest])

        def ended(outcome: Outcome) -> None:
            if outcome.is_done:
                store.keep(outcome)
                left.discard(outcome.digest)
            else:
                failed[outcome.digest] = outcome
            seen.ended(outcome)

        stopped, left = "", set(todo)
        try:
            if todo:
                with crew_for(executor, jobs) as crew:
                    _warm_up(crew, settings, seen, len(todo))
                    run(todo, read, settings, crew, ended, seen.tick, until)
        except KeyboardInterrupt:
            stopped = "interrupted"
        except LostError as error:
            stopped = str(error)
        finally:
            seen.over()
        if len(left) > len(failed) and not stopped:
            stopped = "the time limit was reached"
        rows = publish(store, handed, failed, settings, seen.note)
        if harvest is not None:
            keep_cases(store, paths, Path(harvest))
    return Class(rows, len(left), stopped)


def stored_cases(places: Iterable[Path]) -> tuple[str, ...]:
    """Return the content of stored counterexamples, but of those that no student is asked for.

    CounterexampleError where a file is none, or a folder has none.
    """
    from ..testing.capabilities import NOTHING_DECLARED
    from ..testing.counterexample import CounterexampleError, files_in, load
    from ..testing.property import properties_for

    asked = properties_for(NOTHING_DECLARED)
    kept = []
    for place in places:
        paths = files_in([place])
        if not paths:
            raise CounterexampleError(f"no counterexample in {place}: name another folder")
        for path in paths:
            if load(path).property in asked:
                kept.append(path.read_text(encoding="utf-8"))
    return tuple(kept)


def _handed(found: Iterable[Submission]) -> tuple[list[Handed], dict[str, Path]]:
    """Return what each student handed in, and the file of each digest."""
    found = list(found)
    stems = submissions.folder_names(found)
    handed: list[Handed] = []
    paths: dict[str, Path] = {}
    for one in found:
        stem = stems[one.name]
        if one.file is None:
            handed.append(Handed(one.name, "", stem, word=MISSING, problem=one.problem))
            continue
        shown = one_line(str(one.file))
        try:
            digest = work.digest_of(read_source(one.file))
        except LoadError as error:
            problem = one_line(str(error))
            handed.append(Handed(one.name, shown, stem, word="LOAD_ERROR", problem=problem))
        except SpecError as error:
            handed.append(Handed(one.name, shown, stem, problem=one_line(str(error))))
        else:
            handed.append(Handed(one.name, shown, stem, digest))
            paths.setdefault(digest, one.file)
    return handed, paths


def _warm_up(crew: Crew, settings: Settings, seen: Seen, count: int) -> None:
    """Check the reference once for each that works, and say how long the class will take.

    GradingError where the reference does not pass: then nothing can be judged here.
    """
    seen.warming_up(crew.jobs)
    outcomes = _references(crew, settings, count)
    for outcome in outcomes:
        word = outcome.verdict["verdict"]
        if word != "PASS":
            why = outcome.verdict["message"] or (
                "are --memory, --call-timeout and --each-time-limit too small for this machine?"
            )
            raise GradingError(
                f"a right solution does not pass here, so no file can be judged: {word}, {why}"
            )
    quickest = min(outcome.seconds for outcome in outcomes)
    seen.begins(crew.jobs, quickest * math.ceil(count / crew.jobs))


def _references(crew: Crew, settings: Settings, count: int) -> list[Outcome]:
    """Return what came of the reference, twice for each that works where the class is large.

    The first time a process draws its cases, which takes as long again.
    """
    rounds = 2 if count > LARGE * crew.jobs else 1
    many = rounds * min(crew.jobs, count, MOST_REFERENCES)
    try:
        futures = [
            crew.submit(work.check_reference, settings, work.versions()) for _ in range(many)
        ]
        return [future.result() for future in futures]
    except Exception as error:  # Anybody may have written an executor.
        said = one_line(f"{type(error).__name__}: {error}")
        if isinstance(error, BrokenExecutor):
            said += '; a script must call grade under if __name__ == "__main__"'
        raise GradingError(f"the executor cannot check a file: {said}") from None
