"""Draws the picture of the tutorial of a space arm: python docs/images/draw_space_arm.py."""

import runpy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from scipy.spatial import ConvexHull

from armdyn.report.figures import COLOURS, GREY, INK, PALE, save_picture

EXAMPLE = Path(__file__).parents[2] / "examples" / "16_space_arm.py"
VIEW = np.array([[0.80, 0.60, 0.0], [-0.18, 0.24, 0.954]])
"""Where x, y and z of the world are on paper."""
BUS = np.array([(0.6, 0.6, 0.5), (0.0, 0.0, -0.25)])
"""Size and centre of the satellite [m]."""
COMPONENTS = "#0072B2", "#D55E00", "#CC79A7"
ARM, BOX = COLOURS["inertial"], COLOURS["gravity"]


def body(axes: Any, pose: Any, size: Any, centre: Any, look: dict[str, Any]) -> None:
    """A box as it is seen: its outline, and the edges at the corner that is nearest."""
    corners = np.array([*product((-0.5, 0.5), repeat=3)]) * size + centre
    seen = (corners @ pose[:3, :3].T + pose[:3, 3]) @ VIEW.T
    outline = seen[ConvexHull(seen).vertices]
    axes.add_patch(Polygon(outline, edgecolor="none", **look))
    towards = np.cross(*VIEW)
    nearest = int(np.argmax(corners @ pose[:3, :3].T @ towards))
    shade = {"color": GREY, "linewidth": 0.8, "alpha": look["alpha"], "zorder": look["zorder"]}
    axes.add_patch(Polygon(outline, fill=False, **shade))
    for axis in (1, 2, 4):
        ends = seen[[nearest, nearest ^ axis]]
        axes.plot(*ends.T, **shade)


def arm(axes: Any, robot: Any, base: Any, q: Any, alpha: float, zorder: int) -> Any:
    """The satellite with its arm; the pose of the hand."""
    free = robot.free_base
    names = ["link0", *(f"link{k}" for k in range(1, 8)), "tool"]
    places = [free.forward_kinematics(base, q, name) for name in names]
    body(axes, places[0], *BUS, {"facecolor": PALE, "alpha": alpha, "zorder": zorder})
    chain = np.array([T[:3, 3] for T in places]) @ VIEW.T
    look = {"alpha": alpha, "zorder": zorder + 1, "solid_capstyle": "round"}
    axes.plot(*chain.T, color="white", linewidth=8, **look)
    axes.plot(*chain.T, color=ARM, linewidth=5, **look)
    axes.plot(*chain[1:-1].T, "o", color="white", markersize=3, alpha=alpha, zorder=zorder + 2)
    return places[-1]


def space_arm() -> Any:
    """Start, catch and end; how far the base turns, and the momentum of the whole."""
    told = runpy.run_path(str(EXAMPLE))
    before, after = told["before"], told["after"]
    figure = Figure(figsize=(9.4, 4.3))
    axes: Any = figure.add_axes((0.01, 0.02, 0.54, 0.86))
    instants = ((before, 0, 0.30, 1), (before, -1, 0.55, 4), (after, -1, 1.0, 7))
    for run, k, alpha, zorder in instants:
        hand = arm(axes, told["robot"], run.base_state[k], run.q[k], alpha, zorder)
        if run is before:  # the box drifts with the hand from the catch on
            hand = before.hand.pose[-1].copy()
            hand[:3, 3] -= (told["time"] - before.t[k]) * told["drift"]
        look = {"facecolor": BOX, "alpha": 0.9 * alpha, "zorder": zorder}
        body(axes, hand, told["size"] * np.ones(3), [0, 0, told["size"] / 2], look)
    ways = np.concatenate([before.hand.position, after.hand.position]) @ VIEW.T
    axes.plot(*ways.T, "--", color=INK, linewidth=1.0, zorder=12)
    axes.set_aspect("equal")
    axes.axis("off")
    figure.text(0.02, 0.93, "A free-flying Panda catches a box", fontsize=12, weight="bold")
    t = np.concatenate([before.t, told["time"] + after.t])
    panels = figure.add_axes((0.62, 0.56, 0.36, 0.30)), figure.add_axes((0.62, 0.13, 0.36, 0.30))
    rotations = np.concatenate([run.base_state.rotation for run in (before, after)])
    traces = np.trace(rotations, axis1=1, axis2=2)
    turns = np.degrees(np.arccos(np.clip((traces - 1) / 2, -1, 1)))
    panels[0].plot(t, turns, color=INK)
    panels[0].set_title("the base turns by [degrees]", fontsize=10, loc="left")
    for run, robot, begin in ((before, told["robot"], 0.0), (after, told["holds"], told["time"])):
        h = robot.free_base.centroidal_momentum(run.base_state, run.q, run.qd)
        for column, name, colour in zip(h[:, :3].T, "xyz", COMPONENTS, strict=True):
            label = name if run is before else None
            panels[1].plot(begin + run.t, column, color=colour, label=label)
    panels[1].set_title("its momentum, with what it holds [kg m/s]", fontsize=10, loc="left")
    panels[1].legend(frameon=False, ncols=3, fontsize=9, loc="lower left")
    panels[1].set_xlabel("time [s]")
    for panel in panels:
        panel.axvline(told["time"], color=GREY, linewidth=0.8, linestyle=":")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].text(told["time"] + 0.08, 0.5, "catch", color=GREY, fontsize=9)
    return figure


if __name__ == "__main__":
    save_picture(Path(__file__).with_name("space_arm.png"), space_arm)
