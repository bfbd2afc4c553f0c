"""Pictures with two axes: errors against positions, and the entries of a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..testing.precision import Precision
from . import numbers
from .drawing import LARGEST, ROLES, WIDTH, Picture, axes, bare, drawing, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
LOWEST = 1e-2  # rounding bounds: less is as good, and is drawn there


@np.errstate(all="ignore")
def precision(data: Precision, name: str) -> Picture | None:
    """Draw how many rounding bounds the error is at each position, both logarithmic."""
    positions, ratios = np.array(data.positions, dtype=np.float64), np.array(data.ratios)
    finite = np.isfinite(ratios)
    ratios = np.where(finite, np.minimum(ratios, LARGEST), ratios)
    wrong = finite & (ratios > 1)
    highest = float(10 ** np.ceil(np.log10(max(ratios[finite].max(initial=1.0), 10.0)) + 0.5))
    with drawing(216) as figure:
        plot = axes(figure, 46, 44, WIDTH - 62, 146)
        plot.set_yscale("log")
        plot.set_title("error, in rounding bounds")
        powers(plot, LOWEST / 2, highest)
        _positions(plot)
        plot.axhline(1, color=ROLES["ink"], linewidth=1.2, linestyle=(0, (5, 2)))
        plot.annotate(
            "rounding bound", (2.5e6, 1), (0, -4),
            textcoords="offset points", ha="right", va="top",
        )  # fmt: skip
        # A line through what is missing would be made up.
        plot.plot(
            positions, np.where(finite, np.maximum(ratios, LOWEST), np.nan),
            "o-", color=ROLES["yours"], markersize=4, linewidth=1.4, clip_on=False,
        )  # fmt: skip
        if not finite.all():
            there = positions[~finite]
            plot.plot(there, np.full(len(there), highest / 2), "x", color=ROLES["ink"])
            plot.text(there[-1], highest / 5, "no finite answer", ha="right", va="top")
        drawn = svg(figure, name)
    return Picture("Error against position", _precision_told(data, wrong, finite), drawn)


def _precision_told(data: Precision, wrong: Any, finite: Any) -> str:
    said = [f"A row of {data.width} ones was turned to {len(data.positions)} positions."]
    positions, ratios = np.array(data.positions), np.array(data.ratios)
    if wrong.any():
        top = int(np.argmax(np.where(wrong, ratios, 0)))
        said.append(
            f"{int(wrong.sum())} are wrong, the first at position {positions[wrong][0]}; "
            f"the largest error, at {positions[top]}, is {numbers.times(float(ratios[top]))}."
        )
        if wrong[finite][-1]:
            last = positions[finite][-1]
            said.append(f"At {last} it is {numbers.times(float(ratios[finite][-1]))}.")
    else:
        said.append("Those that are answered are right.")
    if not finite.all():
        said.append(
            f"{int((~finite).sum())} have no finite answer, the first {positions[~finite][0]}."
        )
    return " ".join(said)


def powers(plot: Axes, low: float, high: float) -> None:
    """Write powers of ten beside a plot from `low` to `high`, not more than there is room for."""
    first, last = int(np.ceil(np.log10(low))), int(np.floor(np.log10(high)))
    step = max(1, -(-(last - first) // 6))
    ticks = [power for power in range(first, last + 1) if power % step == 0]
    plot.set(ylim=(low, high))
    plot.set_yticks([10.0**power for power in ticks], [numbers.power_of_ten(p) for p in ticks])
    plot.set_yticks([], minor=True)
    plot.tick_params(length=3)


def _positions(plot: Axes) -> None:
    plot.set_xscale("symlog", linthresh=1, linscale=0.5)
    plot.set(xlim=(-0.25, 2.5e6), xlabel="position")
    plot.set_xticks(
        [0, *(10**power for power in range(7))],
        ["0", *(numbers.power_of_ten(power) for power in range(7))],
    )
    plot.set_xticks([], minor=True)


@np.errstate(all="ignore")
def entries(expected: Array, yours: Array, sides: tuple[str, str], name: str) -> Picture | None:
    """Draw the entries of two vectors; on a logarithmic scale where they span decades."""
    if len(yours) < 2 or not np.all(np.abs([expected, yours]) < LARGEST):
        return None  # Not a number is not below it either.
    places = np.arange(len(yours))
    with drawing(206) as figure:
        line = bare(figure, 0, 178, WIDTH, 24)
        plot = axes(figure, 46, 40, WIDTH - 62, 134)
        plot.set(xlim=(-0.4, len(yours) - 0.6), xlabel="entry")
        low, high = float(np.min([expected, yours])), float(np.max([expected, yours]))
        if 1 / LARGEST < low < high / 100:
            plot.set_yscale("log")
            powers(plot, low / 2, high * 2)
        plot.set_xticks(places[:: -(-len(places) // 8)])
        for left, side, values, role, marker, size in (
            (46, sides[0], expected, "expected", "o", 7),
            (46 + 140, sides[1], yours, "yours", "x", 6),
        ):
            look: dict[str, Any] = {
                "color": ROLES[role],
                "marker": marker,
                "markersize": size,
                "linestyle": "",
            }
            plot.plot(places, values, clip_on=False, **look)
            line.plot([left], [12], **look)
            line.text(left + 12, 12, side, va="center_baseline")
        drawn = svg(figure, name)
    wrong = np.flatnonzero(yours != expected)
    told = [
        f"entry {i} is {yours[i]:.6g} in {sides[1]} and {expected[i]:.6g} in {sides[0]}"
        for i in wrong[:3]
    ]
    verb = "differs" if len(wrong) == 1 else "differ"
    caption = f"Of {len(yours)} entries {len(wrong)} {verb}: {'; '.join(told)}."
    return Picture("Each entry", caption, drawn)
