"""The picture of a fastest motion: the phase plane of the path, and what the torques take."""

from typing import Any

import numpy as np

from armdyn.figures import ALARM, COLOURS, GREY, INK, LIMIT, PALE
from armdyn.figures import save_picture as save_picture
from armdyn.simulation.plots import JOINTS


def draw(found: Any) -> Any:
    """The figure of a `TimeOptimal`."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)
    from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(9.5, 4.2), layout=ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.12))
    plane, torques = figure.subplots(1, 2)
    figure.suptitle(
        f"{found.robot.name}: along the path in {found.duration:.3f} s", x=0.016, ha="left",
        fontsize=13, weight="bold", color=INK,
    )  # fmt: skip
    part = 100 * found.s / found.s[-1]
    top = 1.25 * max(found.speed.max(), np.minimum(found.highest, 4 * found.speed.max()).max())
    plane.fill_between(part, np.minimum(found.allowed, top), top, color=PALE, lw=0)
    plane.plot(part, found.allowed, color=GREY, lw=1, label="torques and speeds allow")
    plane.plot(part, found.highest, color=ALARM, lw=1, ls="--", label="the rest can be followed")
    plane.plot(part, found.speed, color=COLOURS["inertial"], lw=2, label="fastest motion")
    plane.set(xlabel="part of the path [%]", ylabel="speed along the path [1/s]")
    plane.set(xlim=(0, 100), ylim=(0, top))
    plane.legend(loc="upper right", fontsize=8, frameon=True, facecolor="white", edgecolor="none")
    plane.set_title("Phase plane", weight="bold", fontsize=9.5)
    share = 100 * found.tau / found.effort
    for i, name in enumerate(found.robot.joint_names):
        colour = JOINTS[i % len(JOINTS)]
        torques.plot(found.t, share[:, i], color=colour, lw=1.4, label=name)
    for side in (-100, 100):
        torques.axhline(side, **LIMIT)
    torques.set(xlabel="time [s]", ylabel="torque [% of its limit]", xlim=(0, found.t[-1]))
    torques.set_title("Torques", weight="bold", fontsize=9.5)
    torques.legend(fontsize=7, frameon=False, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
