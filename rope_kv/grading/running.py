"""Having files checked, several at a time, until all are or there is no time left."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait

from ..testing.loading import LoadError, SpecError
from ..testing.plain import one_line
from . import work
from .crews import Crew, CrewError
from .work import Outcome, Settings

# How many more than can be worked on are handed over, so that nobody waits for the next.
AHEAD = 1
# A file that was being checked when so many processes died is checked alone, and then given up.
MOST_LOSSES = 2
# An executor that does not take a file so many times in a row will take none.
MOST_REFUSALS = 3
TICK = 0.2  # seconds

Read = Callable[[str], bytes]


class LostError(Exception):
    """The executor has broken, and there is no other."""


def run(
    digests: Iterable[str],
    read: Read,
    settings: Settings,
    crew: Crew,
    ended: Callable[[Outcome], None],
    tick: Callable[[], None] = lambda: None,
    until: float | None = None,
) -> None:
    """Have the files with these digests checked; tell what came of each as soon as it is there.

    `read` gives the bytes of a file when its turn comes. `tick` is called now and then. After
    `until`, by time.monotonic, no file is begun. LostError where the executor breaks for good.
    """
    _Run(read, settings, crew, ended, tick, until).through(iter(digests))


class _Run:
    def __init__(
        self,
        read: Read,
        settings: Settings,
        crew: Crew,
        ended: Callable[[Outcome], None],
        tick: Callable[[], None],
        until: float | None,
    ) -> None:
        self._read = read
        self._settings = settings
        self._crew = crew
        self._ended = ended
        self._tick = tick
        self._until = until
        self._running: dict[Future[Outcome], str] = {}
        self._again: deque[str] = deque()
        self._suspects: deque[str] = deque()
        self._losses: Counter[str] = Counter()
        self._refusals = 0

    def through(self, digests: Iterator[str]) -> None:
        while True:
            self._begin(digests)
            if not self._running:
                return
            done, _ = wait(self._running, TICK, FIRST_COMPLETED)
            for future in [one for one in self._running if one in done]:  # in their order
                self._take(future)
            self._tick()

    def _begin(self, digests: Iterator[str]) -> None:
        """Hand over as many files as are worked on at a time, and a few more."""
        while len(self._running) < self._crew.jobs + AHEAD and not self._is_over():
            digest = self._next(digests)
            if digest is None:
                return
            self._hand_over(digest)

    def _next(self, digests: Iterator[str]) -> str | None:
        """Return whose turn it is; a suspect's when all others are through, and by itself.

        What a file is alone with, when a process dies again, is its own doing.
        """
        if self._again:
            return self._again.popleft()
        digest = next(digests, None)
        if digest is None and self._suspects and not self._running:
            return self._suspects.popleft()
        return digest

    def _is_over(self) -> bool:
        return self._until is not None and time.monotonic() > self._until

    def _hand_over(self, digest: str) -> None:
        try:
            source = self._read(digest)
        except (LoadError, SpecError, OSError) as error:
            self._ended(self._untried(digest, str(error)))
            return
        if work.digest_of(source) != digest:
            self._ended(self._untried(digest, "the file was changed while the class was graded"))
            return
        try:
            future = self._crew.submit(work.check, source, self._settings, work.versions())
        except Exception as error:  # Anybody may have written an executor.
            self._refused(digest, error)
        else:
            self._refusals = 0
            self._running[future] = digest

    def _untried(self, digest: str, why: str) -> Outcome:
        message = f"{one_line(why)}: --resume looks for it again"
        return work.not_judged(digest, "NOT_RUN", message, self._settings)

    def _refused(self, digest: str, error: Exception) -> None:
        self._again.appendleft(digest)
        self._refusals += 1
        if self._refusals == MOST_REFUSALS:
            raise LostError(f"the executor takes no more files ({_named(error)})")
        self._all_lost(error)

    def _take(self, future: Future[Outcome]) -> None:
        digest = self._running.pop(future, None)
        if digest is None:  # It was lost along with its executor.
            return
        error = _error(future)
        if error is None:
            self._ended(future.result())
            return
        self._lost(digest, error)
        if isinstance(error, BrokenExecutor | CancelledError):
            self._all_lost(error)

    def _all_lost(self, error: BaseException) -> None:
        """Have all again that a broken executor has not finished, by another executor."""
        running, self._running = self._running, {}
        for future, digest in running.items():
            if future.done() and _error(future) is None:
                self._ended(future.result())
            else:
                self._lost(digest, error)
        try:
            self._crew.renew()
        except CrewError as why:
            raise LostError(str(why)) from None

    def _lost(self, digest: str, error: BaseException) -> None:
        """Have a file checked again, or give it up."""
        self._losses[digest] += 1
        if self._losses[digest] < MOST_LOSSES:
            self._again.append(digest)
        elif self._losses[digest] == MOST_LOSSES:
            self._suspects.append(digest)
        else:
            self._ended(self._given_up(digest, error))

    def _given_up(self, digest: str, error: BaseException) -> Outcome:
        """Return what there is to say of a file whose check has ended the process that did it."""
        message = (
            f"a fault of rope_kv: the check of the file ended {MOST_LOSSES + 1} times without a "
            f"verdict ({_named(error)})"
        )
        return work.not_judged(digest, "GRADER_ERROR", message, self._settings)


def _error(future: Future[Outcome]) -> BaseException | None:
    """Return why what is done has no result, None where it has one."""
    return CancelledError("cancelled") if future.cancelled() else future.exception()


def _named(error: BaseException) -> str:
    """Return an error in a line; of one that says much, the first sentence."""
    said = one_line(str(error)).partition(". ")[0]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
