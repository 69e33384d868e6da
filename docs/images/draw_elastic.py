"""Draws the picture of the page on elastic joints: python docs/images/draw_elastic.py."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import armdyn
from armdyn.report.figures import COLOURS, GREY, save_picture
from armdyn.simulation import ElasticFeedforward, smooth_move

HOME = np.radians([0, -90, 90, -90, -90, 0])
AWAY = np.array([0.6, 0.3, -0.4, 0.3, 0.2, 0.5])
KP, KD, TIME = 4e4, 400.0, 0.35


def soft_arm() -> Any:
    """A UR5e with inertias of motors and stiffness of transmissions that are assumed."""
    robot = armdyn.load("ur5e")
    inertias = [1.0, 1.0, 1.0, 0.2, 0.2, 0.2]
    for name, behind in zip(robot.joint_names, inertias, strict=True):
        robot = robot.with_joint(name, rotor_inertia=behind / 101**2, gear_ratio=101.0)
    return robot.with_elasticity([2e4, 2e4, 2e4, 6e3, 6e3, 6e3])


def errors(robot: Any, law: Any, move: Any) -> Any:
    """Times, and how far the tool is from where it shall be [mm]."""
    options = {"duration": 0.6, "elastic": True, "method": "rk4", "step": 1e-4, "friction": False}
    run = armdyn.simulate(robot, HOME, controller=law, dt=1e-3, **options)
    wanted = robot.forward_kinematics(move(run.t).q)
    return run.t, 1e3 * np.linalg.norm((run.hand.pose - wanted)[:, :3, 3], axis=-1)


def picture() -> Any:
    """The end of a move, a map of the lowest vibration, and what a payload does to it."""
    robot, move = soft_arm(), smooth_move(HOME, HOME + AWAY, TIME)

    def rigid(t: float, theta: Any, thetad: Any) -> Any:
        want = move(t)
        tau = robot.inverse_dynamics(*want, friction=False)
        return tau + KP * (want.q - theta) + KD * (want.qd - thetad)

    figure = Figure(figsize=(10.0, 3.2), layout="constrained")
    steps, place, load = figure.subplots(1, 3)
    laws = {"rigid": rigid, "elastic": ElasticFeedforward(robot, move, KP, KD)}
    for (name, law), row in zip(laws.items(), ("coriolis", "inertial"), strict=True):
        t, off = errors(robot, law, move)
        steps.plot(t, off, color=COLOURS[row], label=f"{name} feedforward", linewidth=1.2)
    steps.axvline(TIME, color=GREY, linewidth=0.8, linestyle=":")
    steps.set(xlabel="time [s]", ylabel="tool off its way [mm]", ylim=(0, None))
    steps.legend(frameon=False, fontsize=8)
    steps.set_title("A move of 0.35 s, and after it", fontsize=10)
    shoulder, elbow = np.radians(np.meshgrid(np.linspace(-180, 0, 61), np.linspace(-150, 150, 61)))
    q = np.broadcast_to(HOME, (*shoulder.shape, 6)).copy()
    q[..., 1], q[..., 2] = shoulder, elbow
    lowest = robot.elastic.modes(q, "locked").frequencies[..., 0]
    drawn = place.contourf(np.degrees(shoulder), np.degrees(elbow), lowest, 12, cmap="viridis")
    figure.colorbar(drawn, ax=place, label="lowest [Hz]")
    place.set(xlabel="shoulder [degrees]", ylabel="elbow [degrees]")
    place.set_title("Motors locked", fontsize=10)
    masses = np.linspace(0.0, 5.0, 11)
    held = [robot.with_payload(m) if m else robot for m in masses]
    found = np.array([x.elastic.modes(HOME, "locked").frequencies[:3] for x in held])
    for k, row in enumerate(("inertial", "coriolis", "gravity")):
        style = {"color": COLOURS[row], "label": f"mode {k + 1}"}
        load.plot(masses, found[:, k], "o-", markersize=3, **style)
    load.set(xlabel="payload [kg]", ylabel="vibration [Hz]", ylim=(0, None))
    load.legend(frameon=False, fontsize=8)
    load.set_title("Motors locked, at home", fontsize=10)
    return figure


if __name__ == "__main__":
    save_picture(Path(__file__).with_name("elastic.png"), picture)
