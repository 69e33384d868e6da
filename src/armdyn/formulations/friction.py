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
    law = _Law.of(model, qd)
    return FrictionTerms(law.viscous * qd, law.coulomb * law.sign, law.excess * law.sign)


def friction_slopes(model: RobotModel, qd: Array) -> Array:
    """Derivative of each friction torque by its own velocity, (..., N).

    Where the sign is a true one, its jump at rest is no derivative and counts as 0.
    """
    law = _Law.of(model, qd)
    fading = -2.0 * qd / law.speed**2 * law.excess * law.sign
    return law.viscous + (law.coulomb + law.excess) * law.sign_slope + fading


@dataclass(frozen=True, slots=True)
class _Law:
    """What the law of friction is made of at given velocities, each (..., N)."""

    viscous: Array
    coulomb: Array
    excess: Array
    """Stribeck excess."""
    speed: Array
    """Speed over which it dies out."""
    sign: Array
    """Sign of the velocity, or its smooth form."""
    sign_slope: Array

    @classmethod
    def of(cls, model: RobotModel, qd: Array) -> "_Law":
        def each(field: str) -> Array:
            return np.array([getattr(joint.friction, field) for joint in model.joints])

        smooth = each("smooth_velocity") > 0
        width = np.where(smooth, each("smooth_velocity"), 1.0)
        sign = np.where(smooth, np.tanh(qd / width), np.sign(qd))
        speed = np.where(each("stribeck") > 0, each("stribeck_velocity"), 1.0)
        return cls(
            viscous=each("viscous"),
            coulomb=np.where(qd > 0, each("coulomb_positive"), each("coulomb_negative")),
            excess=each("stribeck") * np.exp(-np.square(qd / speed)),
            speed=speed,
            sign=sign,
            sign_slope=np.where(smooth, (1.0 - sign**2) / width, 0.0),
        )
