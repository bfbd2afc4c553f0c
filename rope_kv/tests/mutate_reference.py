"""How many small changes of the reference and the oracle the properties notice.

    python rope_kv/tests/mutate_reference.py             # pip install -e '.[mutation]'
    python rope_kv/tests/mutate_reference.py rope decode --verbose

Each mutant is tried by regressions/ and properties/, in a process of its own, until something
breaks. Those that nothing notices are in equivalent_mutants.toml, each with the reason why it is
as right as what it replaces; the exit status is 1 where that is not so, one way or the other.
"""

import argparse
import functools
import gc
import importlib.util
import json
import os
import sys
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

import mutant_trial
import mutants

import rope_kv
from rope_kv import threads

HERE = Path(__file__).parent
PACKAGE = HERE.parent
FILES = ("rope", "decode", "decoder", "oracle", "oracle_scaling")
EQUIVALENTS = HERE / "equivalent_mutants.toml"
# A stage that computes so many times as long as it does without a change is taken to be a loop.
TOO_LONG, LEAST_SECONDS = 10, 10
MOST_SHOWN = 300


class Survey(NamedTuple):
    """What is so without a change: the seconds of each stage, what each case or property calls."""

    seconds: dict
    called: dict
    importing: frozenset

    @property
    def limits(self):
        """How many seconds each stage of a trial may take."""
        return {stage: max(LEAST_SECONDS, TOO_LONG * s) for stage, s in self.seconds.items()}

    def concerned(self, module, function):
        """Return which cases and properties call a function; None is all, in new imports."""
        if not function or self.calls(self.importing, module, function):
            return None
        return {
            tried for tried, called in self.called.items() if self.calls(called, module, function)
        }

    @staticmethod
    def calls(called, module, function):
        """Return whether a function was called, or one that it is inside of."""
        return any(of == module and f"{function}.".startswith(f"{name}.") for of, name in called)


class Trial(NamedTuple):
    """What came of one mutant: what broke, or "", and how many seconds it took to see that."""

    broken: str
    seconds: float


def module_and_source(file):
    return f"rope_kv.{Path(file).stem}", (PACKAGE / file).read_text(encoding="utf-8")


def surveyed():
    """Return what is so without a change."""
    *found, broken = mutant_trial.survey(dict(module_and_source(f"{name}.py") for name in FILES))
    if broken:
        raise SystemExit(f"the reference itself is broken, before any change: {broken}")
    return Survey(*found)


def attempted(mutant, survey):
    """Return what comes of a mutant, in this process, which is good for nothing afterwards."""
    module = module_and_source(mutant.file)[0]
    concerned = survey.concerned(module, mutant.function)
    broken = mutant_trial.attempt(module, mutant.source, survey.limits, concerned)
    return Trial(broken[:MOST_SHOWN], time.process_time())


def begin(make, survey):
    """Try the mutant that is made in a fork of this process; return that, and where it answers."""
    ours, its = os.pipe()
    process = os.fork()
    if process:
        os.close(its)
        return process, ours
    status = 70
    try:
        with open(its, "w", encoding="utf-8") as answer:
            mutant = make()
            # Said at once: a trial that takes too long cannot say it in the end.
            print(json.dumps(mutant and mutant._replace(source="")), file=answer, flush=True)
            if mutant:
                print(json.dumps(attempted(mutant, survey)), file=answer, flush=True)
        status = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def ended(running):
    """Wait for one of the processes; return what it answers: a mutant and its trial, or None."""
    process, status = os.wait()
    with open(running.pop(process), encoding="utf-8") as answer:
        said = [json.loads(line) for line in answer]
    status = os.waitstatus_to_exitcode(status)
    if not said or status > 0:
        raise SystemExit("a mutant could not be made")
    if said[0] is None:
        return None
    mutant = mutants.Mutant(*said[0])
    if len(said) == 1:
        broken = f"its process ended with {status}: it takes too long, or crashes"
        return mutant, Trial(broken, 0.0)
    return mutant, Trial(*said[1])


