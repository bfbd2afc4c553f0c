"""How decoding grows with the number of tokens: the exponent, fitted to the least of some rounds.

    python rope_kv/tests/benchmark_growth.py

Each step attends over all tokens so far, which makes decoding quadratic in the end; what a step
costs whatever their number, such as a call of numpy, makes it linear before. So the exponent goes
from 1 to 2, and one above 2 means that a step does more than read all keys and values a few times.
How many times shows beside attention alone: keys that are copied or projected anew at each step
are quadratic as well. `--from` and `--to` say where the exponent is looked for.
"""

import argparse

import numpy as np
import timing

from rope_kv import Decoder, decode_incremental, prefill, start


def by_session(decoder, x):
    """Feed a session row by row."""
    session = start(decoder)
    for t in range(len(x)):
        session.feed(x[t : t + 1])


def only_attending(decoder, x):
    """Do the two products and the softmax of each step, and nothing else."""
    for t in range(1, len(x) + 1):
        weights = np.exp(x[:1] @ x[:t].T)
        weights / weights.sum() @ x[:t]


RUNS = {
    "attention alone": only_attending,
    "decode_incremental": decode_incremental,
    "a session, token by token": by_session,
    "a session, all at once": prefill,
}


def lengths(first, last):
    """Return lengths from the first to the last, each twice the one before."""
    found = [first]
    while 2 * found[-1] <= last:
        found.append(2 * found[-1])
    return found


def main():
    """Print what each way takes at each length, and the exponents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="first", type=int, default=512, metavar="T")
    parser.add_argument("--to", dest="last", type=int, default=4096, metavar="T")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    counts = lengths(given.first, given.last)
    x = np.random.default_rng(0).standard_normal((counts[-1], given.width)) / given.width
    decoder = Decoder(given.width, seed=1)
    runs = {
        (name, count): lambda run=run, count=count: run(decoder, x[:count])
        for count in counts
        for name, run in RUNS.items()
    }
    took = timing.in_turns(runs, given.rounds)
    rows, last = [], counts[-1]
    least = timing.least(took["attention alone", last]).cpu
    for name in RUNS:
        points = [(count, timing.least(took[name, count]).cpu) for count in counts]
        times = (timing.told(seconds) for _, seconds in points)
        fitted = map(timing.exponent, (points, points[:2], points[-2:]))
        ratio = f"{points[-1][1] / least:.2f}"
        rows.append((name, *times, ratio, *(f"{one:.2f}" for one in fitted)))
    ends = ("ratio", "exponent", "at first", "at last")
    heading = ("CPU min", *(f"T = {count}" for count in counts), *ends)
    print(f"width {given.width}\n{timing.table(heading, rows)}")


if __name__ == "__main__":
    main()
