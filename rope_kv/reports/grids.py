"""Pictures in rows and columns: how large each error is, and what each output attends to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..testing.attention import Attention
from . import numbers
from .drawing import LARGEST, ROLES, SIZE, WIDTH, Picture, bare, drawing, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
MOST_CELLS = 24  # in a row or a column; of more, neighbours become one cell
MOST_WRITTEN = 6  # in a row: their numbers are written into them
DECADES = 8  # of errors that have a shade of their own
SHADES = 12  # that are told apart
FAINTEST = 0.12
VISIBLE = 5e-4  # of a weight: less is neither another shade nor another number
MARGIN = 28.0  # for the numbers of the rows and columns


class Grid(NamedTuple):
    """Cells to draw: shades from 0 to 1, and what is written in each, where there is room.

    A cell stands for `block` entries.
    """

    shades: Array
    written: list[list[str]]
    block: tuple[int, int]

    def size(self, most_across: float, most_down: float) -> tuple[float, float]:
        """Return how wide and high a cell is."""
        down, across = self.shades.shape
        return min(most_across / across, 46.0), min(most_down / down, 26.0)


@np.errstate(all="ignore")
def errors(expected: Array, yours: Array, sides: tuple[str, str], name: str) -> Picture | None:
    """Draw the size of each difference, on a logarithmic scale."""
    expected, yours = np.atleast_2d(expected), np.atleast_2d(yours)
    if expected.size < 4:
        return None
    sizes = np.abs(yours - expected)
    is_finite = np.isfinite(sizes)
    largest = float(sizes[is_finite].max(initial=0.0))
    block = _block(sizes.shape)
    cells = _blocks(np.where(is_finite, sizes, np.inf), block).max(axis=(1, 3))
    shades = np.maximum(FAINTEST, 1 + np.log10(cells / largest) / DECADES)
    shades = np.where(cells == 0, 0.0, np.where(np.isfinite(cells), shades, 1.0))
    grid = Grid(shades, [[_short(size) for size in row] for row in cells], block)
    wide, high = grid.size(WIDTH - MARGIN - 8, 300)
    height = MARGIN + high * len(cells) + 4
    with drawing(height) as figure:
        place = bare(figure, 0, 0, WIDTH, height)
        _draw(place, grid, (MARGIN, MARGIN), (wide, high))
        drawn = svg(figure, name)
    differ = int(np.sum(~(sizes == 0)))
    said = [
        f"Of {sizes.size} entries {differ} {'differs' if differ == 1 else 'differ'}, "
        f"by {numbers.about(largest)} at most. "
        "Rows down, columns across; the darker, the larger, on a logarithmic scale."
    ]
    if not is_finite.all():
        said.append(f"{int(np.sum(~is_finite))} are not finite.")
    if block != (1, 1):
        said.append(f"A cell is the largest of {block[0]} × {block[1]} entries.")
    return Picture(f"|{sides[1]} − {sides[0]}|", " ".join(said), drawn)


@np.errstate(all="ignore")
def attention(data: Attention, name: str) -> Picture | None:
    """Draw the weight of each token in each output: expected, and yours beside it."""
    differs = np.abs(data.yours - data.expected) > VISIBLE
    if not differs.any() or np.abs(data.yours).max() > LARGEST:
        return None
    block = _block(data.expected.shape)
    sides = {
        "expected": _blocks(data.expected, block).sum(axis=3).mean(axis=1),
        "yours, measured": _blocks(data.yours, block).sum(axis=3).mean(axis=1),
    }
    highest = max(float(np.abs(cells).max()) for cells in sides.values()) or 1.0
    marked = _blocks(differs.astype(np.float64), block).max(axis=(1, 3)) > 0
    across = (WIDTH - 12) / 2
    grids = {
        side: Grid(
            np.where(cells == 0, 0.0, np.maximum(FAINTEST, np.sqrt(np.abs(cells) / highest))),
            [[_weight(cells[t, u], t >= u) for u in range(len(cells))] for t in range(len(cells))],
            block,
        )
        for side, cells in sides.items()
    }
    high = wide = min(grids["expected"].size(across - MARGIN - 6, 300)[0], 34.0)
    height = MARGIN + 18 + high * len(marked) + 4
    with drawing(height) as figure:
        place = bare(figure, 0, 0, WIDTH, height)
        for left, (side, grid) in zip((0.0, across + 12), grids.items(), strict=True):
            place.text(left + MARGIN, 10, side, va="center_baseline")
            _draw(place, grid, (left + MARGIN, MARGIN + 18), (wide, high))
            if side != "expected":
                _mark(place, marked, (left + MARGIN, MARGIN + 18), (wide, high))
        drawn = svg(figure, name)
    return Picture("What each output attends to", _attention_told(data, differs, block), drawn)


def _attention_told(data: Attention, differs: Any, block: tuple[int, int]) -> str:
    rows = np.flatnonzero(differs.any(axis=1))
    row = int(rows[0])
    changes = [
        f"token {u} the weight {data.expected[row, u]:.3g}, "
        f"yours gives it {data.yours[row, u]:.3g}"
        for u in np.flatnonzero(differs[row])[:3]
    ]
    total = float(data.yours[row].sum())
    said = [
        "Outputs down, tokens across.",
        f"Framed are the weights that differ, in {len(rows)} of {len(data.expected)} outputs.",
        f"Output {row} should give {'; '.join(changes)}.",
        f"Its weights add up to {total:.4g}.",
    ]
    if block != (1, 1):
        said.append(f"A cell is {block[0]} outputs and the sum of {block[1]} tokens.")
    return " ".join(said)


def _block(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return how many rows and columns become one cell, so that there are not too many."""
    down, across = (-(-length // MOST_CELLS) for length in shape)
    return down, across


def _blocks(values: Array, block: tuple[int, int]) -> Array:
    """Return the values in blocks (R, rows of a block, C, columns of a block), zeros beyond."""
    down, across = block
    count = [-(-length // part) for length, part in zip(values.shape, block, strict=True)]
    padded = np.zeros((count[0] * down, count[1] * across))
    padded[: values.shape[0], : values.shape[1]] = values
    return padded.reshape(count[0], down, count[1], across)


def _short(size: float) -> str:
    if not np.isfinite(size):
        return "∞"
    if size == 0:
        return "0"
    if 0.01 <= size < 100:
        return f"{size:.2f}"
    digit, power = f"{size:.0e}".split("e")
    return f"{digit}e{int(power)}"


def _weight(weight: float, is_visible: bool) -> str:
    """Return a weight in three letters, if it is from 0 to 1; nothing where none is due or is."""
    if weight == 0:
        return "0" if is_visible else ""
    text = f"{weight:.2f}".replace("0.", ".")
    return {".00": "~0", "1.00": "1"}.get(text, text)


def _draw(place: Axes, grid: Grid, corner: tuple[float, float], cell: tuple[float, float]) -> None:
    """Draw the cells, and the number of the first row and column of each."""
    (left, top), (wide, high) = corner, cell
    down, across = grid.shades.shape
    roomy = across <= MOST_WRITTEN and high >= 14
    levels = np.ceil(grid.shades * SHADES)
    for level in range(1, SHADES + 1):
        cells = np.argwhere(levels == level)
        look = {"facecolor": ROLES["heat" if roomy else "deep"], "alpha": level / SHADES, "lw": 0}
        _boxes(place, cells, corner, cell, 0, look)
    everywhere = np.argwhere(np.ones_like(levels))
    frame = {"facecolor": "none", "edgecolor": ROLES["faint"], "lw": 0.6}
    _boxes(place, everywhere, corner, cell, 0, frame)
    if roomy:
        for i, j in everywhere:
            middle = (left + (j + 0.5) * wide, top + (i + 0.5) * high)
            place.text(*middle, grid.written[i][j], ha="center", va="center", fontsize=SIZE - 1)
    soft: dict[str, Any] = {"color": ROLES["soft"], "fontsize": SIZE - 1.5}
    for i in range(0, down, max(1, round(13 / high))):
        number = str(i * grid.block[0])
        place.text(left - 4, top + (i + 0.5) * high, number, ha="right", va="center", **soft)
    for j in range(0, across, max(1, -(-18 // int(max(wide, 1))))):
        number = str(j * grid.block[1])
        place.text(left + (j + 0.5) * wide, top - 8, number, ha="center", va="center", **soft)


def _mark(
    place: Axes, marked: Any, corner: tuple[float, float], cell: tuple[float, float]
) -> None:
    """Frame the cells that are marked."""
    line = min(1.8, cell[0] / 6)
    frame = {"facecolor": "none", "edgecolor": ROLES["yours"], "lw": line}
    _boxes(place, np.argwhere(marked), corner, cell, line / 2, frame)


def _boxes(
    place: Axes,
    cells: Any,
    corner: tuple[float, float],
    cell: tuple[float, float],
    inset: float,
    look: dict[str, Any],
) -> None:
    """Draw the boxes of some cells as one path: a path for each would be a large drawing."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if not len(cells):
        return
    (left, top), (wide, high) = corner, cell
    around = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)])
    size = np.array([wide - 2 * inset, high - 2 * inset])
    starts = np.array([left, top]) + cells[:, ::-1] * np.array([wide, high]) + inset
    corners = (starts[:, np.newaxis] + around * size).reshape(-1, 2)
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(cells)
    place.add_patch(PathPatch(Path(corners, codes), joinstyle="miter", **look))
