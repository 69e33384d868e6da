"""Torque over speed of motors, inside what they can give: a panel a joint."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import COLOURS, GREY, INK, PALE, POINTS

PEAK, RATED, CLOUD, OVER = "#E69F00", "#009E73", COLOURS["inertial"], COLOURS["coulomb"]
_LIMIT_SHOWN = 4.0
"""A limit farther than so many times the motion is told in words and not drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """A motor along a motion, and what it can give; an infinite number is not known."""

    title: str
    note: str
    units: tuple[str, str]
    """Of torque and speed."""
    speed: Array = field(repr=False)
    torque: Array = field(repr=False)
    speed_limit: float
    torque_limit: float
    rating: float
    """What it gives for ever."""
    rms: float


def draw_panels(title: str, subtitle: str, panels: Sequence[Panel]) -> Any:
    """The figure of all motors."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    columns = min(len(panels), 3 if len(panels) != 4 else 2)
    rows = -(-len(panels) // columns)
    height = 1.5 + 2.7 * rows
    figure = Figure(figsize=(max(3.7 * columns + 0.4, 6.0), height), facecolor="white")
    axes = figure.subplots(rows, columns, squeeze=False)
    inch, width = 1 / height, figure.get_figwidth()
    figure.subplots_adjust(
        left=0.75 / width, right=1 - 0.2 / width, top=1 - 1.25 * inch, bottom=0.5 * inch,
        hspace=0.48, wspace=0.3,
    )  # fmt: skip
    for place, drawn in zip(axes.ravel(), panels, strict=False):
        _draw(place, drawn)
    for place in axes.ravel()[len(panels) :]:
        place.set_visible(False)
    left = 0.75 / width
    figure.text(left, 1 - 0.25 * inch, title, fontsize=13, weight="bold", color=INK, va="center")
    figure.text(left, 1 - 0.5 * inch, subtitle, color=GREY, va="center")
    _legend(figure, left, 1 - 0.78 * inch)
    return figure


def _legend(figure: Any, x: float, y: float) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 (an extra)
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    handles = [
        Line2D([], [], color=CLOUD, linewidth=1.2, label="motion"),
        Line2D([], [], color=INK, linestyle=":", linewidth=1.2, label="RMS torque"),
        Patch(facecolor=RATED, alpha=0.25, label="continuous"),
        Patch(facecolor="none", edgecolor=PEAK, linewidth=1.4, label="limit"),
    ]
    figure.legend(
        handles=handles, loc="center left", bbox_to_anchor=(x, y), ncols=len(handles),
        frameon=False, borderpad=0, borderaxespad=0, handlelength=1.6, columnspacing=1.4,
    )  # fmt: skip


def _draw(place: Any, panel: Panel) -> None:
    """Four quadrants: the motor drives in the first and third, and is driven in the others."""
    reach = np.array([np.abs(panel.speed).max(), np.abs(panel.torque).max()])
    reach = np.where(reach > 0, reach, 1.0)
    limits = np.array([panel.speed_limit, panel.torque_limit])
    seen = limits <= _LIMIT_SHOWN * reach
    ends = 1.1 * np.where(seen, np.maximum(limits, reach), reach)
    # a limit that is not drawn lies beyond the panel
    speed, torque = np.where(seen, limits, 3 * ends)
    for line in (place.axhline, place.axvline):
        line(0.0, color=PALE, linewidth=0.8, zorder=0)
    rated = min(panel.rating, torque)
    if rated < min(panel.torque_limit, 3 * ends[1]):
        place.fill_between([-speed, speed], -rated, rated, color=RATED, alpha=0.13, linewidth=0)
    box = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * (speed, torque)
    place.plot(*box.T, color=PEAK, linewidth=1.4, zorder=1)
    step = max(len(panel.speed) // (4 * POINTS), 1)
    place.plot(panel.speed[::step], panel.torque[::step], color=CLOUD, linewidth=1.1, zorder=2)
    over = (np.abs(panel.speed) > panel.speed_limit) | (np.abs(panel.torque) > panel.torque_limit)
    place.plot(panel.speed[over], panel.torque[over], ".", color=OVER, markersize=3, zorder=3)
    for sign in (-1, 1):
        place.axhline(sign * panel.rms, color=INK, linestyle=":", linewidth=1.0, zorder=1)
    peak = int(np.abs(panel.torque).argmax())
    place.plot(panel.speed[peak], panel.torque[peak], "o", color=INK, markersize=4, zorder=4)
    place.set(xlim=(-ends[0], ends[0]), ylim=(-ends[1], ends[1]))
    place.set_title(panel.title, fontsize=10, weight="bold", color=INK, pad=5)
    place.set_title(panel.note, loc="right", fontsize=8, color=GREY, pad=5)
    torque_unit, speed_unit = panel.units
    far = [
        f"{what} {limit:.3g} {unit}" if np.isfinite(limit) else f"no {what}"
        for what, limit, unit, drawn in zip(
            ("limit of speed", "limit of torque"), limits, (speed_unit, torque_unit), seen,
            strict=True,
        )
        if not drawn
    ]  # fmt: skip
    place.text(
        0.98, 0.07, "\n".join(far), transform=place.transAxes, fontsize=7, color=GREY, ha="right",
        va="bottom", backgroundcolor="#FFFFFFA0",
    )  # fmt: skip
    place.set_xlabel(f"speed [{speed_unit}]", fontsize=8)
    place.set_ylabel(f"torque [{torque_unit}]" if torque_unit != "N" else "force [N]", fontsize=8)
    place.locator_params(nbins=5)
