"""Friction of joints that slip and stick.

A slipping joint has a sign that does not change until its velocity is zero, and the friction of its
law in that direction. At rest dry friction is whatever holds the joint, between the levels at which
it breaks away in either direction. Friction with a smooth sign has no sticking, and is a function
of the velocity alone. Where its slope at rest is infinite, a joint that would creep too slowly to
be seen sticks as well: no integrator follows a slope without bounds.
"""

from collections.abc import Callable

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import SimulationError
from armdyn.formulations.coordinates import StandingMap
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import FrictionLaw, RobotModel
from armdyn.model.friction_terms import TERMS

SLOWEST_CREEP = 1e-9
"""A joint that friction of infinite slope would slow down below this is at rest [rad/s or m/s]."""


class DryFriction:
    """Friction at the coordinates of a robot, with signs for those that have dry friction."""

    def __init__(
        self,
        model: RobotModel,
        wanted: bool = True,
        positions: Callable[[Array], Array] | None = None,
    ):
        """Take the friction of a robot; if it is not wanted, the robot is taken to have none.

        `positions` gives those of all joints, for robots with loops.
        """
        self._positions = positions
        self._laws = [each.friction if wanted else FrictionLaw() for each in model.driven]
        at = coordinates_of(model)
        self._at = at.with_drives() if model.drives else at
        self._widths = np.array([law.smooth_velocity for law in self._laws])
        self._smooth = self._widths > 0
        self._sticks = np.array([_level(law, 1.0) - _level(law, -1.0) > 0 for law in self._laws])
        self._check_sticking(model)
        self._terms = []
        for term in TERMS:
            joints = [i for i, law in enumerate(self._laws) if law.has(term)]
            if joints:
                values = np.array([term.values(self._laws[i]) for i in joints]).T
                everywhere = len(joints) == len(self._laws)
                self._terms.append((term.torque, slice(None) if everywhere else joints, values))
        ones = np.ones(len(model.independent))
        self.high = self._levels(ones)
        """Torque above which a joint at rest starts in the positive direction, (n,)."""
        self.low = self._levels(-ones)
        """Torque below which it starts in the negative direction, (n,)."""
        self.dry = self.low < self.high
        """Which coordinates stick, (n,)."""

    def _check_sticking(self, model: RobotModel) -> None:
        """Refuse dry friction that would hold no coordinate, but something between several."""
        for drive, sticks in zip(model.drives, self._sticks[len(model.joints) :], strict=True):
            if sticks:
                raise SimulationError(
                    f"drive {drive.name!r} turns with several joints and has dry friction, which "
                    "would hold none of them but their sum; give it a smooth_velocity, or leave "
                    "friction out (friction=False, --no-friction)"
                )
        for i in model.passive:
            if self._sticks[i] and not self._follows_one(i):
                raise SimulationError(
                    f"joint {model.joints[i].name!r} follows from a loop and has dry friction, "
                    "which would hold none of the actuated joints alone; give it a "
                    "smooth_velocity, or leave friction out (friction=False, --no-friction)"
                )

    def _follows_one(self, joint: int) -> bool:
        """Whether a passive joint turns with one coordinate, in a ratio that does not change."""
        K = self._at.G if self._at.is_linear else None
        return K is not None and bool(np.count_nonzero(K[joint]) <= 1)

    def __call__(self, q: Array, qd: Array, sign: Array) -> Array:
        """Friction torque (n,) but for what holds sticking joints, which have the sign 0."""
        torques = np.zeros(qd.shape[:-1] + self._widths.shape)
        if not self._terms:
            return np.zeros(qd.shape)
        at: StandingMap = self._at
        if not self._at.is_linear:
            known = self._positions
            at = self._at.at(q) if known is None else self._at.known(known(q))
        rates, direction = at.rates(qd), np.sign(at.rates(sign))
        if not self._sticks.all():
            direction = np.where(self._sticks, direction, np.sign(rates))
        s = direction
        if self._smooth.any():
            ramp = np.tanh(rates / np.where(self._smooth, self._widths, 1.0))
            s = np.where(self._smooth, ramp, direction)
        for torque, joints, values in self._terms:
            motion = (x[..., joints] for x in (rates, direction, s))
            torques[..., joints] += torque(*motion, *values)
        return at.torques(torques)

    def _levels(self, sign: Array) -> Array:
        if not self._at.is_linear:  # none but actuated joints stick
            own = [self._laws[i] for i in self._at.model.independent]
            return np.array(list(map(_level, own, sign)))
        signs = np.sign(self._at.rates(sign))
        return self._at.torques(np.array(list(map(_level, self._laws, signs))))


def _level(law: FrictionLaw, sign: float) -> float:
    """The torque above which a joint at rest starts in a direction, with its sign."""
    return (law.static_level(sign) if law.jumps else 0.0) + law.steep_torque(sign * SLOWEST_CREEP)
