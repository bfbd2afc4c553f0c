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
LEFT = 54.0
LANE = 40.0
LABEL = 12.0


def work(data: Work, name: str) -> Picture | None:
    """Draw each call as a bar as high as the rows it was given, a lane for each projection."""
    if not data.projections:
        return None
    shown = data.projections[:MOST_CALLS]
    lanes = [lane for lane in LANES if lane != "forward_full" or data.rows(lane)]
    most = max(1, *(call.row_count for call in shown))
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
            is_usual = call.row_count == 1 and call.name != "forward_full"
            role = ROLES["expected" if is_usual else "yours"]
            _bar(place, (left, floor), slot, call.row_count / most, role, label)
        place.text(LEFT, height - 10, "call 1", va="center", color=ROLES["soft"])
        end = LEFT + slot * len(shown)
        last = str(len(shown)) if len(shown) > 2 else ""
        place.text(end, height - 10, last, ha="right", va="center", color=ROLES["soft"])
        drawn = svg(figure, name)
    return Picture("Each projection in the order it was asked for", _told(data, lanes), drawn)


def _bar(
    place: Axes, corner: tuple[float, float], slot: float, part: float, role: str, label: str
) -> None:
    """Draw one call as a bar on its lane; `part` is how many of the most rows it was given."""
    from matplotlib.patches import Rectangle

    left, floor = corner
    high = 6 + 22 * part if part else 1.5
    place.add_patch(
        Rectangle((left + 0.1 * slot, floor - high), 0.8 * slot, high, lw=0, facecolor=role)
    )
    if label:
        place.text(
            left + slot / 2, floor - high - 3, label,
            ha="center", va="bottom", fontsize=SIZE - 1.5,
        )  # fmt: skip


def _told(data: Work, lanes: list[str]) -> str:
    steps = len(data.case.x)
    said = [
        f"{counted(steps, 'token')} decoded. Each bar is a call, as high as its rows are many; "
        f"one row is blue, more are orange{', and so is forward_full' * (LANES[-1] in lanes)}."
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
