"""Links, joints, arrows and frames for the drawings of the pages."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, FancyArrowPatch, Polygon, Wedge

from armdyn.report.figures import GREY, INK, PALE

BODY, FAINT = "#E3EBF2", "#F3F6F9"
"""Colours of a link, and of one that is not the matter of the picture."""
BLUE, RED, GREEN, PURPLE = "#0072B2", "#D55E00", "#00805A", "#8C4A8C"


def canvas(width: float, height: float, panels: int = 1) -> tuple[Any, list[Any]]:
    """A figure with panels side by side, without axes and with equal scales."""
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = [figure.add_subplot(1, panels, k + 1) for k in range(panels)]
    for each in axes:
        each.set_aspect("equal")
        each.axis("off")
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.93, wspace=0.03)
    return figure, axes


def link(axes: Any, a: Any, b: Any, width: float = 0.3, fill: str = BODY, edge: str = GREY) -> None:
    """A body with round ends from a to b."""
    step = np.subtract(b, a)
    angle = np.arctan2(step[1], step[0])
    ends = [
        np.add(end, width / 2 * np.transpose([np.cos(turned), np.sin(turned)]))
        for end, first in ((b, angle - np.pi / 2), (a, angle + np.pi / 2))
        for turned in [np.linspace(first, first + np.pi, 30)]
    ]
    outline = np.concatenate(ends)
    axes.add_patch(Polygon(outline, facecolor=fill, edgecolor=edge, linewidth=0.9, zorder=1))


def joint(axes: Any, at: Any, size: float = 0.07) -> None:
    """A revolute joint seen along its axis."""
    axes.add_patch(Circle(at, size, facecolor="white", edgecolor=INK, linewidth=1.1, zorder=4))
    axes.add_patch(Circle(at, size / 4, facecolor=INK, edgecolor="none", zorder=5))


def centre(axes: Any, at: Any, size: float = 0.055) -> None:
    """The sign of a centre of mass."""
    axes.add_patch(Circle(at, size, facecolor="white", edgecolor=INK, linewidth=0.9, zorder=4))
    for start in (0, 180):
        axes.add_patch(Wedge(at, size, start, start + 90, facecolor=INK, linewidth=0, zorder=5))


def arrow(
    axes: Any, a: Any, b: Any, label: str = "", move: Any = (0, 0), colour: str = INK,
    width: float = 1.5, at: float = 0.5, size: float = 12, dashed: bool = False,
) -> None:  # fmt: skip
    """An arrow from a to b, with a label near it."""
    axes.add_patch(
        FancyArrowPatch(
            a, b, arrowstyle="-|>", mutation_scale=8 + 3 * width, shrinkA=0, shrinkB=0,
            color=colour, linewidth=width, linestyle=(0, (4, 2)) if dashed else "-", zorder=6,
        )
    )  # fmt: skip
    if label:
        x, y = np.add(np.add(np.multiply(1 - at, a), np.multiply(at, b)), move)
        note(axes, x, y, label, colour, size)


def note(
    axes: Any, x: float, y: float, text: str, colour: str = INK, size: float = 11, **more: Any
) -> None:
    """A text about a point."""
    place = {"ha": "center", "va": "center"} | more
    axes.text(x, y, text, color=colour, fontsize=size, zorder=8, **place)


def turn(
    axes: Any, at: Any, radius: float, label: str, move: Any, colour: str, start: float = -50,
    end: float = 110, size: float = 12,
) -> None:  # fmt: skip
    """An arc with an arrow: a moment or a turning rate, counter-clockwise if end > start."""
    low, high = min(start, end), max(start, end)
    axes.add_patch(
        Arc(at, 2 * radius, 2 * radius, theta1=low, theta2=high, color=colour, lw=1.5, zorder=6)
    )
    tip = np.deg2rad(end)
    back = np.deg2rad(end - np.sign(end - start) * 14)
    points = [np.add(at, radius * np.array([np.cos(t), np.sin(t)])) for t in (back, tip)]
    axes.add_patch(
        FancyArrowPatch(
            *points, arrowstyle="-|>", mutation_scale=12, shrinkA=0, shrinkB=0, color=colour,
            linewidth=1.5, zorder=6,
        )
    )  # fmt: skip
    note(axes, *np.add(at, move), label, colour, size)


def frame(
    axes: Any, at: Any, angle: float, names: tuple[str, str], length: float = 0.42,
    moves: Any = ((0.09, 0.03), (-0.03, 0.09)), colour: str = GREEN,
) -> None:  # fmt: skip
    """The x and y axis of a frame."""
    c, s = np.cos(angle), np.sin(angle)
    for name, move, (x, y) in zip(names, moves, ((c, s), (-s, c)), strict=True):
        tip = np.add(at, (length * x, length * y))
        arrow(axes, at, tip, colour=colour, width=1.2)
        note(axes, *np.add(tip, move), name, colour, 10)


def ground(axes: Any, at: Any, size: float = 0.22) -> None:
    """A hatched support below a joint."""
    x, y = at
    axes.plot([x - size, x + size], [y - 0.2, y - 0.2], color=GREY, linewidth=1.2)
    axes.fill([x - size / 2, x, x + size / 2], [y - 0.2, y, y - 0.2], color=PALE, zorder=0)
    for k in np.linspace(-size, size, 6):
        axes.plot([x + k, x + k - 0.07], [y - 0.2, y - 0.28], color=GREY, linewidth=0.8)


def title(axes: Any, text: str) -> None:
    """The heading of a panel."""
    axes.set_title(text, loc="center", fontsize=10.5, color=INK, weight="bold")
