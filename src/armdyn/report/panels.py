"""What pictures share: a sheet with its head, legends, a grid of panels, rows of bars."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.report.figures import GREY, INK, PALE, legend_row, write_head

BEFORE, AFTER = "#B8B8B8", "#0072B2"
VIEWS = ((0, 2), (1, 2), (0, 1))
"""The axes of the planes in which an arm may be drawn."""
DRAWN_ZERO = 1e-9
"""A value that is smaller, relative to the largest, is drawn as zero."""
_LONG_NAMES = 30
"""Names with more letters together are turned to fit below their bars."""


def sheet(
    width: float, height: float, title: str, subtitle: str, left: float, drop: float = 0.3
) -> Any:
    """An empty figure [inch] with title and subtitle from `left` on, `drop` below its edge."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(width, height), facecolor="white")
    write_head(figure, left, title, subtitle, drop)
    return figure


def key_row(figure: Any, left: float, drop: float, colours: Mapping[str, Any], **look: Any) -> None:
    """A legend in one row, `drop` below the edge of a figure [inch], a patch a colour."""
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    patches = {name: Patch(facecolor=colour, **look) for name, colour in colours.items()}
    legend_row(figure, left, drop, patches)


def handle_row(figure: Any, left: float, drop: float, handles: Sequence[Any]) -> None:
    """The same for anything with a label."""
    legend_row(figure, left, drop, {handle.get_label(): handle for handle in handles})


def panel_title(panel: Any, title: str, right: str = "") -> None:
    """What is above a panel: bold on the left, small on the right."""
    panel.set_title(title, fontsize=10, weight="bold", color=INK, pad=5)
    panel.set_title(right, loc="right", fontsize=8, color=GREY, pad=5)


def name_rows(panel: Any, names: Sequence[str]) -> None:
    """Names of the rows of bars, the first on top."""
    panel.set_yticks(range(len(names)), names)
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.set_ylim(len(names) - 0.4, -0.6)


def bar_rows(
    panel: Any, ends: Sequence[float], words: Sequence[str], colours: Sequence[str], most: float
) -> None:
    """Bars from 0 to their ends, one below the other, with words behind; the panel ends at most."""
    beside: Any = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
    for row, (end, text, colour) in enumerate(zip(ends, words, colours, strict=True)):
        panel.barh(row, end, height=0.68, color=colour)
        panel.annotate(text, (end, row), **beside, fontsize=8, color=GREY)
    panel.set_xlim(0, most)
    panel.set_xticks([])
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.spines["bottom"].set_visible(False)
    panel.spines["left"].set_color(PALE)


def before_after_bars(
    panel: Any, pair: Sequence[Array], names: Sequence[str], words: Sequence[str] = ("", "")
) -> None:
    """Two bars a name, which have words in a legend; what vanishes is written as 0."""
    largest = max(float(values.max()) for values in pair)
    for shift, values, colour, word in zip(
        (-0.19, 0.19), pair, (BEFORE, AFTER), words, strict=True
    ):
        panel.bar(np.arange(len(names)) + shift, values, 0.34, color=colour, zorder=2, label=word)
        for k in np.flatnonzero(values <= DRAWN_ZERO * largest):
            panel.text(k + shift, 0, "0", ha="center", va="bottom", fontsize=7, color=GREY)
    panel.set_xticks(range(len(names)), names)
    if max(map(len, names)) * len(names) > _LONG_NAMES and not any("\n" in name for name in names):
        panel.tick_params(axis="x", labelrotation=30, labelsize=7)
    panel.tick_params(axis="x", length=0)
