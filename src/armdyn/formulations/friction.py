"""Friction torques at the joints, term by term (see `armdyn.model.Friction` for the law)."""

import math
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.spatial import sign
from armdyn.model import Friction, RobotModel


@dataclass(frozen=True, slots=True)
class FrictionTerms:
    """What the actuator must add to overcome friction, each (..., N)."""

    viscous: Array
    coulomb: Array
    stribeck: Array

    @property
    def total(self) -> Array:
        """Their sum."""
        return self.viscous + self.coulomb + self.stribeck


def friction_terms(model: RobotModel, qd: Array) -> FrictionTerms:
    """Friction torques for joint velocities qd (..., N), floats or nodes."""
    joints = [_terms(joint.friction, qd[..., i]) for i, joint in enumerate(model.joints)]
    return FrictionTerms(*(np.stack(term, -1) for term in zip(*joints, strict=True)))


def _terms(law: Friction, qd: Array) -> tuple[Array, Array, Array]:
    still = 0.0 * qd
    s = np.tanh(qd / law.smooth_velocity) if law.smooth_velocity else sign(qd)
    mean = 0.5 * (law.coulomb_positive + law.coulomb_negative)
    uneven = 0.5 * (law.coulomb_positive - law.coulomb_negative)
    coulomb = (mean + (uneven * sign(qd) if uneven else 0.0)) * s if mean else still
    excess = np.multiply(law.stribeck, s) if law.stribeck else still
    if law.stribeck and math.isfinite(law.stribeck_velocity):
        excess = excess * np.exp(-(np.square(qd / law.stribeck_velocity)))
    return law.viscous * qd, coulomb, excess
