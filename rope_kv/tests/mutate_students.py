"""Whether `check` flags every wrong mutant of right students' files; what it misses, one by one.

    python rope_kv/tests/mutate_students.py                    # a dozen styles, half an hour
    python rope_kv/tests/mutate_students.py --styles polar_form,paged_table --each 5
    python rope_kv/tests/mutate_students.py --styles all --rounds 1000

Mutants are made in memory by the operators of cosmic-ray (pip install 'rope_kv[mutation]'). Each
is shown to the cases of `check`, up to the first that it breaks, and then to a hunt that knows
the oracle and the contract alone; so a mutant is

    flagged     wrong, and `check` says so
    missed      wrong by the hunt, and `check` says PASS
    equivalent  not flagged, and nothing is wrong that the hunt could find
    accused     flagged, and nothing is wrong that the hunt could find

The exit status is 1 where a missed one is wrong on ordinary input: rows standard normal, narrow
and few, positions in the hundreds.
"""

import argparse
import contextlib
import multiprocessing
import os
import random
import sys
import time
from collections import Counter
from functools import partial
from multiprocessing import connection
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from contract_calls import TooLongError, WrongError, in_time
from differential import Wrong, hunt, loaded, trials
from mutants import Mutant, limit_memory, mutant_at, places_in, program

from rope_kv.grading.crews import cores
from rope_kv.testing.implementation import FUNCTIONS, Home, InProcess
from rope_kv.testing.profiles import PROFILES, leaving_no_files
from rope_kv.testing.property import all_properties
from rope_kv.testing.right import remembering
from rope_kv.testing.search import search

HERE = Path(__file__).parent
RIGHT = {path.stem: path for path in sorted(HERE.glob("right/[!_]*.py"))}
RIGHT["reference_solution"] = HERE.parent / "grading/reference_solution.py"
# Those that differ most in how they store, turn and add up.
DOZEN = (
    "reference_solution", "cache_class", "complex_plane", "doubling_buffer", "flash_blocks",
    "fsum_exact", "givens_sequence", "immutable_freqs", "masked_buffer", "matrix_power",
    "paged_table", "polar_form", "recursive_halves", "relative_rotation",
)  # fmt: skip
KINDS = ("flagged", "missed", "equivalent", "accused")
# The cases that `check` tries; none is wanted that is smaller than the first to break.
FIRST_BREACH = PROFILES["grade"]._replace(attempts=0)
# These break in most wrong files, so they are asked first.
DEFINING = (
    "incremental_decoding_equals_the_full_forward",
    "each_adjacent_pair_turns_by_its_own_angle",
    "pair_i_turns_by_base_to_the_minus_2i_over_d",
)
MOST_SECONDS = 600  # for one mutant: what does not return in a call of numpy's is ended so
FORK = multiprocessing.get_context("fork")


class Judged(NamedTuple):
    """A mutant, the property that it breaks or "", and what the hunt found wrong, or None."""

    mutant: Mutant
    broken: str
    wrong: Wrong | None

    @property
    def kind(self):
        """What `check` and the hunt make of it together."""
        if self.broken:
            return "flagged" if self.wrong else "accused"
        return "missed" if self.wrong else "equivalent"


def opened(source):
    """Return the implementation of a source; after a call that took too long none is made."""
    over = []

    def in_time_or_never(function):
        def call(*arguments, **named):
            if over:
                raise over[0]
            try:
                with in_time():
                    return function(*arguments, **named)
            except TooLongError as error:
                over.append(error)
                raise

        return call

    def reload():
        module = loaded(source)
        timed = {name: in_time_or_never(getattr(module, name)) for name in FUNCTIONS}
        return SimpleNamespace(**timed), Home("")

    code, home = reload()
    return InProcess(code, "mutant.py", home=home, reload=reload)


def properties():
    """Return the properties of the exercise whose breach is a failure, the telling ones first."""
    due = [prop for prop in all_properties() if prop.of_the_exercise and not prop.advice]
    return sorted(due, key=lambda prop: prop.name not in DEFINING)


def broken_property(source):
    """Return the first property that a file breaks, or "" where it passes."""
    try:
        impl = opened(source)
    except WrongError:
        return "it does not load"
    for prop in properties():
        found = search(prop, impl, FIRST_BREACH, excusing=False)
        if found.outcome != "held":
            return prop.title
    return ""


def opinions(mutant, rounds):
    """Give what `check` says of a mutant, and then what the hunt does."""
    yield broken_property(mutant.source)
    yield hunt(mutant.source, rounds)


def judge(mutant, rounds, tell):
    """Tell the opinions on a mutant; this is all that its process does."""
    limit_memory()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for opinion in opinions(mutant, rounds):
        tell.send(opinion)


def judged_all(mutants, rounds, jobs):
    """Give each mutant as soon as it is judged, in a process of its own."""
    waiting, running = list(reversed(mutants)), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            told, tell = FORK.Pipe(duplex=False)
            process = FORK.Process(target=judge, args=(mutant, rounds, tell), daemon=True)
            process.start()
            tell.close()
            running[told] = mutant, process, time.monotonic() + MOST_SECONDS, []
        for told in connection.wait(list(running), timeout=1):
            with contextlib.suppress(EOFError):
                running[told][-1].append(told.recv())
                continue
            yield _over(*running.pop(told))
        for _, process, end, _ in running.values():
            if time.monotonic() > end:
                process.kill()


