"""Drawings as SVG that stands inside a page and takes its colours.

matplotlib draws with a colour that stands for a role; in the SVG each becomes a variable of the
page's style, so one drawing is right on white, on black and on paper.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSTALL = "pip install 'rope_kv[report]'"
# Units of a drawing are those of the page on a phone: nothing has to shrink there.
WIDTH = 340.0
SIZE = 11.5
# Each role, and the colour that stands for it until the SVG is written.
ROLES = {
    name: f"#fe00{place:02x}"
    for place, name in enumerate(
        ("ink", "soft", "faint", "before", "expected", "yours", "heat", "deep")
    )
}
LARGEST = 1e100  # what is drawn: numbers near the end of float64 overflow on the way
_DROPPED = (
    re.compile(r"^.*?(?=<svg)", re.S),
    re.compile(r"<metadata>.*?</metadata>", re.S),
    re.compile(r"<defs>\s*<style.*?</style>\s*</defs>", re.S),  # It would style the whole page.
    re.compile(r"<!--.*?-->", re.S),
    re.compile(r" font-family: [^;\"]*;?"),
    re.compile(r" stroke-dashoffset: 0;"),
    re.compile(r' transform="rotate\(-0 [^"]*"'),
)


class Picture(NamedTuple):
    """A drawing, its title, and a caption that says in numbers what it shows."""

    title: str
    caption: str
    svg: str


def can_draw() -> bool:
    """Return whether the library that draws is installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    return True


@contextmanager
def drawing(height: float, width: float = WIDTH) -> Iterator[Figure]:
    """Give an empty figure of some size; inside the block matplotlib's own defaults hold."""
    from matplotlib import style
    from matplotlib.figure import Figure

    ink, faint = ROLES["ink"], ROLES["faint"]
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "rope_kv",
        "font.size": SIZE,
        "axes.titlesize": SIZE,
        "axes.titlelocation": "left",
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.unicode_minus": True,
        "axes.edgecolor": ROLES["soft"],
        "grid.color": faint,
        "legend.frameon": False,
        "legend.fontsize": SIZE,
        "text.color": ink,
        "text.parse_math": False,
        "axes.labelcolor": ink,
        "axes.titlecolor": ink,
        "xtick.color": ROLES["soft"],
        "ytick.color": ROLES["soft"],
        "xtick.labelcolor": ink,
        "ytick.labelcolor": ink,
        "xtick.labelsize": SIZE - 1,
        "ytick.labelsize": SIZE - 1,
    }
    with style.context(["default", settings]):
        yield Figure(figsize=(width / 72, height / 72), dpi=72)


def axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Return new axes in a figure, placed in units from its lower left corner."""
    across, up = figure.get_size_inches() * 72
    return figure.add_axes((left / across, bottom / up, width / across, height / up))


def bare(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Return new axes without a frame, whose data are units from their upper left corner."""
    plain = axes(figure, left, bottom, width, height)
    plain.set(xlim=(0, width), ylim=(height, 0))
    plain.set_axis_off()
    return plain


def svg(figure: Figure, name: str) -> str:
    """Return a figure as an SVG element for a page; `name` tells its parts from another one's."""
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    drawn = written.getvalue()
    for pattern in _DROPPED:
        drawn = pattern.sub("", drawn)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', drawn))
    drawn = re.sub(
        r' id="([^"]*)"',
        lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "",
        drawn,
    )
    drawn = re.sub(r'(href="|url\()#', rf"\1#{name}-", drawn)
    for role, colour in ROLES.items():
        drawn = drawn.replace(colour, f"var(--{role})")
    drawn = re.sub(r'(?<= )(?:d|x|y|width|height|transform)="[^"]*"', _rounded, drawn)
    return re.sub(r"\s*\n\s*", "\n", drawn).strip()


def _rounded(attribute: re.Match[str]) -> str:
    """Return an attribute with a hundredth of a unit at most, and in one line."""
    return re.sub(r"(\.\d\d)\d+", r"\1", " ".join(attribute[0].split()))
