"""The picture of the work that a decode does: each projection it asks for, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..testing.comparison import counted
from ..testing.scene import Work
from .drawing import ROLES, SIZE, WIDTH, Picture, bare, drawing, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LANES = ("project_q", "project_k", "project_v", "project_out", "forward_full")
MOST_CALLS = 96
MOST_LABELS = 14  # bars that have room for their shape
LEFT = 40.0
LANE = 40.0
LABEL = 12.0


def work(data: Work, name: str) -> Picture | None:
    """Draw each call as a bar as high as the rows it was given, a lane for each projection."""
    if not data.projections:
        return None
    shown = data.projections[:MOST_CALLS]
    lanes = [lane for lane in LANES if lane != "forward_full" or data.rows(lane)]
    most = max(call.row_count for call in shown)
    slot = min(28.0, (WIDTH - LEFT - 10) / len(shown))
    is_labelled = len(shown) <= MOST_LABELS
    lane_height = LANE + LABEL * is_labelled
    height = lane_height * len(lanes) + 22
    with drawing(height) as figure:
        place = bare(figure, 0, 0, WIDTH, height)
        for number, lane in enumerate(lanes):
            floor = lane_height * (number + 1) - 4
            place.text(2, floor - 2, lane.removeprefix("project_").replace("_", "\n"), va="bottom")
            place.plot(
                [LEFT, LEFT + slot * len(shown)], [floor, floor], color=ROLES["faint"], lw=0.8
            )
        for order, call in enumerate(shown):
            floor = lane_height * (lanes.index(call.name) + 1) - 4
            left = LEFT + slot * order
            label = "×".join(map(str, call.shape)) if is_labelled else ""
            _bar(place, left, floor, slot, call.row_count, most, label)
        place.text(LEFT, height - 10, "call 1", va="center", color=ROLES["soft"])
        end = LEFT + slot * len(shown)
        place.text(end, height - 10, str(len(shown)), ha="right", va="center", color=ROLES["soft"])
        drawn = svg(figure, name)
    return Picture("Each projection in the order it was asked for", _told(data, lanes), drawn)


def _bar(
    place: Axes, left: float, floor: float, slot: float, rows: int, most: int, label: str
) -> None:
    """Draw one call: one row is as it should be, more are higher and of another colour."""
    from matplotlib.patches import Rectangle

    high = 6 + 22 * rows / most if rows else 1.5
    role = "expected" if rows == 1 else "yours"
    place.add_patch(
        Rectangle(
            (left + 0.1 * slot, floor - high), 0.8 * slot, high, lw=0, facecolor=ROLES[role]
        )
    )  # fmt: skip
    if label:
        place.text(
            left + slot / 2, floor - high - 3, label,
            ha="center", va="bottom", fontsize=SIZE - 1.5,
        )  # fmt: skip


def _told(data: Work, lanes: list[str]) -> str:
    steps = len(data.case.x)
    said = [
        f"{counted(steps, 'token')} decoded. Each bar is a call, as high as its rows are many; "
        "blue is one row, orange is more."
    ]
    for lane in lanes:
        rows = data.rows(lane)
        if not rows:
            said.append(f"{lane} is never called.")
        elif set(rows) == {1}:
            said.append(f"{lane}: {counted(len(rows), 'call')} of 1 row.")
        else:
            few = ", ".join(map(str, rows[:6])) + (", …" if len(rows) > 6 else "")
            said.append(f"{lane}: {counted(len(rows), 'call')} of {few} rows, {sum(rows)} in all.")
    if len(data.projections) > MOST_CALLS:
        said.append(f"Shown are the first {MOST_CALLS} of {len(data.projections)} calls.")
    return " ".join(said)
