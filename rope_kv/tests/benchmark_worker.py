"""What isolation costs: a call to a worker and back, by level and by byte, and what starts first.

    python rope_kv/tests/benchmark_worker.py

All levels are measured in turns, beside the same call in this process. CPU is that of this process
and of the children it has waited for: a worker's own shows in the time of the clock alone, so this
is for a machine that does nothing else.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import timing

from rope_kv import Decoder
from rope_kv.sandbox import process, zygotes
from rope_kv.sandbox.client import open_file
from rope_kv.sandbox.levels import LEVELS
from rope_kv.sandbox.submission import Limits
from rope_kv.testing.loading import load
from rope_kv.testing.trace import TracedDecoder

FILE = Path(__file__).parent / "right/rotate_pairs.py"
LIMITS = Limits(call_timeout=60.0, memory=1 << 30)
WIDTH, TOKENS = 8, 16
# Rows of the same width, so that what is sent there and back is what differs.
ROWS = (64, 1024, 16384)


def levels():
    """Return the levels that work on this machine; say why another does not."""
    there = []
    for level in LEVELS:
        try:
            zygotes.start(level, LIMITS.memory).close()
            there.append(level)
        except process.SandboxError as error:
            print(f"{error}\n")
    return there


def opened(there):
    """Return the same file in this process, and at each level."""
    isolated = {level: open_file(FILE, level=level, limits=LIMITS) for level in there}
    return {"this process": load(FILE), **isolated}


def calls(impl):
    """Return what is called, by what it shows."""
    x = np.random.default_rng(0).standard_normal((ROWS[-1], WIDTH))
    positions = np.arange(ROWS[-1])
    decoder = TracedDecoder(Decoder(WIDTH, seed=1))

    def decode():
        decoder.calls.clear()
        impl.decode_incremental(decoder, x[:TOKENS])

    return {
        "rope_freqs(8)": lambda: impl.rope_freqs(8),
        f"decode_incremental, T = {TOKENS}": decode,
        **{
            f"apply_rope, ({rows}, {WIDTH})": lambda rows=rows: impl.apply_rope(
                x[:rows], positions[:rows], 10000
            )
            for rows in ROWS
        },
    }


def round_trips(there, rounds):
    """Print what each call takes, and what a byte more adds to what isolation costs."""
    impls = opened(there)
    made = {name: calls(impl) for name, impl in impls.items()}
    extra = {name: [] for name in there}
    for call in calls(None):
        times = 5 if "16384" in call else 50
        took = timing.in_turns({name: each[call] for name, each in made.items()}, rounds, times)
        print(f"{call}\n{timing.comparison(took, 'clock')}\n")
        if call.startswith("apply_rope"):
            rows = int(call.partition("(")[2].partition(",")[0])
            here = timing.least(took["this process"]).clock
            for name in there:
                extra[name].append((rows * WIDTH * 8, timing.least(took[name]).clock - here))
    for name, points in extra.items():
        print(f"{name}: {timing.told(timing.slope(points))} a byte, there and back")
    for impl in impls.values():
        impl.close()


def starts(there, rounds):
    """Print what it takes until a worker can be called: by level, and what is done each time."""

    def file(level):
        open_file(FILE, level=level, limits=LIMITS).close()

    runs = {f"zygote, {level}": lambda lv=level: zygotes.start(lv, LIMITS.memory).close()
            for level in there}  # fmt: skip
    runs |= {f"zygote and file, {level}": lambda lv=level: file(lv) for level in there}
    print(f"\nfrom nothing\n{timing.comparison(timing.in_turns(runs, rounds), 'clock')}")
    impls = opened(there)
    again = {
        f"worker and file, {name}": lambda impl=impl: impl._submission.load(0).end()
        for name, impl in impls.items()
        if name in there
    }
    print(f"\nfrom a zygote\n{timing.comparison(timing.in_turns(again, rounds), 'clock')}")
    for impl in impls.values():
        impl.close()


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--asleep", action="store_true", help="sleep for each answer, as workers of a class do"
    )
    given = parser.parse_args()
    if given.asleep:
        process.leave_cores_to_others()
    there = levels()
    print(f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}\n")
    round_trips(there, given.rounds)
    starts(there, max(3, given.rounds // 4))


if __name__ == "__main__":
    main()
