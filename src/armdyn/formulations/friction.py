"""Friction torques at the joints, by the laws of `armdyn.model.friction`."""

from collections.abc import Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.spatial import sign
from armdyn.model import FrictionLaw, RobotModel
from armdyn.model.friction import FRICTION_ROWS


def friction_rows(model: RobotModel, qd: Array) -> dict[str, Array]:
    """What the actuators must add to overcome friction, each row of the ledger (..., N).

    Args:
        model: The robot.
        qd: Joint velocities (..., N), floats or nodes.
    """
    R = model.drive_ratios
    rows = _rows([joint.friction for joint in model.joints], qd)
    if not model.drives:
        return rows
    drives = _rows([drive.friction for drive in model.drives], qd @ R.T)
    return {row: torque + drives[row] @ R for row, torque in rows.items()}


def _rows(laws: Sequence[FrictionLaw], rates: Array) -> dict[str, Array]:
    each = [law.rows(rates[..., i], sign(rates[..., i])) for i, law in enumerate(laws)]
    still = 0.0 * rates
    return {
        row: np.stack([rows.get(row, still[..., i]) for i, rows in enumerate(each)], -1)
        for row in FRICTION_ROWS
    }


def friction_torque(model: RobotModel, qd: Array) -> Array:
    """The sum of the rows, (..., N)."""
    return sum(friction_rows(model, qd).values(), 0.0 * qd)
