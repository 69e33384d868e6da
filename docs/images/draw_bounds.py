"""Draws the picture of the page on bounds: python docs/images/draw_bounds.py."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from armdyn.bounds.boxes import QUARTIC, controls
from armdyn.report.figures import ALARM, COLOURS, GREY, INK, PALE, save_picture

FULL = 1.2
"""Half the width of the widest box [rad]."""


def arcs() -> Any:
    """The hull of the control points of an arc, and those of its halves; a torque over them."""
    figure = Figure(figsize=(8.2, 3.6), layout="constrained")
    left: Any = figure.add_subplot(1, 2, 1, aspect="equal")
    right: Any = figure.add_subplot(1, 2, 2)
    t = np.linspace(-FULL, FULL, 201)
    for parts, colour in ((1, PALE), (2, COLOURS["inertial"])):
        half = FULL / parts
        middles = FULL * (2 * np.arange(parts) + 1) / parts - FULL
        for points in controls(QUARTIC, middles, np.full(parts, half)):
            corners = points[:, 1:3]
            hull = corners[ConvexHull(corners).vertices]
            left.fill(*hull.T, facecolor=colour, edgecolor=GREY, alpha=0.6)
            left.plot(*corners.T, "o", color=INK, markersize=3)
    left.plot(np.cos(t), np.sin(t), color=ALARM, linewidth=1.4)
    left.set(xlabel="cos q", ylabel="sin q")

    weights = np.array([0.2, 1.0, 0.3, -0.9, 1.1])  # of 1, c, s, c², cs
    curve = np.stack([t**0, np.cos(t), np.sin(t), np.cos(t) ** 2, np.cos(t) * np.sin(t)], -1)
    right.plot(t, curve @ weights, color=ALARM, linewidth=1.4, label="a torque")
    for parts, style in ((1, ":"), (2, "--"), (4, "-")):
        edges = np.linspace(-FULL, FULL, parts + 1)
        middles = 0.5 * (edges[1:] + edges[:-1])
        bound = (controls(QUARTIC, middles, np.full(parts, FULL / parts)) @ weights).max(axis=1)
        words = "its bound" if parts == 1 else f"over {parts} parts"
        right.stairs(bound, edges, baseline=None, color=INK, linestyle=style, label=words)
    right.set(xlabel="q [rad]", ylabel="[N m]")
    right.legend(frameon=False, fontsize=8)
    return figure


if __name__ == "__main__":
    save_picture(Path(__file__).parent / "bounds_control.svg", arcs)
