"""How far the torques of a robot in canonical frames are from those of the robot itself.

Measured, not bounded: a joint with a small load on a long arm can move by far more than what was
taken for zero.
"""

import numpy as np

from armdyn.formulations.augmented_body import augmented_body
from armdyn.model.robot import RobotModel
from armdyn.shorten.canonical.model import branches, members_of_branches, model_from_canonical
from armdyn.shorten.canonical.robot import CanonicalRobot

COMPARED_STATES = 200
"""Random states that a difference is measured over."""

_TORQUE_NOISE = 256 * np.finfo(float).eps
"""A difference this small, relative to the largest torque of the robot, is rounding."""


def torque_difference(
    model: RobotModel, robot: CanonicalRobot, states: int = COMPARED_STATES
) -> float:
    """The largest difference of a torque, relative to the largest torque of the same joint.

    It is measured over random states (seeded), without rotors and friction.
    """
    rng = np.random.default_rng(0)
    shape = (states, len(robot.links))
    q, qd, qdd = (rng.uniform(-limit, limit, size=shape) for limit in (np.pi, 2.0, 2.0))
    expected = augmented_body(model, q, qd, qdd).tau
    found = np.empty(shape)
    for members, part in zip(members_of_branches(robot), branches(robot), strict=True):
        motion = (x[:, members] for x in (q, qd, qdd))
        found[:, members] = augmented_body(model_from_canonical(part, float), *motion).tau
    moved, largest = np.abs(found - expected).max(axis=0), np.abs(expected).max(axis=0)
    seen = moved > _TORQUE_NOISE * largest.max()
    return float(np.max(moved[seen] / np.maximum(largest[seen], 1e-300), initial=0.0))
