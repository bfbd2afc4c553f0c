"""What a check may cost in all, so that no code under test holds up the next one."""

from __future__ import annotations

import math
import time

from .comparison import COSTLY, Kind

# That much shows what there is to show.
MOST_COSTLY = 12


class Budget:
    """Seconds, and breaches of a kind that is COSTLY, until there are none left.

    The clock starts with the first question, so that a budget may be made before it is needed.
    """

    def __init__(self, seconds: float | None = None, costly: int = MOST_COSTLY) -> None:
        self._seconds = seconds
        self._costly = costly
        self._end = math.inf
        self._is_running = False

    def take(self, kind: Kind) -> None:
        """Take note of a breach, if it is of such a kind."""
        self._costly -= COSTLY.get(kind, 0)

    def spent(self) -> str:
        """Return why nothing more may be run, as a clause; "" while something may."""
        if not self._is_running:
            self._is_running = True
            if self._seconds is not None:
                self._end = time.monotonic() + self._seconds
        if self._costly <= 0:
            return f"{MOST_COSTLY} calls had not returned, or had ended what watches over them"
        if time.monotonic() > self._end:
            return f"the time limit of {self._seconds:g} s was reached"
        return ""
