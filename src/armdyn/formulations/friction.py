"""Friction torques at the joints, term by term (see `armdyn.model.Friction` for the law)."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.model import RobotModel


@dataclass(frozen=True, slots=True)
class FrictionTerms:
    """What the actuator must add to overcome friction, each (..., N)."""

    viscous: Array
    coulomb: Array
    stribeck: Array


def friction_terms(model: RobotModel, qd: Array) -> FrictionTerms:
    """Friction torques for joint velocities qd (..., N)."""

    def each(field: str) -> Array:
        return np.array([getattr(joint.friction, field) for joint in model.joints])

    width, speed = each("smooth_velocity"), each("stribeck_velocity")
    smooth = np.tanh(qd / np.where(width > 0, width, 1.0))
    sign = np.where(width > 0, smooth, np.sign(qd))
    coulomb = np.where(qd > 0, each("coulomb_positive"), each("coulomb_negative"))
    stribeck = each("stribeck")
    decay = np.exp(-np.square(qd / np.where(stribeck > 0, speed, 1.0)))
    return FrictionTerms(each("viscous") * qd, coulomb * sign, stribeck * decay * sign)
