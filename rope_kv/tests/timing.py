"""Times to be compared: in turns in one run, as minima and medians, of the clock and the CPU.

On a machine that others use as well, a minimum of CPU time is the figure to trust, and a ratio of
two from the same run more than either. A median that is far above its minimum says how much the
others were in the way.
"""

import math
import resource
import statistics
import time
from typing import NamedTuple

from rope_kv import threads

threads.use_one()  # Before numpy is loaded, as the command does.


class Took(NamedTuple):
    """Seconds of the clock, and of the CPU by this process and the children it has waited for."""

    clock: float
    cpu: float


def cpu():
    """Return the CPU seconds of this process so far, and of the children it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def once(run, times=1):
    """Return what it takes to run something, each of so many times."""
    clock, used = time.perf_counter(), cpu()
    for _ in range(times):
        run()
    return Took((time.perf_counter() - clock) / times, (cpu() - used) / times)


def in_turns(runs, rounds, times=1):
    """Return what each of some runs took in each round: all of them once, then all again."""
    took = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            took[name].append(once(run, times))
    return took


def least(took):
    """Return the minima, of the clock and of the CPU, which need not be of the same round."""
    return Took(*map(min, zip(*took, strict=True)))


def median(took):
    """Return the medians, of the clock and of the CPU."""
    return Took(*map(statistics.median, zip(*took, strict=True)))


def told(seconds):
    """Return a time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def table(heading, rows):
    """Return lines of columns, each as wide as it has to be; the first is aligned to the left."""
    texts = [tuple(map(str, row)) for row in (heading, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    )


def comparison(took, by="cpu"):
    """Return a table of what runs took, each in proportion to the first by the minima of one."""
    unit = getattr(least(next(iter(took.values()))), by)
    return table(
        ("", "clock min", "median", "CPU min", "median", f"ratio of {by}"),
        (
            (
                name,
                told((low := least(each)).clock),
                told((usual := median(each)).clock),
                told(low.cpu),
                told(usual.cpu),
                f"{getattr(low, by) / unit:.2f}",
            )
            for name, each in took.items()
        ),
    )


def slope(points):
    """Return the slope of the line through points, by least squares."""
    xs, ys = zip(*points, strict=True)
    x, y = statistics.fmean(xs), statistics.fmean(ys)
    products = sum((a - x) * (b - y) for a, b in points)
    return products / sum((a - x) ** 2 for a in xs)


def exponent(points):
    """Return how a time grows: with the power of n that fits (n, seconds) best in logarithms."""
    return slope([(math.log(n), math.log(seconds)) for n, seconds in points])
