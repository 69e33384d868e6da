"""The terms of the equation of motion, and energies."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array
from armdyn.errors import ArmdynWarning, ModelError, shown
from armdyn.facade.kinematics import RobotKinematics
from armdyn.formulations.cartesian import Cartesian
from armdyn.formulations.coriolis import ConfigurationSpace
from armdyn.formulations.energy import LinkEnergies
from armdyn.formulations.external import Wrench
from armdyn.formulations.ledger import Ledger
from armdyn.model.base_motion import BaseMotion
from armdyn.quantities.request import wrench_options


class RobotTerms(RobotKinematics):
    """A robot and the terms of its equation of motion."""

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q), rotors included, (..., n, n), symmetric and full."""
        return self._table.run("mass_matrix", q)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, q̇) of the Christoffel symbols, (..., n, n): dM/dt - 2C is skew."""
        return self._table.coriolis_matrix(q, qd)

    def coriolis_vector(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, q̇) q̇, (..., n)."""
        return self._table.run("coriolis_vector", q, qd)

    def gravity_vector(self, q: ArrayLike, base_motion: BaseMotion | None = None) -> Array:
        """g(q), the torques that hold the arm still on its base, springs included, (..., n)."""
        more, options = self._loads(None, "tool", "world", base_motion)
        return self._table.run("gravity_vector", q, *more, **options)

    def bias(self, q: ArrayLike, qd: ArrayLike, friction: bool = False) -> Array:
        """C(q, q̇) q̇ + g(q), and friction if asked, (..., n)."""
        return self._table.run("bias", q, qd, friction=friction)

    def christoffel(self, q: ArrayLike) -> Array:
        """Christoffel symbols c_ijk with (C q̇)_i = Σ c_ijk q̇_j q̇_k, (..., n, n, n)."""
        return self._table.christoffel(q)

    def configuration_space(self, q: ArrayLike) -> ConfigurationSpace:
        """M, B, C and G of τ = M q̈ + B [q̇_j q̇_k] + C [q̇²] + G."""
        return self._table.configuration_space(q)

    def cartesian(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        frame: str = "world",
        *,
        task: tuple[str, ...] | None = None,
        damping: float = 0.0,
    ) -> Cartesian:
        """M, V and G of F = M Ẍ + V + G for the tool.

        Args:
            q: Joint positions, (..., n).
            qd: Joint velocities, (..., n).
            frame: Axes of F and Ẍ: "world", "tool" or the name of a link. In moving axes Ẍ is the
                derivative of the velocity components.
            task: Which of "x", "y", "z", "rx", "ry", "rz"; None: as many independent ones as the
                robot has, in this order.
            damping: λ of damped inversion; 0: a singular Jacobian is an error.

        Raises:
            SingularityError: The Jacobian loses rank and there is no damping.
        """
        q, qd = self._states(q=q, qd=qd).values()
        return self._table.cartesian(q, qd, frame, task, damping)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """½ q̇ᵀ M q̇, rotors included, (...) [J]."""
        return self._table.run("kinetic_energy", q, qd)

    def potential_energy(self, q: ArrayLike) -> Array:
        """Energy of the links in the field of gravity, zero at the world origin, (...) [J].

        That of springs is in it.
        """
        return self._table.run("potential_energy", q)

    def link_energies(self, q: ArrayLike, qd: ArrayLike) -> LinkEnergies:
        """Energies of each moving link: .kinetic and .potential, both (..., N) [J].

        Rotors are no links: they are in `kinetic_energy` and not in the sum of .kinetic. Potentials
        are zero at the world origin. A reduced set of inertias gives an ArmdynWarning, as in
        `reactions`.
        """
        self._warn_if_reduced("the energies of single links")
        found = self._table.run("link_energies", q, qd)
        return LinkEnergies(found[..., 0, :], found[..., 1, :])

    def friction_torque(self, qd: ArrayLike, q: ArrayLike | None = None) -> Array:
        """What the actuators must add to overcome friction, (..., n) [N m or N].

        It depends on positions only where passive joints of loops have friction.
        """
        if q is None or not self.model.loops:
            return self._table.run("friction_torque", qd)
        terms = self.ledger(q, qd, np.zeros(self.n))
        return terms.viscous + terms.coulomb + terms.stribeck + terms.offset

    def ledger(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None = None,
        *,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
    ) -> Ledger:
        """The torque of `inverse_dynamics`, split into its terms; arguments as there."""
        wrenches, options = self._loads(external_wrench, wrench_link, wrench_frame)
        terms = self._table.run("ledger", q, qd, qdd, *wrenches, **options)
        return Ledger(*(terms[..., k, :] for k in range(len(Ledger.__slots__))))

    def _warn_if_reduced(self, what: str) -> None:
        if self.model.reduced:
            warnings.warn(
                f"the inertias of {self.name!r} are a reduced set, which is right in torques but "
                f"not in {what}",
                ArmdynWarning,
                stacklevel=3,
            )

    def _loads(
        self, external: Wrench | None, link: str, axes: str, base_motion: BaseMotion | None = None
    ) -> tuple[list[ArrayLike], dict[str, Any]]:
        """Wrenches and a motion of the base, and the options of a kernel that takes them."""
        wrenches, options = wrench_options(external, link, axes)
        if base_motion is None:
            return wrenches, options
        if not isinstance(base_motion, BaseMotion):
            raise ModelError(f"base_motion is an armdyn.BaseMotion, got {shown(base_motion)}")
        motion = base_motion.vector(self.model.base[:3, :3])
        return [motion, *wrenches], options | {"base_motion": True}
