"""Draws the picture of the page on inverse kinematics.

python docs/images/draw_inverse_kinematics.py
"""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import armdyn
from armdyn.report.figures import COLOURS, GREY, INK, save_picture

POSE = np.array([-0.63, 0.77, -2.39, 1.78, 1.29, 2.68])
"""Joints that reach the pose [rad]."""


def solutions() -> Any:
    """The four shapes of a Puma 560 that reach one pose, each with two turns of its wrist."""
    robot = armdyn.load("puma560")
    pose = robot.forward_kinematics(POSE)
    found = robot.inverse_kinematics(pose, POSE, most=8)
    points = robot.link_frames(found)[:, :, :3, 3]
    base = np.broadcast_to(points[:, :1] * [1, 1, 0], (len(found), 1, 3))
    chains = np.concatenate([base, points], axis=1)
    shapes: dict[tuple[float, ...], list[int]] = {}
    for i, chain in enumerate(chains):
        shapes.setdefault(tuple(chain[2].round(3)), []).append(i)
    figure = Figure(figsize=(7.6, 2.5), layout="constrained")
    figure.set_layout_engine("constrained", h_pad=0.08)
    for k, (turns, colour) in enumerate(zip(shapes.values(), COLOURS.values(), strict=False)):
        axes: Any = figure.add_subplot(1, len(shapes), k + 1, projection="3d")
        for chain in chains:
            axes.plot(*chain.T, color=GREY, linewidth=0.6, alpha=0.5)
        axes.plot(*chains[turns[0]].T, "o-", color=colour, linewidth=2.4, markersize=3.5)
        for axis in pose[:3, :3].T:
            ends = np.stack([pose[:3, 3], pose[:3, 3] + 0.15 * axis], 1)
            axes.plot(*ends, color=INK, linewidth=1.0)
        degrees = ", ".join(f"{x:.0f}" for x in np.degrees(found[turns[0], :3]))
        axes.set_title(f"q1, q2, q3 = {degrees}°\n{len(turns)} turns of the wrist", fontsize=7.5)
        axes.set_box_aspect((1, 1, 1), zoom=1.75)
        axes.set(xlim=(-0.25, 0.65), ylim=(-0.7, 0.2), zlim=(0.3, 1.2))
        axes.set_axis_off()
        axes.view_init(34, -15)
    return figure


if __name__ == "__main__":
    save_picture(Path(__file__).with_name("solutions_puma560.png"), solutions)
