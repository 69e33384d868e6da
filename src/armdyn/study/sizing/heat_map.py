"""How hard the motors work over the positions of two joints, and its picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import ALARM, COLOURS, GREY, INK


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """Torque over limit of the motor that works hardest, over two joints.

    The other joints are as in the worst case, and every joint moves as in some motor's worst case,
    forwards or backwards. Where no limit is known, torques are relative to the largest found.
    """

    joints: tuple[int, int]
    """The coordinates along x and y, from 0."""
    names: tuple[str, str]
    x: Array
    """Positions of the first, (k,)."""
    y: Array
    """Positions of the second, (k,)."""
    use: Array
    """(k, k), rows by y."""
    motor: Array
    """Which motor that is, from 0, (k, k)."""
    worst: tuple[float, float]
    """Where the worst case is."""


def draw_worst_case(
    title: str, told: str, bars: Sequence[tuple[str, float, str]], heat: HeatMap
) -> Any:
    """The figure: a bar a motor, and the map."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(11.0, 4.8), facecolor="white")
    room = 0.04 + 0.0075 * min(max(len(name) for name, _, _ in bars), 24)
    left = figure.add_axes((room, 0.12, 0.46 - room, 0.68))
    uses = [use for _, use, _ in bars]
    colours = [ALARM if use > 1 else COLOURS["inertial"] for use in uses]
    left.barh(range(len(bars)), [100 * use for use in uses], color=colours, height=0.6)
    left.set_yticks(range(len(bars)), [name for name, _, _ in bars])
    left.invert_yaxis()
    left.axvline(100, color=INK, linewidth=1.0)
    known = any(use > 0 for use in uses)
    left.set_xlabel("of what the motor can give [%]" if known else "no limits of motors are known")
    left.spines[["top", "right"]].set_visible(False)
    right = figure.add_axes((0.55, 0.12, 0.36, 0.68))
    most = max(1.0, float(heat.use.max()))
    drawn = right.pcolormesh(
        heat.x,
        heat.y,
        100 * heat.use,
        shading="nearest",
        cmap="cividis",
        vmin=0,
        vmax=100 * most,
        rasterized=True,
    )
    right.contour(heat.x, heat.y, heat.use, levels=[1.0], colors=[ALARM], linewidths=1.4)
    right.plot(*heat.worst, marker="o", color="white", markeredgecolor=INK, markersize=8)
    right.set_xlabel(heat.names[0])
    right.set_ylabel(heat.names[1])
    figure.colorbar(drawn, ax=right, label="the motor that works hardest [%]")
    figure.text(0.03, 0.93, title, fontsize=13, weight="bold", color=INK)
    figure.text(0.03, 0.87, told, color=GREY)
    return figure


def span(low: float, high: float, cells: int) -> Array:
    """Positions from one end to the other, (cells,)."""
    return np.linspace(low, high, cells)
