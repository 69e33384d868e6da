"""What cut joints transmit."""

from collections.abc import Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import WorldFrames
from armdyn.formulations.loops.dyad import StandingDyad, Values
from armdyn.formulations.loops.parallelogram import LinearDyad
from armdyn.formulations.loops.steps import StandingStep
from armdyn.formulations.spatial import rotate
from armdyn.model import RobotModel


def cut_wrenches(
    model: RobotModel,
    steps: Sequence[StandingStep],
    q: Values,
    tau: Array,
    frames: WorldFrames,
) -> list[tuple[Array, Array]]:
    """Force and moment of b on a at frame a for every loop, in world axes; see `StandingLoops`."""
    values = [tau[..., i] if tau.dtype != object else tau[i] for i in range(tau.shape[-1])]
    found = {loop.name: np.zeros(3) for loop in model.loops}
    for step in reversed(steps):
        standing = StandingDyad(step.dyad, q, solved=True) if isinstance(step, LinearDyad) else step
        if not isinstance(standing, StandingDyad):  # a coupling
            standing.torques(q, values)
            continue
        fx, fy = standing.torques(q, values)
        plane = standing.dyad.plane
        x, y = np.asarray(plane.x), np.asarray(plane.y)
        local = np.asarray(fx)[..., None] * x + np.asarray(fy)[..., None] * y
        found[plane.loop.name] = rotate(frames.link(plane.host)[0], local)
    return [(found[loop.name], 0.0 * found[loop.name]) for loop in model.loops]