def _over(mutant, process, _, said):
    process.join()
    return concluded(mutant, said)


def concluded(mutant, said):
    """Return what is known of a mutant whose process has ended; what it did not say, ended it."""
    broken = said[0] if said else "its process ended"
    ended = Wrong("ordinary", "", "its process ended")
    return Judged(mutant, broken, said[1] if len(said) == 2 else ended)


def prepare(rounds):
    """Draw the cases of `check` and of the hunt once: every process after this one knows them."""
    trials(rounds)
    impl = opened(RIGHT["reference_solution"].read_text(encoding="utf-8"))
    for prop in properties():
        assert search(prop, impl, FIRST_BREACH, excusing=False).outcome == "held", prop.title


def table(judged):
    """Return how many mutants there are of each style and kind, in lines."""
    columns = ("mutants", "wrong", *KINDS)
    lines = ["".join(f"{column:>11}" for column in ("", *columns))]
    lines[0] = f"{'style':<20}" + lines[0][11:]
    styles = sorted({one.mutant.file for one in judged})
    for style in (*styles, "all"):
        count = Counter(one.kind for one in judged if style in (one.mutant.file, "all"))
        numbers = (count.total(), count.total() - count["equivalent"] - count["accused"])
        numbers += tuple(count[kind] for kind in KINDS)
        lines.append(f"{style:<20}" + "".join(f"{number:>11}" for number in numbers))
    return lines


def described(one):
    """Return what there is to say of a mutant that was not flagged for what it does."""
    lines = [f"{one.kind} {one.mutant.file}, {one.mutant.change}"]
    if one.wrong:
        lines.append(f"    {one.wrong.kind}: {one.wrong.sentence}, by {one.wrong.calls}")
    if one.broken:
        lines.append(f"    flagged by: {one.broken}")
    return lines


def main(arguments=None):
    """Judge the mutants that are asked for; return 1 where an ordinary mistake is missed."""
    given = _arguments(arguments)
    started = time.perf_counter()
    with leaving_no_files(), remembering():
        mutants = made(given.styles, given.each, given.first, given.jobs)
        _say(f"{len(mutants)} mutants of {len(given.styles)} styles", started)
        prepare(given.rounds)
        judged = []
        for one in judged_all(mutants, given.rounds, given.jobs):
            judged.append(one)
            if one.kind in given.show.split(","):
                print(*described(one), sep="\n", flush=True)
            if len(judged) % 100 == 0:
                _say(f"{len(judged)} judged", started)
            if time.perf_counter() - started > 60 * given.minutes:
                _say(f"the time is up, {len(mutants) - len(judged)} are not judged", started)
                break
    print(*table(judged), sep="\n")
    for kind in ("missed", "accused"):
        for one in judged:
            if one.kind == kind:
                print(*described(one), sep="\n")
    count = Counter(one.kind for one in judged)
    _say(f"{count['missed']} missed, {count['accused']} accused", started)
    return status(judged)


def made(styles, each, first, jobs):
    """Return every so many-th mutant of some styles."""
    with FORK.Pool(jobs) as pool:
        of_styles = pool.map(
            partial(mutants_of_style, each=each, first=first), styles, chunksize=1
        )
    found = [mutant for mutants in of_styles for mutant in mutants]
    # Of a run that ends early, each style is to have its share.
    random.Random(0).shuffle(found)
    return found


def mutants_of_style(style, each, first):
    """Return every so many-th mutant of one right file; of those that do the same, one."""
    source = RIGHT[style].read_text(encoding="utf-8")
    found = {}
    for place in places_in(style, source)[first::each]:
        mutant = mutant_at(place, source)
        if mutant is not None:
            found.setdefault(program(mutant.source), mutant)
    return list(found.values())


def status(judged):
    """Return 1 where one is missed that is wrong on ordinary input, else 0."""
    return int(any(one.kind == "missed" and one.wrong.kind == "ordinary" for one in judged))


def _say(what, started):
    print(f"{time.perf_counter() - started:.0f} s: {what}", flush=True)


def _arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--styles", default=",".join(DOZEN), help='names of files in right/, with commas; or "all"'
    )
    parser.add_argument("--each", type=int, default=1, help="every so many-th mutant alone")
    parser.add_argument("--first", type=int, default=0, help="which of so many to begin with")
    parser.add_argument("--rounds", type=int, default=300, help="how long to hunt: trials")
    parser.add_argument("--minutes", type=float, default=40, help="when to end at the latest")
    parser.add_argument("--jobs", type=int, default=cores())
    parser.add_argument("--show", default="missed", help="kinds to print as they come, or none")
    given = parser.parse_args(arguments)
    given.styles = [*RIGHT] if given.styles == "all" else given.styles.split(",")
    if unknown := set(given.styles) - set(RIGHT):
        parser.error(f"no style {min(unknown)}: choose from {', '.join(RIGHT)}")
    return given


if __name__ == "__main__":
    sys.exit(main())