def trials(places, sources, survey, workers):
    """Give what is at each place, and what comes of it."""
    running = {}
    gc.freeze()  # What is never freed is not copied for each process.
    for place in places:
        if len(running) >= workers:
            yield ended(running)
        make = functools.partial(mutants.mutant_at, place, sources[place.file])
        process, answer = begin(make, survey)
        running[process] = answer
    while running:
        yield ended(running)


def told(found, count, verbose):
    """Give what is found again, and say now and then how far it is."""
    started, alive = time.perf_counter(), 0
    for done, one in enumerate(found, 1):
        if one is not None:
            mutant, trial = one
            alive += not trial.broken
            if verbose:
                end = trial.broken or "survives"
                print(f"{described(mutant)}\n    {end}, {trial.seconds:.1f} s", flush=True)
            yield one
        if done % 100 == 0 or done == count:
            seconds = time.perf_counter() - started
            print(f"{done} of {count} places, {alive} survive, {seconds:.0f} s", flush=True)


def equivalents(path):
    """Return the reason why each mutant that is written down is as right, by its key."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"]
    return {
        (entry["file"], entry["function"], entry["before"], after): entry["reason"]
        for entry in entries
        for after in ([entry["after"]] if isinstance(entry["after"], str) else entry["after"])
    }


def described(mutant):
    where = f"{mutant.file} {mutant.function}".strip()
    return f"{where} ({mutant.operator})\n  - {mutant.before}\n  + {mutant.after}"


def report(found, reasons, files):
    """Print what came of the mutants; return whether all is as it is written down."""
    survivors = [mutant for mutant, trial in found if not trial.broken]
    unexplained = [mutant for mutant in survivors if mutant.key not in reasons]
    killed = len(found) - len(survivors)
    for file in files:
        own = sum(mutant.file == file for mutant, _ in found)
        alive = sum(mutant.file == file for mutant in survivors)
        print(f"{file:20} {own:4} mutants, {own - alive:4} killed, {alive:3} survive")
    for mutant in unexplained:
        print(f"\nsurvives, and is not written down: {described(mutant)}")
    stale = list(stale_entries(found, reasons, files))
    for key, why in stale:
        print(f"\n{EQUIVALENTS.name} has what {why}: {' | '.join(key)}")
    judged, equivalent = killed + len(unexplained), len(survivors) - len(unexplained)
    score = 100 * killed / max(1, judged)
    print(f"\n{len(found)} mutants: {killed} killed, {equivalent} equivalent, ", end="")
    print(f"{len(unexplained)} not explained; score {score:.1f} % of what is not equivalent")
    return not unexplained and not stale


def stale_entries(found, reasons, files):
    """Give each entry that is killed or matches no mutant, and which of the two."""
    for key in (key for key in reasons if key[0] in files):
        ends = [trial.broken for mutant, trial in found if mutant.key == key]
        if all(ends):
            yield key, f"is killed ({ends[0]})" if ends else "is no mutant"


def main():
    """Try the mutants of the files that are named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"of {', '.join(FILES)}")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--verbose", action="store_true", help="say what kills each mutant")
    given = parser.parse_args()
    if unknown := set(given.files) - set(FILES):
        parser.error(f"no file to mutate: {', '.join(sorted(unknown))}; of {', '.join(FILES)}")
    if Path(rope_kv.__file__).parent != PACKAGE:
        parser.error(f"{PACKAGE} is not what is installed: pip install -e '.[mutation]' there")
    if importlib.util.find_spec("cosmic_ray") is None:
        parser.error("cosmic-ray makes the mutants: pip install -e '.[mutation]'")
    threads.use_one()
    files = [f"{name}.py" for name in given.files or FILES]
    sources = {file: module_and_source(file)[1] for file in files}
    places = [place for file in files for place in mutants.places_in(file, sources[file])]
    started, computed = time.perf_counter(), time.process_time()
    survey = surveyed()
    found = list(told(trials(places, sources, survey, given.workers), len(places), given.verbose))
    computed = time.process_time() - computed + sum(trial.seconds for _, trial in found)
    is_as_written = report(found, equivalents(EQUIVALENTS), files)
    print(f"{time.perf_counter() - started:.0f} s, of which {computed:.0f} were computed")
    return 0 if is_as_written else 1


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # Else the order of a set would be chance.
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"}
        )
    raise SystemExit(main())
