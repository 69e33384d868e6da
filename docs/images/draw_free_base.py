"""Draws the picture of the page on free bases: python docs/images/draw_free_base.py."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from scipy.spatial.transform import Rotation

import armdyn
from armdyn.report.figures import COLOURS, GREY, INK, PALE, save_picture

BUS = (0.6, 0.6, 0.5)
"""Size of the satellite [m]."""
POSE = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.8, 0.0])
SWING = np.array([0.0, 1.0, 0.0, 0.6, 0.0, 0.5, 0.0])
"""Rates of the joints in the plane of the picture [rad/s]."""
STEPS, TIME = 200, 1.5


def motion(free: Any, rests: bool) -> list[tuple[Any, Any]]:
    """States of base and joints of an arm that swings without momentum, by the midpoint rule."""
    base, q, h = armdyn.BaseState(), POSE, TIME / STEPS
    states = [(base, q)]
    for _ in range(STEPS):

        def rates(base: Any, q: Any) -> tuple[Any, Any]:
            qd = free.reaction_null_space(base, q) @ SWING if rests else SWING
            return free.dynamic_coupling(base, q) @ qd, qd

        def moved(twist: Any, qd: Any, h: float, base: Any = base, q: Any = q) -> Any:
            turned = Rotation.from_rotvec(h * twist[3:]).as_matrix() @ base.rotation
            return armdyn.BaseState(turned, base.position + h * twist[:3]), q + h * qd

        base, q = moved(*rates(*moved(*rates(base, q), h / 2)), h)
        states.append((base, q))
    return states


def space_arm() -> Any:
    """The same swing of a Panda on a satellite, freely and in the reaction null space."""
    bus = armdyn.Inertia.box(BUS, mass=60.0).moved((0, 0, -BUS[2] / 2))
    robot = armdyn.load("panda").with_link("link0", bus).with_gravity([0, 0, 0])
    free, names = robot.free_base, ["link0", *(f"link{k}" for k in range(1, 8)), "tool"]
    figure = Figure(figsize=(8.2, 3.4), layout="constrained")
    for k, (rests, words) in enumerate(((False, "as it comes"), (True, "attitude at rest"))):
        axes: Any = figure.add_subplot(1, 2, k + 1)
        states = motion(free, rests)
        angles = [np.degrees(np.arctan2(base.rotation[0, 2], base.rotation[0, 0]))
                  for base, _ in states]  # fmt: skip
        hands = np.array([free.forward_kinematics(*state)[:3, 3] for state in states])
        colour = COLOURS["inertial"]
        for place, shade in ((0, 0.25), (STEPS // 2, 0.5), (STEPS, 1.0)):
            base, q = states[place]
            x, y = BUS[0] / 2, BUS[2]
            corners = np.array([(-x, 0, -y), (x, 0, -y), (x, 0, 0), (-x, 0, 0)])
            corners = corners @ base.rotation.T + base.position
            axes.add_patch(Polygon(corners[:, [0, 2]], facecolor=PALE, edgecolor=GREY, alpha=shade))
            chain = np.array([free.forward_kinematics(base, q, name)[:3, 3] for name in names])
            axes.plot(chain[:, 0], chain[:, 2], "o-", color=colour, alpha=shade, markersize=3)
            c = free.center_of_mass(base, q)
        axes.plot(hands[:, 0], hands[:, 2], color=GREY, linewidth=0.9, linestyle="--")
        axes.plot(c[0], c[2], "+", color=INK, markersize=9)
        axes.set_title(f"{words}: the base turns by {abs(angles[-1]):.1f}°", fontsize=10)
        axes.set_aspect("equal")
        axes.set(xlim=(-0.8, 1.1), ylim=(-0.7, 1.2), xlabel="x [m]", ylabel="z [m]")
        axes.set(xticks=(-0.5, 0, 0.5, 1), yticks=(-0.5, 0, 0.5, 1))
    return figure


if __name__ == "__main__":
    save_picture(Path(__file__).with_name("free_base.png"), space_arm)
