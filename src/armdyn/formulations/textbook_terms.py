"""Quantities of a robot in NumPy, for robots that are so long that compiling takes minutes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations import kinematics
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coordinates import Coordinates
from armdyn.formulations.energy import link_energies, potential_energy
from armdyn.formulations.external import exerted_wrench
from armdyn.formulations.forward_dynamics import ForwardMethod, accelerations
from armdyn.formulations.friction import friction_rows, friction_torque
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import rotor_matrix, rotor_torques
from armdyn.formulations.springs import spring_torques
from armdyn.model import Frame


@dataclass(frozen=True, eq=False)
class TextbookTerms:
    """The quantities that grow with the joints; vectors of the coordinates are (..., n)."""

    at: Coordinates
    friction: bool = True
    """Whether friction is in the result."""
    on: Mapping[str, Array] | None = None
    """Wrenches of the environment by the frames that they act on, (..., 6)."""
    axes: str = "world"
    """The frame in whose axes they are."""
    link: str = "tool"
    """The frame whose place or Jacobian is asked for."""
    frame: str = "world"
    """The frame in whose axes the Jacobian is."""

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torques of the actuators."""
        links = self._links(q, qd, qdd, wrench=self._wrench(q))
        return links + self._rotors(qdd) + self._friction(qd)

    def bias(self, q: Array, qd: Array) -> Array:
        """C q̇ + g, and friction."""
        return self._links(q, qd, 0.0 * qd) + self._friction(qd)

    def gravity_vector(self, q: Array) -> Array:
        """What holds the links, springs included."""
        return self._links(q, 0.0 * q, 0.0 * q)

    def coriolis_vector(self, q: Array, qd: Array) -> Array:
        """C q̇."""
        return self._links(q, qd, 0.0 * qd, weight=False)

    def friction_torque(self, qd: Array) -> Array:
        """What the actuators must add to overcome friction."""
        return self.at.torques(friction_torque(self.at.model, self.at.rates(qd)))

    def kinetic_energy(self, q: Array, qd: Array) -> Array:
        """½ q̇ᵀ (M q̇), (...)."""
        momenta = self._links(q, 0.0 * qd, qd, weight=False) + self._rotors(qd)
        return 0.5 * (qd * momenta).sum(-1)

    def mass_matrix(self, q: Array) -> Array:
        """M with the rotors, (..., n, n)."""
        model = self.at.model
        return self.at.matrix(mass_matrix(model, self.at.positions(q)) + rotor_matrix(model))

    def forward_dynamics(self, q: Array, qd: Array, tau: Array) -> Array:
        """Accelerations, by articulated bodies unless joints depend on others."""
        coupled = self.at.model.is_coupled
        method: ForwardMethod = "composite_body" if coupled else "articulated_body"
        rest = tau - self._friction(qd)
        return accelerations(self.at, q, qd, rest, self._wrench(q), method)

    def ledger(self, q: Array, qd: Array, qdd: Array) -> Array:
        """The terms in the order of `Ledger`, (..., 9, n)."""
        still, friction = 0.0 * q, friction_rows(self.at.model, self.at.rates(qd))
        load = partial(self._links, q, still, still, False, self._wrench(q))
        terms = {
            "inertial": self._links(q, still, qdd, weight=False),
            "coriolis": self._links(q, qd, still, weight=False),
            "gravity": self._links(q, still, still),
            **{row: self.at.torques(torque) for row, torque in friction.items()},
            "rotor": self._rotors(qdd),
            "external": load() if self.on else still,
        }
        return np.stack(np.broadcast_arrays(*(terms[name] for name in Ledger.__slots__)), -2)

    def potential_energy(self, q: Array) -> Array:
        """Energy in the field of gravity, (...)."""
        return potential_energy(self.at.model, self.at.positions(q))

    def link_energies(self, q: Array, qd: Array) -> Array:
        """Kinetic energies of the links, then potential ones, (..., 2, N)."""
        found = link_energies(self.at.model, self.at.positions(q), self.at.rates(qd))
        return np.stack([found.kinetic, found.potential], -2)

    def forward_kinematics(self, q: Array) -> Array:
        """The frame in the world, (..., 4, 4)."""
        frames = kinematics.world_frames(self.at.model, self.at.positions(q))
        return homogeneous(*kinematics.frame_in_world(frames, self._frames[0]))

    def jacobian(self, q: Array) -> Array:
        """J of the frame, (..., 6, n)."""
        J = kinematics.jacobian(self.at.model, self.at.positions(q), *self._frames)
        return self.at.columns(J)

    def jacobian_dot(self, q: Array, qd: Array) -> Array:
        """dJ/dt of the frame, (..., 6, n)."""
        motion = self.at.positions(q), self.at.rates(qd)
        return self.at.columns(kinematics.jacobian_rate(self.at.model, *motion, *self._frames))

    def frame_motion(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Velocity and acceleration of the frame, (..., 2, 6)."""
        J, rate = self.jacobian(q), self.jacobian_dot(q, qd)
        acceleration = J @ qdd[..., None] + rate @ qd[..., None]
        return np.stack([J @ qd[..., None], acceleration], -2)[..., 0]

    @property
    def _frames(self) -> tuple[Frame, Frame | None]:
        model = self.at.model
        return model.frame(self.link), None if self.frame == "world" else model.frame(self.frame)

    def _links(
        self, q: Array, qd: Array, qdd: Array, weight: bool = True, wrench: Array | None = None
    ) -> Array:
        at, model = self.at, self.at.model
        model = model if weight else replace(model, gravity=frozen(np.zeros(3)))
        motion = at.positions(q), at.rates(qd), at.rates(qdd)
        tau = newton_euler(model, *motion, wrench).tau
        if weight:
            tau = tau + spring_torques(model, model.springs, motion[0])
        return at.torques(tau)

    def _rotors(self, qdd: Array) -> Array:
        return self.at.torques(rotor_torques(self.at.model, self.at.rates(qdd)))

    def _friction(self, qd: Array) -> Array | float:
        return self.friction_torque(qd) if self.friction else 0.0

    def _wrench(self, q: Array) -> Array | None:
        if not self.on:
            return None
        return exerted_wrench(self.at.model, self.at.positions(q), self.on, self.axes)
