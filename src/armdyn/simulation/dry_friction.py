"""Friction of joints that slip and stick.

A slipping joint has a sign that does not change until its velocity is zero, and the friction of its
law in that direction. At rest dry friction is whatever holds the joint, between the levels at which
it breaks away in either direction. Friction with a smooth sign has no sticking, and is a function
of the velocity alone.
"""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.coupling import Coordinates
from armdyn.model import FrictionLaw, RobotModel


class DryFriction:
    """Friction at the coordinates of a robot, with signs for those that have dry friction."""

    def __init__(self, model: RobotModel, wanted: bool = True):
        """Take the friction of a robot.

        Args:
            model: The robot.
            wanted: False: the robot is taken to have none.
        """
        self._laws = [joint.friction if wanted else FrictionLaw() for joint in model.joints]
        self._at = Coordinates.of(model)
        ones = np.ones(len(model.independent))
        self.high = self._levels(ones)
        """Torque above which a joint at rest starts in the positive direction, (n,)."""
        self.low = self._levels(-ones)
        """Torque below which it starts in the negative direction, (n,)."""
        self.dry = self.low < self.high
        """Which coordinates stick, (n,)."""

    def __call__(self, qd: Array, sign: Array) -> Array:
        """Friction torque of moving joints (n,); sticking ones, with sign 0, have none here."""
        rates, directions = self._at.rates(qd), np.sign(self._at.rates(sign))
        torques = np.zeros_like(rates)
        for i, law in enumerate(self._laws):
            if not law.is_zero:
                rate = rates[..., i]
                direction = directions[..., i] if law.jumps else np.sign(rate)
                torques[..., i] = law.torque(rate, direction)
        return self._at.torques(torques)

    def _levels(self, sign: Array) -> Array:
        signs = np.sign(self._at.rates(sign))
        levels = (
            law.static_level(s) if law.jumps else 0.0
            for law, s in zip(self._laws, signs, strict=True)
        )
        return self._at.torques(np.array(list(levels)))
