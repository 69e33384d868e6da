"""Rotors: what motors add to the links, those included that turn with several joints.

With S = [1; R], where R holds the ratios of the drives, rotors turn at S q̇ and add Sᵀ J S to the
mass matrix, J diagonal. Their gyroscopic effect is neglected.
"""

from collections.abc import Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.model import RobotModel


def rotor_inertias(model: RobotModel) -> Array:
    """J: rotor inertias felt behind the gears, of the joints and then of the drives, (N + m,)."""
    return np.array([owner.rotor.reflected for owner in model.driven])


def rotor_matrix(model: RobotModel, inertias: Sequence[object] | Array | None = None) -> Array:
    """Sᵀ J S for inertias in the order of `rotor_inertias`; None: those of the robot, (N, N)."""
    J = rotor_inertias(model) if inertias is None else np.asarray(inertias)
    joints, drives = np.split(J, [len(model.joints)])
    R = model.drive_ratios
    return np.diag(joints) + R.T @ (drives[:, None] * R) if model.drives else np.diag(joints)


def rotor_torques(model: RobotModel, qdd: Array, inertias: Array | None = None) -> Array:
    """Sᵀ J S q̈ at all joints, (..., N)."""
    J = rotor_inertias(model) if inertias is None else inertias
    joints, drives = np.split(J, [len(model.joints)])
    own, R = joints * qdd, model.drive_ratios
    return own + (drives * (qdd @ R.T)) @ R if model.drives else own
