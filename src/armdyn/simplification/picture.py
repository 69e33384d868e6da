"""The picture of a design: mass matrix, gravity and torques before and after, and both arms."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.figures import GREY, INK, PALE, save_picture
from armdyn.simplification.comparison import Comparison
from armdyn.simplification.counterweights import Build
from armdyn.simplification.result import Design
from armdyn.simplification.sketch import draw_arm, sketch_arms

BEFORE, AFTER = "#B8B8B8", "#0072B2"
_DRAWN_ZERO = 1e-9
"""A value that is smaller, relative to the largest, is drawn as zero."""


def plot_design(
    design: Design, builds: Sequence[Build], comparison: Comparison, path: str | Path
) -> None:
    """Draw a design to a file ending in .png, .pdf or .svg; it appears whole or not at all."""
    save_picture(path, _figure, design, builds, comparison)


def _figure(design: Design, builds: Sequence[Build], comparison: Comparison) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    n = len(comparison.joints)
    columns = 2 if n == 4 else min(n, 3)
    rows = -(-n // columns)
    heights = [2.3, 3.5, *[1.6] * rows]
    height = sum(heights) + 0.7 * (len(heights) - 1) + 1.6
    figure = Figure(figsize=(10.5, height), facecolor="white")
    grid = figure.add_gridspec(
        len(heights), 1, height_ratios=heights, left=0.075, right=0.98, top=1 - 1.15 / height,
        bottom=0.5 / height, hspace=0.7 * len(heights) / sum(heights),
    )  # fmt: skip
    top = grid[0].subgridspec(1, 2, width_ratios=[2, 1], wspace=0.2)
    _draw_elements(figure.add_subplot(top[0]), comparison)
    _draw_gravity(figure.add_subplot(top[1]), comparison)
    _draw_arms(grid[1], design, builds)
    below = [grid[2 + row].subgridspec(1, columns, wspace=0.26) for row in range(rows)]
    for i in range(n):
        panel = figure.add_subplot(below[i // columns][i % columns])
        _draw_torque(panel, comparison, i, last=i + columns >= n)
    _head(figure, design, comparison, height)
    return figure


def _head(figure: Any, design: Design, comparison: Comparison, height: float) -> None:
    model, (before, after) = design.before, comparison.operations
    state = "reached" if design.reached else "not reached; the nearest design"
    title = f"{model.title or model.name}, goal {design.goals}: {state}"
    below = (
        f"multiplications and additions of the torque: {before.total} before, {after.total} after"
    )
    y = 1 - 0.28 / height
    figure.text(0.075, y, title, fontsize=13, weight="bold", color=INK, va="center")
    figure.text(0.075, 1 - 0.54 / height, below, color=GREY, va="center")
    for x, name, colour in ((0.87, "before", BEFORE), (0.935, "after", AFTER)):
        figure.text(x, y, "\N{BLACK SQUARE}", color=colour, va="center", ha="right")
        figure.text(x + 0.004, y, name, color=INK, va="center")


def _title(panel: Any, title: str, right: str = "") -> None:
    panel.set_title(title, fontsize=10, weight="bold", color=INK, pad=6)
    panel.set_title(right, loc="right", fontsize=8, color=GREY, pad=6)


def _draw_elements(panel: Any, comparison: Comparison) -> None:
    """The range of each element, measured in √(Dii Djj); those that are always zero left out."""
    panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    shown: list[str] = []
    for e in comparison.elements:
        ends = np.array([(r.low, r.high) for r in (e.before, e.after)])
        if np.abs(ends).max() <= _DRAWN_ZERO * e.scale:
            continue
        sides = zip((-0.19, 0.19), ends / e.scale, (BEFORE, AFTER), strict=True)
        for shift, (low, high), colour in sides:
            x = len(shown) + shift
            panel.bar(x, high - low, 0.34, bottom=low, color=colour, zorder=2)
            # so that a constant is seen as a line
            panel.hlines((low, high), x - 0.17, x + 0.17, color=colour, linewidth=2, zorder=2)
        shown.append(e.name)
    panel.set_xticks(range(len(shown)), shown)
    panel.set_xlim(-0.6, len(shown) - 0.4)
    panel.tick_params(axis="x", length=0)
    panel.use_sticky_edges = False
    panel.margins(y=0.06)
    panel.set_ylabel("Dij / √(Dii Djj) before")
    _title(panel, "Mass matrix over the workspace", "from lowest to highest; a line is a constant")


def _draw_gravity(panel: Any, comparison: Comparison) -> None:
    largest = max(float(g.max()) for g in comparison.gravity)
    pairs = zip((-0.19, 0.19), comparison.gravity, (BEFORE, AFTER), strict=True)
    for shift, values, colour in pairs:
        panel.bar(np.arange(len(values)) + shift, values, 0.34, color=colour, zorder=2)
        for k, value in enumerate(values):
            if value <= _DRAWN_ZERO * largest:
                panel.text(k + shift, 0, "0", ha="center", va="bottom", fontsize=7, color=GREY)
    panel.set_xticks(range(len(comparison.joints)), comparison.joints)
    if max(map(len, comparison.joints)) * len(comparison.joints) > 30:
        panel.tick_params(axis="x", labelrotation=30, labelsize=7)
    panel.tick_params(axis="x", length=0)
    panel.set_ylim(0, 1.08 * largest or 1.0)
    panel.set_ylabel(f"[{' or '.join(dict.fromkeys(comparison.units))}]")
    _title(panel, "Largest gravity torque")


def _draw_torque(panel: Any, comparison: Comparison, i: int, last: bool) -> None:
    panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    for report, colour in zip(comparison.torques, (BEFORE, AFTER), strict=True):
        panel.plot(report.trajectory.t, report.total[:, i], color=colour, linewidth=1.6)
    before, after = (peaks[i] for peaks in comparison.peaks)
    unit = comparison.units[i]
    kind = "Force" if unit == "N" else "Torque"
    _title(panel, f"{kind}, {comparison.joints[i]}", f"peak {before:.3g} → {after:.3g} {unit}")
    panel.set_xlim(*comparison.torques[0].trajectory.t[[0, -1]])
    panel.set_ylabel(f"[{unit}]")
    panel.locator_params(axis="y", nbins=5)
    if last:
        panel.set_xlabel("time [s]")


def _draw_arms(place: Any, design: Design, builds: Sequence[Build]) -> None:
    """Both arms from the side, to the same scale."""
    panels = place.subgridspec(1, 2, wspace=0.05).subplots()
    sketches = sketch_arms((design.before, design.model), builds)
    points = np.concatenate([sketch.points for sketch in sketches])
    heaviest = max(sketch.heaviest for sketch in sketches) or 1.0
    for panel, sketch, colour in zip(panels, sketches, (GREY, AFTER), strict=True):
        draw_arm(panel, sketch, colour, heaviest)
        # the same for two panels of one size, so that both are to one scale
        panel.update_datalim([points.min(axis=0), points.max(axis=0)])
        panel.set_aspect("equal", adjustable="datalim")
    panels[0].set_ylabel(f"{sketches[0].axes[1]} [m]")
    panels[1].tick_params(labelleft=False)
    for panel in panels:
        panel.set_xlabel(f"{sketches[0].axes[0]} [m]")
    weights = "orange: counterweights" if any(build.weights for build in builds) else ""
    _title(panels[0], "The arm before", "at q = 0, links as boxes of equal inertia")
    _title(panels[1], "The arm after", weights)
