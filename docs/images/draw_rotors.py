"""Draws the picture of the page on rotors: python docs/images/draw_rotors.py."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import armdyn
from armdyn.report.figures import COLOURS, GREY, INK, PALE, save_picture

INERTIAS = np.array([6.057, 6.057, 4.625, 4.625, 2.055, 2.055, 2.055]) * 1e-5
"""Of the rotors of a Panda in Drake's model of it, with the gear ratio 100 [kg m²]."""
RATIOS = np.array([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 160.0])


def panda(ratio: float) -> Any:
    """A Panda with the same inertia behind gears of another ratio."""
    robot = armdyn.load("panda")
    for k, inertia in enumerate(INERTIAS):
        joint = robot.model.joints[k]
        given = {"axis": joint.placement[:3, :3] @ joint.axis, "carrier": f"link{k}"}
        given |= {"inertia": inertia * (100.0 / ratio) ** 2, "gear_ratio": ratio}
        robot = robot.with_rotor(joint.name, **given)
    return robot


def neglected(robot: Any) -> Any:
    """What the diagonal leaves out, rms over 400 states in percent of that of the torque."""
    limits = [joint.limits for joint in robot.model.joints]
    low, high, speed = np.array([[x.lower, x.upper, x.velocity] for x in limits]).T
    ends = np.array([[low, high], [-speed, speed], [-5 * speed, 5 * speed]])
    states = np.random.default_rng(0).uniform(ends[:, :1], ends[:, 1:], (3, 400, robot.n))
    whole = robot.inverse_dynamics(*states, friction=False)
    return 100 * np.sqrt(np.mean(robot.ledger(*states).spin ** 2, 0) / np.mean(whole**2, 0))


def picture() -> Any:
    """By joint for two arms, and over the gear ratio for one of them."""
    figure = Figure(figsize=(8.6, 3.3), layout="constrained")
    bars, lines = figure.subplots(1, 2)
    arms = {"Puma 560": armdyn.load("puma560", spinning_rotors=True), "Panda": panda(100.0)}
    colours = COLOURS["inertial"], COLOURS["spin"]
    for k, (name, robot) in enumerate(arms.items()):
        shares, at = neglected(robot), np.arange(robot.n) + 1.0 + 0.38 * (k - 0.5)
        bars.bar(at, shares, 0.36, color=colours[k], label=name)
        for x, share in zip(at, shares, strict=True):
            bars.text(x, share + 0.02, f"{share:.1f}", ha="center", fontsize=7, color=GREY)
    bars.set(xlabel="joint", ylabel="neglected, % of the rms torque", ylim=(0, 1.5))
    bars.set_title("Published gear ratios", fontsize=10)
    bars.legend(frameon=False, loc="upper left", fontsize=9)
    every = np.array([neglected(panda(ratio)) for ratio in RATIOS])
    lines.fill_between(RATIOS, every.min(1), every.max(1), color=PALE, label="all joints")
    for joint, colour, side in (
        (6, colours[1], "wrist, joint 7"),
        (1, colours[0], "shoulder, joint 2"),
    ):
        lines.loglog(RATIOS, every[:, joint], "o-", color=colour, markersize=3, label=side)
    lines.axvspan(1, 10, color=GREY, alpha=0.08, linewidth=0)
    lines.text(3.2, 0.07, "it matters", ha="center", fontsize=9, color=INK)
    lines.set(
        xlim=(1, 160), ylim=(0.04, 120), xlabel="gear ratio N, the same inertia behind the gear"
    )
    lines.set(xticks=(1, 10, 100), xticklabels=("1", "10", "100"))
    lines.set(yticks=(0.1, 1, 10, 100), yticklabels=("0.1 %", "1 %", "10 %", "100 %"))
    lines.set_title("Panda: neglected torque, as 1/N", fontsize=10)
    lines.legend(frameon=False, loc="upper right", fontsize=9)
    for axes in (bars, lines):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    save_picture(Path(__file__).with_name("rotors.png"), picture)
