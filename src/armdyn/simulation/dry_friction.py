"""Dry friction of joints that slip and stick.

A slipping joint has a sign s that does not change until its velocity is zero: its friction is

    viscous q̇ + s (coulomb + stribeck exp(-(q̇ / stribeck_velocity)²))

with the Coulomb level of that direction. At rest friction is whatever holds the joint, between the
levels at which it breaks away, -(coulomb + stribeck) and coulomb + stribeck of both directions.
Friction with a smooth sign has no sticking, and is a function of the velocity alone.
"""

from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.coupling import Coordinates
from armdyn.model import Friction, RobotModel


class DryFriction:
    """Friction at the coordinates of a robot, with signs for those that have dry friction."""

    def __init__(self, model: RobotModel, wanted: bool = True):
        """Take the friction of a robot.

        Args:
            model: The robot.
            wanted: False: the robot is taken to have none.
        """
        laws = [joint.friction if wanted else Friction() for joint in model.joints]
        self._at = Coordinates.of(model)
        self._none = all(law.is_zero for law in laws)
        self._viscous = np.array([law.viscous for law in laws])
        self._positive = np.array([law.coulomb_positive for law in laws])
        self._negative = np.array([law.coulomb_negative for law in laws])
        self._excess = np.array([law.stribeck for law in laws])
        self._speed = np.array([law.stribeck_velocity or np.inf for law in laws])
        self._width = np.array([law.smooth_velocity for law in laws])
        n = len(model.independent)
        ones = np.ones(n)
        self.high = self._dry_torque(np.zeros(n), ones)
        """Torque above which a joint at rest starts in the positive direction, (n,)."""
        self.low = self._dry_torque(np.zeros(n), -ones)
        """Torque below which it starts in the negative direction, (n,)."""
        self.dry = self.low < self.high
        """Which coordinates stick, (n,)."""

    def __call__(self, qd: Array, sign: Array) -> Array:
        """Friction torque of moving joints (n,); sticking ones, with sign 0, have none here."""
        if self._none:
            return np.zeros_like(qd)
        rates = self._at.rates(qd)
        smooth = self._width > 0
        s = np.where(smooth, np.tanh(rates / np.where(smooth, self._width, 1.0)), 0.0)
        rest = self._viscous * rates + s * self._level(rates, np.sign(rates))
        return self._at.torques(rest) + self._dry_torque(qd, sign)

    def _dry_torque(self, qd: Array, sign: Array) -> Array:
        rates, s = self._at.rates(qd), np.sign(self._at.rates(sign))
        return self._at.torques(np.where(self._width == 0, s * self._level(rates, s), 0.0))

    def _level(self, rates: Array, sign: Any) -> Array:
        coulomb = np.where(sign > 0, self._positive, self._negative)
        return coulomb + self._excess * np.exp(-np.square(rates / self._speed))
