"""Robot: the façade that people use.

Every method takes positions, velocities and accelerations of shape (..., n) with any leading batch
shape and returns fresh arrays. The equation of motion is

    M(q) q̈ + C(q, q̇) q̇ + g(q) + friction(q̇) = τ + Jᵀ w

where τ is what the actuators give, w the wrench of the environment on the arm, and M includes the
rotors. SI units, radians, six-vectors with the linear part first.

Each quantity is compiled when it is first asked for (see `armdyn.kernels.kernel`) and kept on disk
for the next time; a formulation or method asked for by name is evaluated as it is written. LLVM is
large, so nothing of it is imported before a kernel is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_truth, lost
from armdyn.errors import ModelError, check_known, shown
from armdyn.facade.compiled import RobotCompiled
from armdyn.formulations import slopes
from armdyn.formulations.external import Wrench, exerted_wrenches
from armdyn.formulations.forward_dynamics import ForwardMethod, accelerations
from armdyn.formulations.link_axes import check_link_axes
from armdyn.formulations.loops.coordinates import LoopCoordinates
from armdyn.formulations.rotors import rotor_torques
from armdyn.formulations.solve import solve_mass_matrix
from armdyn.formulations.springs import spring_torques
from armdyn.model.base_motion import BaseMotion
from armdyn.quantities.formulations import FORMULATIONS

_WITHOUT_FRICTION = ("inverse_dynamics", ("friction", False))
"""The key of this kernel in the table of a robot."""


class Robot(RobotCompiled):
    """A robot and its dynamics.

    Make one with `armdyn.load` or `armdyn.from_dh`; `model` is its data. A Robot never changes: the
    `with_` methods return another one.
    """

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None = None,
        friction: bool = True,
        *,
        formulation: str | None = None,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
        base_motion: BaseMotion | None = None,
    ) -> Array:
        """Joint torques that produce the given motion.

        Args:
            q: Joint positions, (..., n) [rad or m].
            qd: Joint velocities, (..., n).
            qdd: Joint accelerations, (..., n).
            external_wrench: Force and moment (..., 6) of the environment on the arm [N, N m], or a
                mapping of link names to such wrenches.
            friction: Whether joint friction is in the result. Rotors always are.
            formulation: One of `armdyn.quantities.formulations.FORMULATIONS`, evaluated as it is
                written; None: the compiled shortest form. All give one result.
            wrench_link: Link (or "tool") at whose origin the wrench acts.
            wrench_frame: Axes of the wrench: "world", "tool" or the name of a link.
            base_motion: How the base moves; None: it stands still.

        Returns:
            Torques and forces of the actuators, (..., n) [N m or N].
        """
        if external_wrench is None and formulation is None and base_motion is None:
            # one state takes less than a microsecond, and so must the way to its kernel
            call = self._kernels.get(
                "inverse_dynamics"
                if friction is True
                else _WITHOUT_FRICTION
                if friction is False
                else None
            )
            if call is not None:
                return call(q, qd, qdd)
        if formulation is None:
            more, options = self._loads(external_wrench, wrench_link, wrench_frame, base_motion)
            options |= {} if friction is True else {"friction": friction}
            tau = self._table.run("inverse_dynamics", q, qd, qdd, *more, **options)
            self._shorten()
            return tau
        _check_default("formulation", base_motion)
        at = wrench_link, wrench_frame
        links = self._formulated(formulation, q, qd, qdd, external_wrench, *at).tau
        here = self._at.at(np.asarray(q, dtype=float))
        rates = here.accelerations(np.asarray(qd, dtype=float), np.asarray(qdd, dtype=float))
        pull = spring_torques(self.model, self.model.springs, here.q)
        tau = here.torques(links + rotor_torques(self.model, rates) + pull)
        return tau + self.friction_torque(qd, q) if check_truth("friction", friction) else tau

    def formulate(
        self,
        formulation: str,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None = None,
        *,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
        frame: str | None = None,
    ) -> Any:
        """A formulation with its own quantities by name, to be looked at or printed.

        `robot.formulate("lagrange_euler", q, qd, qdd).U[1, 0]` is the book's U_21. The links alone:
        without friction and rotors, and over all moving joints.

        `frame` names the frame of each link that its vectors are in: "joint" for "newton_euler" and
        "augmented_body", "far_end" for "newton_euler_link", "world" for the others. Where that is
        not the frame that links are named after, leaving it out is a warning.
        """
        check_link_axes(self.model, formulation, frame)
        at = wrench_link, wrench_frame
        return self._formulated(formulation, q, qd, qdd, external_wrench, *at)

    def _formulated(
        self,
        formulation: str,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None,
        wrench_link: str,
        wrench_frame: str,
    ) -> Any:
        check_known("formulation", formulation, FORMULATIONS)
        given = self._states(q=q, qd=qd, qdd=qdd)
        wrench, (q, qd, qdd) = exerted_wrenches(
            self.model, external_wrench, wrench_link, wrench_frame, given
        )
        here = self._at.at(q)
        motion = here.q, here.rates(qd), here.accelerations(qd, qdd)
        return FORMULATIONS[formulation](self.model, *motion, wrench)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        external_wrench: Wrench | None = None,
        friction: bool = True,
        *,
        method: ForwardMethod | None = None,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
        base_motion: BaseMotion | None = None,
    ) -> Array:
        """Joint accelerations that torques cause, (..., n); arguments as in `inverse_dynamics`.

        `tau` is what the actuators give, (..., n) [N m or N]. `method` is "composite_body" (mass
        matrix and solution), "articulated_body" or "denoc", evaluated as it is written; None: the
        compiled form with the fewest operations.

        Raises:
            SingularityError: The mass matrix cannot be inverted.
        """
        if method is not None:
            _check_default("method", base_motion)
            given = self._states(q=q, qd=qd, tau=tau)
            wrench, (q, qd, tau) = exerted_wrenches(
                self.model, external_wrench, wrench_link, wrench_frame, given
            )
            rest = tau - self.friction_torque(qd, q) if check_truth("friction", friction) else tau
            return accelerations(self.model, q, qd, rest, wrench, method)
        more, options = self._loads(external_wrench, wrench_link, wrench_frame, base_motion)
        options["friction"] = friction
        found = self._table.run("forward_dynamics", q, qd, tau, *more, **options)
        if not lost(found, q, qd, tau, *more):
            return found
        bias = self._table.run("inverse_dynamics", q, qd, np.zeros(self.n), *more, **options)
        checked = solve_mass_matrix(self.mass_matrix(q), np.asarray(tau) - bias, self.joint_names)
        return np.where(np.isfinite(found), found, checked)

    def reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None = None,
        *,
        frame: str = "world",
        constraint: bool = False,
        base_wrench: bool = False,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
        base_motion: BaseMotion | None = None,
    ) -> Array:
        """Force and moment that each link receives from its parent, (..., N, 6) [N, N m].

        The moment is about the origin of the frame on the joint, which moves with the link; rotors
        and friction, which act between motor and joint, are not in it. Other arguments are those
        of `inverse_dynamics`.

        `frame` names the axes of the result: "world"; "joint", for each link those of the frame on
        its joint; "link", for each link those of the frame it is named after, which
        `forward_kinematics` gives; or the name of one frame for all. With `constraint`, what the
        drive gives about or along the axis is left out, and what bearings carry remains. With
        `base_wrench`, a first row is what the base receives from the ground, about the origin of
        the base: (..., 1 + N, 6); the shaking force and moment are its opposite.

        A reduced set of inertias is right in torques alone, so there is an ArmdynWarning for it.
        """
        self._warn_if_reduced("the forces of joints")
        more, options = self._loads(external_wrench, wrench_link, wrench_frame, base_motion)
        options |= {"frame": frame, "constraint": constraint, "base_wrench": base_wrench}
        return self._table.run("reactions", q, qd, qdd, *more, **options)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, friction: bool = True
    ) -> slopes.TorqueSlopes:
        """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M, each (..., n, n): .dq .dqd .dqdd.

        With `friction`, .dqd has the slope of the friction curve: 0 for a true sign, and 0 at rest
        for a power of the speed below 1, whose slope is infinite there.
        """
        both = self._table.torque_derivatives(q, qd, qdd, friction=friction)
        mass = np.broadcast_to(self.mass_matrix(q), both[..., 0, :, :].shape).copy()
        return slopes.TorqueSlopes(both[..., 0, :, :], both[..., 1, :, :], mass)

    def forward_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, friction: bool = True
    ) -> slopes.AccelerationSlopes:
        """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹, each (..., n, n): .dq .dqd .dtau.

        Raises:
            SingularityError: The mass matrix cannot be inverted.
        """
        if self._table.solves_derivatives:
            name = "forward_dynamics_derivatives"
            found = self._table.run(name, q, qd, tau, friction=friction)
            if not lost(found, q, qd, tau):
                return slopes.AccelerationSlopes(*(found[..., k, :, :] for k in range(3)))
        qdd = self.forward_dynamics(q, qd, tau, friction=friction)
        torques = self.inverse_dynamics_derivatives(q, qd, qdd, friction=friction)
        return slopes.acceleration_slopes(torques)

    def _shorten(self) -> None:
        """Let Python call the kernel of one state directly in the place of `inverse_dynamics`."""
        call: Any = self._kernels.get("inverse_dynamics")
        if isinstance(self._at, LoopCoordinates):
            return  # what cannot be closed must be named
        if call is not None and type(self) is Robot and "inverse_dynamics" not in self.__dict__:
            self.__dict__["inverse_dynamics"] = call.__self__.in_place_of(self.inverse_dynamics)


def check_robot(robot: object) -> Robot:
    """The robot itself, or a ModelError if it is none."""
    if not isinstance(robot, Robot):
        raise ModelError(f"expected a Robot, got {shown(robot)}; load it first")
    return robot


def _check_default(option: str, base_motion: BaseMotion | None) -> None:
    if base_motion is not None:
        raise ModelError(f"a motion of the base needs the default {option}; leave {option} out")
