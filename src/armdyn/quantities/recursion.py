"""Newton-Euler of a robot with numbers that are known at run time: payload, gravity, a moving base.

The recursion has the forces in the joints, which the shortest program for torques has not, and can
start from a base that moves.
"""

from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.joint_wrenches import LinkMotion
from armdyn.formulations.joint_wrenches import Turning as Turning
from armdyn.formulations.newton_euler import NewtonEuler, newton_euler
from armdyn.formulations.regressor import wrench_columns
from armdyn.formulations.spatial import rotate_back
from armdyn.model import RobotModel
from armdyn.shorten.run_time import payload_in_link


def moving(model: RobotModel, base_motion: Array) -> tuple[RobotModel, Turning]:
    """The robot as it stands and in the field that it feels, and how its base turns.

    The motion is that of `BaseMotion.vector`; a base that accelerates feels a field less by that.
    """
    R, (w, wd, vd) = base_motion[:9].reshape(3, 3), base_motion[9:].reshape(3, 3)
    base = np.array(model.base, dtype=object)
    base[:3, :3] = R
    standing = replace(model, base=base, gravity=model.gravity - vd)
    return standing, (rotate_back(R, w), rotate_back(R, wd))


def recursion(
    model: RobotModel,
    motion: tuple[Array, Array, Array],
    exerted: Array | None,
    turning: Turning,
    payload: Array | None,
) -> NewtonEuler:
    """Newton-Euler of one state of all joints, with what links exert, and a payload at the tool."""
    if payload is not None:
        # these are the nodes of the call below, so the motion is computed once
        outward = newton_euler(model, *motion, turning=turning)
        exerted = held_wrench(model, outward, payload, exerted)
    return newton_euler(model, *motion, exerted, turning)


def held_wrench(
    model: RobotModel, outward: NewtonEuler | LinkMotion, payload: Array, exerted: Array | None
) -> Array:
    """What links exert, (N, 6), with a payload at the tool that moves with its link."""
    at = model.flange.link
    force, moment = wrench_columns(outward.w[at], outward.wd[at], outward.vd[at])
    held = np.concatenate([force, moment]) @ payload_in_link(model, payload)
    rows = np.array(np.zeros((len(model.joints), 6)) if exerted is None else exerted, dtype=object)
    rows[at] = rows[at] + held
    return rows
