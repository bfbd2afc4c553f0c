"""A hunt for what is wrong in a student's file, by the oracle and the words of the contract alone.

What it finds in a file that `check` passes is what the properties miss.
"""

import types
from functools import cache
from typing import NamedTuple

import numpy as np
from contract_calls import TooLongError, WrongError, expect_near, in_time
from drawn_calls import legal_calls, ordinary_calls, rare_calls


class Wrong(NamedTuple):
    """What a hunt has found: in which kind of trial, by which calls, and what was wrong.

    It is "ordinary" where rows are standard normal, narrow and few, stored as usual, and positions
    are in the hundreds; "legal" in all that the contract allows; "long" beyond 512 tokens; "empty"
    where there is no token at all, which not every right file takes, and no property asks for.
    """

    kind: str
    calls: str
    sentence: str


@cache
def trials(rounds, seed=0):
    """Return trials, ordinary ones first: the kind of each, and the calls that are made in it.

    They are drawn once for many hunts, and so are the right answers computed once.
    """
    chance = np.random.RandomState(seed)
    drawn = [("ordinary", ordinary_calls(chance)) for _ in range(rounds)]
    drawn += [("legal", legal_calls(chance)) for _ in range(rounds)]
    drawn += rare_calls()
    for _, calls in drawn:
        for call in calls:
            assert len(call.due) == 2
    return drawn


def hunt(source, rounds=300, seed=0):
    """Return what is found wrong in a file, or None."""
    for kind, calls in trials(rounds, seed):
        try:
            run(source, calls)
        except WrongError as error:
            # What is wrong may have written into the arguments.
            trials.cache_clear()
            return Wrong(kind, "; ".join(map(str, calls)), str(error))
    return None


def run(source, calls):
    """Make calls one after another, and the first again; raise WrongError where one is wrong.

    What they returned must stay as it was, and belongs to the caller: it is overwritten before
    the first call is made again.
    """
    code, results, kept = loaded(source), [], []
    for call in (*calls, calls[0]):
        if len(results) == len(calls):
            for result, before in zip(results, kept, strict=True):
                if result.flags.writeable:
                    result[...] = before[...] = 7.0
        now = call.result(code)
        if not all(map(np.array_equal, kept, results)):
            raise WrongError("an earlier result was changed")
        expect_near(now, *call.due)
        results.append(now)
        kept.append(now.copy())


def loaded(source):
    """Return a new module in which the source has run."""
    module = types.ModuleType("mutant")
    try:
        with in_time(), np.errstate(all="ignore"):
            exec(compile(source, "mutant.py", "exec", dont_inherit=True), module.__dict__)
    except (Exception, TooLongError) as error:
        raise WrongError(f"loading raised {type(error).__name__}: {error}") from None
    return module
