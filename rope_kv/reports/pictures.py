"""The pictures of a broken property: data in, a drawing and its caption out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..testing.cases import array
from ..testing.scene import Turn
from ..testing.verdict import Result
from . import grids, numbers, plots, timeline
from .drawing import LARGEST, ROLES, WIDTH, Picture, axes, bare, drawing, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
MOST_PAIRS = 6
ROUNDING = 1e-6  # of the largest error: less is not what is to be seen
PLANE = 132.0
SIDES: dict[str, dict[str, Any]] = {
    "before": {"color": ROLES["before"], "linestyle": (0, (1, 2)), "linewidth": 1.6},
    "expected": {"color": ROLES["expected"], "linestyle": "-", "linewidth": 3.2},
    "yours": {"color": ROLES["yours"], "linestyle": (0, (4, 2)), "linewidth": 1.8},
}


def of(result: Result, name: str) -> list[Picture]:
    """Return the pictures of a result, as far as there is something to see.

    `name` begins the names of the parts of each drawing: in a page no two may be the same.
    """
    scene, broken = result.scene, result.broken
    if scene is None:
        return []
    found: list[Picture | None] = []
    if scene.turn is not None:
        found.append(turn(scene.turn, f"{name}-turn"))
    if scene.attention is not None:
        found.append(grids.attention(scene.attention, f"{name}-attention"))
    if broken is not None and broken.expected is not None and broken.yours is not None:
        draw = plots.entries if np.ndim(broken.yours) == 1 else grids.errors
        found.append(draw(broken.expected, broken.yours, broken.sides, f"{name}-errors"))
    if scene.work is not None:
        found.append(timeline.work(scene.work, f"{name}-work"))
    if scene.precision is not None:
        found.append(plots.precision(scene.precision, f"{name}-precision"))
    return [picture for picture in found if picture is not None]


@np.errstate(all="ignore")
def turn(data: Turn, name: str) -> Picture | None:
    """Draw each pair of a rotation as an arrow in its plane: before, expected and yours.

    Of many pairs the most wrong ones.
    """
    sides = {"before": array(data.case.x), "expected": data.expected, "yours": data.yours}
    count, width = data.expected.shape
    pairs = {
        (t, i): {side: rows[t, 2 * i : 2 * i + 2] for side, rows in sides.items()}
        for t in range(count)
        for i in range(width // 2)
    }
    error = {at: _size(pair["yours"] - pair["expected"]) for at, pair in pairs.items()}
    least = ROUNDING * max((size for size in error.values() if np.isfinite(size)), default=0.0)
    wrong = sorted((at for at in pairs if error[at] > least), key=lambda at: -error[at])
    shown = sorted(wrong[:MOST_PAIRS])
    if not shown:
        return None
    across = min(2, len(shown))
    down = -(-len(shown) // across)
    cell, left = PLANE + 34, (WIDTH - across * (PLANE + 34)) / 2
    height = 28 + down * cell
    with drawing(height) as figure:
        _legend(bare(figure, 0, height - 24, WIDTH, 24))
        for place, at in enumerate(shown):
            plane = axes(
                figure,
                left + place % across * cell + 12,
                height - 24 - (place // across + 1) * cell + 14,
                PLANE,
                PLANE,
            )
            plane.set_title(f"row {at[0]}, pair {at[1]}, at {data.case.positions[at[0]]}")
            _plane(plane, pairs[at], 2 * at[1])
        drawn = svg(figure, name)
    sentences = [_told(at, data.case.positions[at[0]], pairs[at]) for at in shown]
    if len(wrong) > len(shown):
        sentences.append(f"Shown are the {len(shown)} most wrong of {len(wrong)} wrong pairs.")
    return Picture("Each pair as an arrow in its plane", " ".join(sentences), drawn)


def _size(pair: Array) -> float:
    """Return how long a vector is; infinite where it cannot be drawn."""
    size = float(np.hypot(*pair))
    return size if size < LARGEST else np.inf


def _told(at: tuple[int, int], position: int, pair: dict[str, Array]) -> str:
    before, expected, yours = (
        "(" + ", ".join(numbers.entry(value, 4) for value in pair[side]) + ")" for side in pair
    )
    where = f"Row {at[0]}, pair {at[1]}, at position {position}: {before}"
    if expected == yours:
        far = numbers.about(_size(pair["yours"] - pair["expected"]))
        return f"{where} should go to {expected}, and yours is {far} off: too little to see."
    return f"{where} should go to {expected}, yours goes to {yours}."


def _legend(line: Axes) -> None:
    for place, (side, look) in enumerate(SIDES.items()):
        left = 14 + place * 112
        line.plot([left, left + 26], [12, 12], **look)
        line.text(left + 32, 12, side, va="center_baseline")


def _plane(plane: Axes, pair: dict[str, Array], first: int) -> None:
    """Draw one pair; `first` is the column of its first entry."""
    sizes = [_size(vector) for vector in pair.values()]
    reach = max((size for size in sizes if np.isfinite(size)), default=0.0) or 1.0
    plane.set(xlim=(-1.18, 1.18), ylim=(-1.18, 1.18), xticks=[], yticks=[])
    for spine in plane.spines.values():
        spine.set_visible(False)
    faint: dict[str, Any] = {"color": ROLES["faint"], "linewidth": 0.8}
    plane.axhline(0, **faint)
    plane.axvline(0, **faint)
    if np.isfinite(sizes[1]):
        angles = np.linspace(0, 2 * np.pi, 49)
        plane.plot(sizes[1] / reach * np.cos(angles), sizes[1] / reach * np.sin(angles), **faint)
    plane.text(1.18, 0.1, f"x[{first}]", ha="right", va="bottom", color=ROLES["soft"])
    plane.text(0.06, 1.18, f"x[{first + 1}]", va="top", color=ROLES["soft"])
    for (side, look), size in zip(SIDES.items(), sizes, strict=True):
        if not np.isfinite(size):
            plane.text(0, -0.6, f"{side}: not drawn", ha="center", color=look["color"])
        elif size < 0.03 * reach:
            diameter = 10 - 3 * list(SIDES).index(side)
            plane.plot([0], [0], "o", color=look["color"], markersize=diameter)
        else:
            plane.annotate(
                "", tuple(pair[side] / reach), (0, 0),
                arrowprops={"arrowstyle": "->", "shrinkA": 0, "shrinkB": 0, **look},
            )  # fmt: skip
