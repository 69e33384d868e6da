"""A robot on a base that nothing holds: quantities of `armdyn.quantities.free_base` by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, broadcast, check_joint_vector, check_names, lost
from armdyn.errors import ArmdynWarning, ModelError, check_known, shown
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.rotors import spin_torques
from armdyn.formulations.solve import solve_mass_matrix
from armdyn.formulations.spatial import cross, rotate, skew, transpose
from armdyn.loops.coordinates import coordinates_of
from armdyn.mechanics.base_state import BaseState
from armdyn.model import RobotModel
from armdyn.model.edit import BASE_JOINTS
from armdyn.model.transform import inverse
from armdyn.quantities.center_of_mass import total_mass
from armdyn.quantities.free_base import BASE, not_free

HELD = {"attitude": slice(3, BASE), "base": slice(0, BASE)}
"""What a motion in the reaction null space leaves at rest, and its rows of the base."""
RANK_TOLERANCE = 1e-10
"""Singular values, relative to the largest, that are zero."""
NO_LOAD = (0.0,) * BASE
OF_BASE = {"a", "load", "momentum"}
"""Vectors of the base by the names that arguments have."""


class FreeBase:
    """A robot whose base is a body that nothing holds, as on a satellite or in free fall.

    Its coordinates are the pose of the base, a `BaseState`, and the positions q of the joints;
    its velocities the twist of the base and q̇, its forces a wrench on the base and τ:

        M (a, q̈) + h = (load, τ)

    Twist, acceleration and wrench of the base are in world axes at its origin, the linear part
    first; the acceleration is the derivative of the twist. Gravity is that of the robot, in world
    axes. Arrays have any leading batch shape, as those of `Robot` have.
    """

    def __init__(self, model: RobotModel, run: Callable[..., Array]):
        """The robot, and what runs a quantity of it by name.

        Raises:
            ModelError: The robot has loops, or its links have no masses.
        """
        if reason := not_free(model):
            raise ModelError(f"free_base of {model.name!r}: {reason}")
        if not model.base_link.inertia.mass:
            warnings.warn(
                f"the base {model.base_link.name!r} of {model.name!r} has no mass, so that its "
                "links swing it about; give it the body of what carries the arm, by with_link",
                ArmdynWarning,
                stacklevel=3,
            )
        self.model, self._run = model, run
        self.rest = np.zeros(len(model.coordinate_joints))
        """Rates of joints that do not move, (n,)."""

    def __repr__(self) -> str:
        return f"<FreeBase of {self.model.name!r}>"

    @property
    def standing(self) -> BaseState:
        """The base at rest where the robot stands in the world."""
        return BaseState(self.model.base[:3, :3], self.model.base[:3, 3])

    @property
    def _names(self) -> list[str]:
        return [joint.name for joint in self.model.coordinate_joints]

    @property
    def total_mass(self) -> float:
        """Mass of the links and the base [kg]."""
        return total_mass(self.model)

    def _vectors(self, **values: ArrayLike) -> tuple[Array, ...]:
        """Checked vectors of one batch shape: those in `OF_BASE` of the base, others of joints."""
        base, joints = (BASE, "components, the linear ones first"), (len(self.rest),)
        vectors = {
            name: check_joint_vector(name, value, *(base if name in OF_BASE else joints))
            for name, value in values.items()
        }
        return broadcast(**vectors)

    def _explain(self, base: BaseState, q: ArrayLike) -> None:
        """Name what nothing resists, if there is such a motion."""
        M = self.mass_matrix(base, q)
        solve_mass_matrix(M, M[..., 0], [*(f"base {way}" for way in BASE_JOINTS), *self._names])

    def _solved(self, base: BaseState, q: ArrayLike, part: Array, b: Array) -> Array:
        """The solution of a part of the mass matrix times x = b, (..., k)."""
        try:
            return np.linalg.solve(part, b[..., None])[..., 0]
        except np.linalg.LinAlgError:
            self._explain(base, q)
            raise

    # The equation of motion

    def mass_matrix(self, base: BaseState, q: ArrayLike) -> Array:
        """M of the base and the joints, (..., 6 + n, 6 + n), rotors included."""
        return self._run("free_mass_matrix", _pose(base), q)

    def bias(self, base: BaseState, q: ArrayLike, qd: ArrayLike, friction: bool = False) -> Array:
        """h: Coriolis terms, gravity and springs, and friction if asked, (..., 6 + n)."""
        return self._run("free_bias", _pose(base), base.twist, q, qd, friction=friction)

    def forward_dynamics(
        self,
        base: BaseState,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        load: ArrayLike = NO_LOAD,
        friction: bool = True,
    ) -> tuple[Array, Array]:
        """Accelerations of the base, (..., 6), and of the joints, (..., n).

        Args:
            base: Pose and twist of the base.
            q: Joint positions, (..., n) [rad or m].
            qd: Joint velocities, (..., n).
            tau: Torques of the actuators, (..., n) [N m or N].
            load: Wrench of the environment on the base, (..., 6) [N, N m].
            friction: Whether joint friction acts.

        Raises:
            SingularityError: The mass matrix cannot be inverted.
        """
        given = _pose(base), base.twist, q, qd, tau, load
        found = self._run("free_forward_dynamics", *given, friction=friction)
        if lost(found, *given):
            self._explain(base, q)
        return found[..., :BASE], found[..., BASE:]

    def inverse_dynamics(
        self,
        base: BaseState,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        load: ArrayLike = NO_LOAD,
        friction: bool = True,
    ) -> tuple[Array, Array]:
        """Acceleration of the base, (..., 6), and the torques for a motion of the joints, (..., n).

        Arguments are those of `forward_dynamics`, with accelerations of the joints, (..., n).
        """
        given = _pose(base), base.twist, q, qd, qdd, load
        found = self._run("free_inverse_dynamics", *given, friction=friction)
        if lost(found, *given):
            self._explain(base, q)
        return found[..., :BASE], found[..., BASE:]

    def hybrid_dynamics(
        self,
        base: BaseState,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        tau: ArrayLike,
        moved: Sequence[str],
        load: ArrayLike = NO_LOAD,
        friction: bool = True,
    ) -> tuple[Array, Array, Array]:
        """Accelerations of the base and of all joints, and all torques, where some joints are led.

        The joints named in `moved` have the accelerations `qdd`, the others the torques `tau`, both
        (..., n), of which the other entries are not read.
        """
        names = self._names
        for name in check_names("moved", moved):
            check_known(f"joint of {self.model.name!r} named", name, names)
        led = np.array([name in moved for name in names])
        unknown = np.concatenate([np.ones(BASE, dtype=bool), ~led])
        qdd, tau, wrench = self._vectors(qdd=qdd, tau=tau, load=load)
        M, h = self.mass_matrix(base, q), self.bias(base, q, qd, friction)
        shape = np.broadcast_shapes(h.shape[:-1], qdd.shape[:-1])
        a, f = np.zeros((2, *shape, BASE + len(names)))
        a[..., BASE:][..., led] = qdd[..., led]
        f[..., :BASE], f[..., BASE:] = wrench, tau
        rest = (f - h - rotate(M, a))[..., unknown]
        rows = M[..., unknown, :]
        a[..., unknown] = self._solved(base, q, rows[..., unknown], rest)
        f[..., ~unknown] = (rotate(M, a) + h)[..., ~unknown]
        return a[..., :BASE], a[..., BASE:], f[..., BASE:]

    # Energies and momentum

    def kinetic_energy(self, base: BaseState, q: ArrayLike, qd: ArrayLike) -> Array:
        """Kinetic energy of all links and rotors, (...) [J]."""
        return self._run("free_kinetic_energy", _pose(base), base.twist, q, qd)

    def potential_energy(self, base: BaseState, q: ArrayLike) -> Array:
        """Energy in the field of gravity, zero at the world origin, and of springs, (...) [J]."""
        return self._run("free_potential_energy", _pose(base), q)

    def center_of_mass(self, base: BaseState, q: ArrayLike) -> Array:
        """Centre of mass of all links and the base in the world, (..., 3) [m]."""
        return self._run("free_center_of_mass", _pose(base), q)

    def center_of_mass_jacobian(self, base: BaseState, q: ArrayLike) -> Array:
        """Its velocity for the twist of the base and q̇, (..., 3, 6 + n)."""
        return self.centroidal_matrix(base, q)[..., :3, :] / self.total_mass

    def centroidal_matrix(self, base: BaseState, q: ArrayLike) -> Array:
        """The centroidal momentum matrix A, (..., 6, 6 + n)."""
        return self._run("free_centroidal_matrix", _pose(base), q)

    def centroidal_bias(self, base: BaseState, q: ArrayLike, qd: ArrayLike) -> Array:
        """Ȧ times the twist of the base and q̇, (..., 6) [N, N m]."""
        return self._run("free_centroidal_bias", _pose(base), base.twist, q, qd)

    def centroidal_momentum(self, base: BaseState, q: ArrayLike, qd: ArrayLike) -> Array:
        """Linear momentum, and angular momentum about the centre of mass, (..., 6)."""
        return self._run("free_centroidal_momentum", _pose(base), base.twist, q, qd)

    def twist(self, base: BaseState, q: ArrayLike, qd: ArrayLike, momentum: ArrayLike) -> Array:
        """Twist of the base for joint rates and a `centroidal_momentum`, (..., 6).

        That of `base` is not read.
        """
        rates, momentum = self._vectors(qd=qd, momentum=momentum)
        A = self.centroidal_matrix(base, q)
        moved = momentum - rotate(A[..., BASE:], rates)
        return self._solved(base, q, A[..., :BASE], moved)

    def ledger(
        self, base: BaseState, q: ArrayLike, qd: ArrayLike, a: ArrayLike, qdd: ArrayLike
    ) -> Ledger:
        """The torques of a motion with the acceleration `a` of the base, (..., 6), by terms.

        The inertial term has what the base does to the joints; in free fall it takes their weight.
        """
        a, rates, qdd = self._vectors(a=a, qd=qd, qdd=qdd)
        held = Ledger.of(self._run("ledger", q, rates, qdd))
        still = BaseState(_checked(base).rotation, base.position)
        gravity = self.bias(still, q, 0.0 * rates)[..., BASE:]
        moved, twist = np.concatenate([a, qdd], -1), np.asarray(base.twist)
        inertial = rotate(self.mass_matrix(base, q)[..., BASE:, :], moved) - held.rotor
        coriolis = self.bias(base, q, rates)[..., BASE:] - gravity
        # what spins is in M and h, linear in the accelerations and quadratic in the rates
        pushed = self._spin(base, q, (0.0 * rates, qdd), (0.0 * twist, a))
        turned = self._spin(base, q, (rates, 0.0 * qdd), (twist, 0.0 * a))
        links = {"inertial": inertial - pushed, "coriolis": coriolis - turned, "gravity": gravity}
        return replace(held, **links, spin=pushed + turned)

    def _spin(
        self, base: BaseState, q: ArrayLike, joints: tuple[Array, Array], root: tuple[Array, Array]
    ) -> Array:
        """What rotors need because they spin, for rates and accelerations of joints and base."""
        at = coordinates_of(self.model).at(np.asarray(q, dtype=float))
        back = transpose(np.asarray(base.rotation))
        w, alpha = (rotate(back, x[..., 3:]) for x in root)
        return at.torques(spin_torques(self.model, *at.motion(*joints), turning=(w, alpha)))

    # The hand of a space arm

    def forward_kinematics(self, base: BaseState, q: ArrayLike, link: str = "tool") -> Array:
        """The tool or the frame that a link is named after in the world, (..., 4, 4)."""
        T = inverse(self.model.base) @ self._run("forward_kinematics", q, link=link)
        R, p = np.asarray(_checked(base).rotation), np.asarray(base.position)
        shape = np.broadcast_shapes(T.shape[:-2], R.shape[:-2], p.shape[:-1])
        found = np.broadcast_to(T, (*shape, 4, 4)).copy()
        found[..., :3, :3] = R @ T[..., :3, :3]
        found[..., :3, 3] = rotate(R, T[..., :3, 3]) + p
        return found

    def jacobian(self, base: BaseState, q: ArrayLike, link: str = "tool") -> Array:
        """(v, ω) of the tool or a link for the twist of the base and q̇, (..., 6, 6 + n)."""
        R = np.asarray(_checked(base).rotation) @ self.model.base[:3, :3].T
        J = self._run("jacobian", q, link=link, frame="world")
        arm = self.forward_kinematics(base, q, link)[..., :3, 3] - np.asarray(base.position)
        found = np.zeros((*arm.shape[:-1], BASE, BASE + J.shape[-1]))
        found[..., range(BASE), range(BASE)] = 1.0
        found[..., :3, 3:BASE] = -skew(arm)
        found[..., :3, BASE:] = R @ J[..., :3, :]
        found[..., 3:, BASE:] = R @ J[..., 3:, :]
        return found

    def frame_motion(
        self,
        base: BaseState,
        q: ArrayLike,
        qd: ArrayLike,
        a: ArrayLike,
        qdd: ArrayLike,
        link: str = "tool",
    ) -> Array:
        """Twist of the tool or a link, and its acceleration, in world axes, (..., 2, 6).

        Arguments are those of `forward_dynamics`, with the accelerations of base and joints.
        """
        (a,) = self._vectors(a=a)
        turn = np.asarray(_checked(base).rotation) @ self.model.base[:3, :3].T
        seen = self._run("frame_motion", q, qd, qdd, link=link)
        (v, w), (vd, wd) = (
            [rotate(turn, seen[..., k, part]) for part in (slice(3), slice(3, 6))] for k in (0, 1)
        )
        (V, W), (A, alpha) = ((x[..., :3], x[..., 3:]) for x in (np.asarray(base.twist), a))
        arm = self.forward_kinematics(base, q, link)[..., :3, 3] - np.asarray(base.position)
        twist = np.concatenate([V + cross(W, arm) + v, W + w], -1)
        linear = A + cross(alpha, arm) + cross(W, cross(W, arm) + 2.0 * v) + vd
        return np.stack([twist, np.concatenate([linear, alpha + cross(W, w) + wd], -1)], -2)

    def at(self, base: BaseState, load: ArrayLike = NO_LOAD) -> FreeArm:
        """The arm as its motors feel it while the base is there."""
        return FreeArm(self, base, load)

    def generalised_jacobian(self, base: BaseState, q: ArrayLike, link: str = "tool") -> Array:
        """(v, ω) of the tool or a link for q̇ where there is no momentum, (..., 6, n).

        It is that of Umetani and Yoshida, in which the base follows the joints.
        """
        return self._run("free_jacobian", _pose(base), q, link=link)

    def dynamic_coupling(self, base: BaseState, q: ArrayLike) -> Array:
        """Twist of the base for q̇ where there is no momentum, (..., 6, n)."""
        return self._run("free_coupling", _pose(base), q)

    def reaction_null_space(
        self, base: BaseState, q: ArrayLike, held: Literal["attitude", "base"] = "attitude"
    ) -> Array:
        """The projector P of joint rates on those that do not move the base, (..., n, n).

        P q̇ leaves the attitude of the base at rest, or the whole of it, where there is no
        momentum; it vanishes where no such motion is left.
        """
        check_known("held part", held, HELD)
        K = self.dynamic_coupling(base, q)[..., HELD[held], :]
        known = np.isfinite(K).all((-2, -1), keepdims=True)
        K = np.where(known, K, 0.0)
        P = np.eye(K.shape[-1]) - np.linalg.pinv(K, rcond=RANK_TOLERANCE) @ K
        return np.where(known, P, np.nan)


class FreeArm:
    """An arm at an instant of its base, which nothing holds and which follows the joints.

    It has those methods of `Robot` that controllers ask for, in the joints alone.
    """

    def __init__(self, free: FreeBase, base: BaseState, load: ArrayLike = NO_LOAD):
        """The robot, the state of its base and the wrench of the environment on it."""
        self.free, self.base, self.load = free, base, load

    def mass_matrix(self, q: ArrayLike) -> Array:
        """What the motors accelerate, M_qq - M_qb M_bb⁻¹ M_bq, (..., n, n)."""
        M = self.free.mass_matrix(self.base, q)
        across = M[..., :BASE, BASE:]
        follows = np.linalg.solve(M[..., :BASE, :BASE], across)
        return np.asarray(M[..., BASE:, BASE:] - transpose(across) @ follows)

    def bias(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Torques without acceleration of the joints, (..., n)."""
        return self.inverse_dynamics(q, qd, self.free.rest, friction=False)

    def gravity_vector(self, q: ArrayLike) -> Array:
        """Torques at rest: of springs, since the base falls with the links, (..., n)."""
        still = BaseState(self.base.rotation, self.base.position)
        return self.free.at(still).bias(q, self.free.rest)

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, friction: bool = True
    ) -> Array:
        """Torques for a motion of the joints, (..., n)."""
        return self.free.inverse_dynamics(self.base, q, qd, qdd, self.load, friction)[1]

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, friction: bool = True
    ) -> Array:
        """Accelerations of the joints, (..., n)."""
        return self.free.forward_dynamics(self.base, q, qd, tau, self.load, friction)[1]

    def forward_kinematics(self, q: ArrayLike) -> Array:
        """The tool in the world, (..., 4, 4)."""
        return self.free.forward_kinematics(self.base, q)

    def jacobian(self, q: ArrayLike) -> Array:
        """How joint rates change the twist of the tool, (..., 6, n)."""
        return self.free.generalised_jacobian(self.base, q)

    def frame_motion(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Twist and acceleration of the tool, (..., 2, 6)."""
        a, _ = self.free.inverse_dynamics(self.base, q, qd, qdd, self.load, friction=False)
        return self.free.frame_motion(self.base, q, qd, a, qdd)


def _checked(base: Any) -> BaseState:
    if not isinstance(base, BaseState):
        raise ModelError(f"the state of a base is an armdyn.BaseState, got {shown(base)}")
    return base


def _pose(base: BaseState) -> Array:
    return _checked(base).pose
