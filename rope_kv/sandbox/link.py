"""One worker, and what it and this process both know: objects, by their numbers."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ..testing.trace import TracedDecoder
from .process import Worker
from .submission import Submission


class Started:
    """What stands here for a session or batch in a worker.

    It keeps the `decoder` alive that it was started with, as it would in this process, and counts
    the `tokens` it was fed.
    """

    def __init__(self, decoder: TracedDecoder, tokens: int = 0) -> None:
        self.decoder = decoder
        self.tokens = tokens


class Link:
    """One worker and what it shares with this process; it starts when it is first needed."""

    def __init__(self, submission: Submission, seed: int) -> None:
        self.submission = submission
        self.has_hung = False
        self._seed = seed
        self._worker: Worker | None = None
        self._next = 0
        self._numbers: dict[int, int] = {}  # of an object that lives, by its id
        self._objects: dict[int, tuple[weakref.ref[Any], bytes]] = {}
        self._dropped: list[int] = []
        self._held: list[Any] = []

    def number(self) -> int:
        """Return a number that nothing else has."""
        self._next += 1
        return self._next

    def drop(self, number: int) -> None:
        """Let the worker forget what has this number."""
        self._dropped.append(number)

    def find(self, number: int) -> Any:
        """Return the object of this number, or None if there is none any more."""
        known = self._objects.get(number)
        return known[0]() if known else None

    def number_of(self, value: Any) -> int | None:
        """Return the number of an object that the worker knows, or None."""
        return self._numbers.get(id(value))

    def keep(self, number: int, value: Any) -> None:
        """Take note that the worker knows an object, with the content it has now."""

        def forget(_: Any, key: int = id(value), number: int = number) -> None:
            if self._objects.pop(number, None) is not None:
                self._numbers.pop(key, None)
                self._dropped.append(number)

        self._numbers[id(value)] = number
        content = value.tobytes() if isinstance(value, np.ndarray) else b""
        self._objects[number] = (weakref.ref(value, forget), content)

    def hold(self, value: Any) -> None:
        """Let an array live until the next call.

        Its owner may write into it and let go of it: code that kept a view would see that.
        """
        self._held.append(value)

    def refilled(self) -> list[Any]:
        """Return the arrays whose content has changed here, and take note of it."""
        changed = []
        for number, (reference, content) in list(self._objects.items()):
            value = reference()
            if isinstance(value, np.ndarray) and value.tobytes() != content:
                changed.append([number, np.array(value, order="C")])
                self._objects[number] = (reference, value.tobytes())
        self._held.clear()
        return changed

    def dropped(self) -> list[int]:
        """Return the numbers of what is gone, once."""
        gone, self._dropped = self._dropped, []
        return gone

    def size(self) -> int:
        """Return how many bytes the arrays have that the worker knows."""
        return sum(len(content) for _, content in self._objects.values())

    def count_started(self) -> int:
        """Return how many sessions and batches live in the worker."""
        return sum(isinstance(value(), Started) for value, _ in list(self._objects.values()))

    @property
    def worker(self) -> Worker:
        """The worker; a new one where there is none, or where the last one has ended."""
        if self._worker is None:
            self._worker = self.submission.load(self._seed)
        return self._worker

    def end(self) -> str:
        """End the worker, forget what it knew, and say how it ended."""
        self._numbers.clear()
        self._objects.clear()
        self._dropped.clear()
        self._held.clear()
        worker, self._worker = self._worker, None
        return worker.end() if worker is not None else "has ended"
