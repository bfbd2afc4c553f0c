"""Whether two versions ask their decoders for the same.

What counts is the names, in order, and the rows; and portions, where a property of one version
says which. decode_incremental gets its rows one by one, so there each call of project_q,
project_k, project_v and forward_full must be the same. In one call of `feed`, and of a path, the
rows may come in any portions: there each name has its place by its first call, and its rows in
order. A batch may be padded or packed, and no property says which: there no name may be given
more rows than before.

What project_out is given is computed, and differs by rounding: there the number of rows counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .comparison import Broken, counted
from .trace import Call, TracedDecoder

Array = NDArray[np.float64]
Decoders = tuple[TracedDecoder, TracedDecoder]
OUT = "project_out"


def expect_same_calls(decoders: Decoders) -> None:
    """Raise Broken unless both versions made the same calls, in the same portions."""
    before, now = ([call for call in one.calls if call.name != OUT] for one in decoders)
    for count, (old, new) in enumerate(zip_longest(before, now), start=1):
        if _told(old) != _told(new):
            raise Broken(
                f"projection {count} is {_told(new)}, and {_told(old)} in the old version", "calls"
            )
        if not np.array_equal(_rows([old]), _rows([new]), equal_nan=True):
            raise Broken(
                f"projection {count}, {_told(new)}, is of other rows than in the old version",
                "calls",
            )
    _expect_as_many(decoders, OUT)


def expect_same_rows(decoders: Decoders, *, of_a_batch: bool = False) -> None:
    """Raise Broken unless both versions projected the same rows, in any portions; forget them.

    Where they are `of_a_batch`, the new version projects no more rows than the old one.
    """
    before, now = (list(dict.fromkeys(call.name for call in one.calls)) for one in decoders)
    if before != now:
        raise Broken(
            f"what is called is {_listed(now)}, and {_listed(before)} in the old version", "calls"
        )
    for name in now:
        _expect_as_many(decoders, name, or_fewer=of_a_batch)
        if name == OUT or of_a_batch:
            continue
        old, new = (_rows([c for c in one.calls if c.name == name]) for one in decoders)
        if not np.array_equal(old, new, equal_nan=True):
            raise Broken(
                f"{name} is given other rows than in the old version, or in another order", "calls"
            )
    forget_calls(decoders)


def forget_calls(decoders: Decoders) -> None:
    """Forget what was called until now."""
    for decoder in decoders:
        decoder.calls.clear()


def _expect_as_many(decoders: Decoders, name: str, *, or_fewer: bool = False) -> None:
    old, new = (sum(map(len, map(_as_rows, one.rows_given(name)))) for one in decoders)
    if new > old or (new < old and not or_fewer):
        raise Broken(
            f"{name} is given {counted(new, 'row')}, and {old} in the old version", "calls"
        )


def _told(call: Call | None) -> str:
    if call is None:
        return "none"
    return f"{call.name} of {counted(len(_as_rows(call.rows)), 'row')}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"


def _rows(calls: Sequence[Call | None]) -> Array:
    """Return the rows of some calls, one after the other."""
    given = [_as_rows(call.rows) for call in calls if call is not None]
    widest = max((rows.shape[1] for rows in given), default=0)
    # Rows of another width are the decoder's to refuse, and are no reason to fail here.
    wide = [np.pad(rows, ((0, 0), (0, widest - rows.shape[1]))) for rows in given]
    return np.concatenate([np.empty((0, widest)), *wide])


def _as_rows(rows: Any) -> Array:
    """Return what a projection was given as rows (n, D), whatever axes it had."""
    found = np.atleast_1d(np.asarray(rows, dtype=np.float64))
    return found.reshape(-1, found.shape[-1]) if found.size else found.reshape(0, found.shape[-1])
