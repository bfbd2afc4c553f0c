"""The cases of searches that found nothing: the next search of the same tries them unasked.

Where nothing is random, Hypothesis draws the same cases as long as all of them hold: to draw them
takes as long as to try them. Once one fails it is asked again, and shrinks what it draws.
"""

from __future__ import annotations

from collections.abc import Hashable

from .capabilities import Capabilities
from .cases import Case
from .profiles import Profile
from .property import Property

Key = tuple[Hashable, ...] | None
# More kinds of search than one process makes of one kind of implementation.
MOST_KEPT = 200

_kept: dict[Key, tuple[Case, ...]] = {}


def key(
    of: Property, profile: Profile, declared: Capabilities, first: tuple[Case, ...] = ()
) -> Key:
    """Return what decides which cases a search tries; None where that is chance."""
    return None if profile.random else (of.body, profile, declared, first)


def cases(search: Key) -> tuple[Case, ...]:
    """Return the cases that such a search tries as long as all hold; () if they are not known."""
    return _kept.get(search, ())


def keep(search: Key, tried: tuple[Case, ...]) -> None:
    """Remember the cases of a search in which all held."""
    if search is None or search in _kept:
        return
    if len(_kept) >= MOST_KEPT:
        del _kept[next(iter(_kept))]
    _kept[search] = tried
