"""Friction torques at the joints, by the laws of `armdyn.model.friction`."""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.spatial import sign
from armdyn.model import RobotModel
from armdyn.model.friction.law import FRICTION_ROWS


def friction_rows(model: RobotModel, qd: Array) -> dict[str, Array]:
    """What the actuators must add to overcome friction, each row of the ledger (..., N).

    Args:
        model: The robot.
        qd: Joint velocities (..., N), floats or nodes.
    """
    laws = [joint.friction for joint in model.joints]
    joints = [law.rows(qd[..., i], sign(qd[..., i])) for i, law in enumerate(laws)]
    still = 0.0 * qd
    return {
        row: np.stack([rows.get(row, still[..., i]) for i, rows in enumerate(joints)], -1)
        for row in FRICTION_ROWS
    }


def friction_torque(model: RobotModel, qd: Array) -> Array:
    """The sum of the rows, (..., N)."""
    return sum(friction_rows(model, qd).values(), 0.0 * qd)
