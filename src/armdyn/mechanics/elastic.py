"""A robot whose transmissions give: motors and links, which move apart.

With θ the positions of the motors, B their inertias and τ their torques, all seen from the links,

    M q̈ + c + g = σ + f    B θ̈ + σ = τ    σ = K (θ - q) + D (θ̇ - q̇)

This is an ordinary robot of coordinates (q, θ): each motor is a hinge without mass that has the
rotor of its joint, the joint has none, and a spring and a damper are between the two. So every
quantity of `Robot` is one of both sides. Rotors that spin on links couple the sides besides (the
complete model); others have the energy of their own spin alone (the reduced one).

References: M. Spong, Modeling and control of elastic joint robots, 1987; P. Tomei, A simple PD
controller for robots with elastic joints, 1991; A. De Luca and W. Book, Robots with flexible
elements, Springer Handbook of Robotics, 2016.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, broadcast, check_joint_vector, frozen, record
from armdyn.errors import ModelError, SingularityError, check_known
from armdyn.forks import cached_property
from armdyn.formulations.external import Wrench
from armdyn.formulations.spatial import transpose
from armdyn.kinematics.pose_search import pose_error
from armdyn.model import Body, Drive, FrictionLaw, Inertia, Joint, JointSpring, Limits, Link
from armdyn.model.joint_types import PRISMATIC, REVOLUTE
from armdyn.model.robot import RobotModel
from armdyn.model.transform import IDENTITY
from armdyn.quantities.elastic import elastic_joints, link_side, not_elastic, not_invertible

MOST_STEPS = 60
"""Steps of Newton's method until links rest."""
WIND_UP_TOLERANCE = 1e-13
"""Relative error of positions at rest."""
MOTORS = ("free", "locked")
"""What motors do while links vibrate: nothing, or hold their positions."""


def both_sides(model: RobotModel) -> RobotModel:
    """The robot with a coordinate for each motor behind a transmission that gives, after its own.

    Raises:
        ModelError: No transmission gives, or one has no rotor.
    """
    if reason := not_elastic(model):
        raise ModelError(f"elastic of {model.name!r}: {reason}")
    given = [model.joints[i] for i in elastic_joints(model)]
    links = link_side(model)
    motors, bodies, springs, dampers = [], [], [], []
    for joint in given:
        name, gives = f"{joint.name} motor", joint.transmission
        limits = Limits(velocity=joint.limits.velocity, effort=joint.limits.effort)
        kind = REVOLUTE if joint.type.unit == "rad" else PRISMATIC
        law = joint.friction if gives.friction_side == "motor" else FrictionLaw()
        axis = frozen([0.0, 0.0, 1.0])
        motors.append(Joint(name, kind, -1, IDENTITY, axis, limits, law, joint.rotor))
        bodies.append(Link(name, (Body(name, Inertia.zero()),)))
        between = ((name, 1.0), (joint.name, -1.0))
        springs.append(JointSpring(between, gives.stiffness, name=f"{joint.name} transmission"))
        if gives.damping:
            law = FrictionLaw(viscous=gives.damping)
            dampers.append(Drive(f"{joint.name} damper", between, friction=law))
    names = {joint.name for joint in given}
    joints = [
        replace(x, limits=replace(x.limits, effort=np.inf)) if x.name in names else x
        for x in links.joints
    ]
    start = model.assembly
    return replace(
        links,
        joints=(*joints, *motors),
        links=(*links.links, *bodies),
        springs=(*links.springs, *springs),
        drives=(*links.drives, *dampers),
        letters={},
        assembly=None if start is None else frozen([*start, *np.zeros(len(motors))]),
    )


class MotorMotion(NamedTuple):
    """What motors do for a motion of the links, seen from the links, each (..., n)."""

    tau: Array
    """Their torques [N m or N]."""
    theta: Array
    """Their positions [rad or m]; of a rigid transmission that of the joint."""
    thetad: Array
    """Their velocities."""
    thetadd: Array
    """Their accelerations."""


class Linearisation(NamedTuple):
    """ẋ = A x + B u for small x, the changes of (q, θ, q̇, θ̇), and u, those of motor torques."""

    A: Array
    B: Array


@record(eq=False)
class Modes:
    """How links and motors vibrate, without damping, about where they rest."""

    squared: Array
    """Squares of angular frequencies, rising, (..., N) [1/s²]; negative where gravity topples."""
    shapes: Array
    """Column by column how the N coordinates move, (..., N, N), with M as the unit."""
    damping: Array
    """The share of critical damping that the transmissions give each mode, (..., N)."""
    rigid: int
    """How many of them, the first ones, are motions of motors with their links."""

    @property
    def frequencies(self) -> Array:
        """Frequencies of the modes in which transmissions wind up, (..., N - rigid) [Hz]."""
        squared = self.squared[..., self.rigid :]
        return np.sqrt(np.where(squared > 0, squared, np.nan)) / (2 * np.pi)


class Elastic:
    """A robot with motors that move apart from its links.

    Torques, inertias and positions of motors are seen from the links: the torque is N times that of
    the motor, the inertia N² times, the position that of the motor by N. Vectors of motors have an
    entry for each coordinate of the robot, (..., n); where the transmission is rigid, the motor is
    the joint, and its position is not read. The wrench of the environment is that of
    `Robot.inverse_dynamics`, on the tool. Damping of transmissions is friction.
    """

    def __init__(self, robot: Any):
        """The robot.

        Raises:
            ModelError: No transmission gives, or one that does has no rotor.
        """
        model: RobotModel = robot.model
        self.model, self.robot = model, robot
        self.both = robot._other(both_sides(model))
        """Both sides as a robot of N coordinates, those of the links, then the elastic motors."""
        self.links = robot._other(link_side(model))
        """What is beyond the transmissions, driven by the torques in them."""
        places = [model.independent.index(i) for i in elastic_joints(model)]
        given = [model.joints[i].transmission for i in elastic_joints(model)]
        self.places = places
        """Which of the coordinates have motors that move apart."""
        self.stiffness = frozen([x.stiffness for x in given])
        """Of these, (m,) [N m/rad or N/m]."""
        self.damping = frozen([x.damping for x in given])
        """Of these, (m,) [N m s/rad or N s/m]."""

    def __repr__(self) -> str:
        return f"<Elastic of {self.model.name!r}, {len(self.places)} of {self.n} joints>"

    @property
    def n(self) -> int:
        """Number of coordinates of the rigid robot."""
        return len(self.model.independent)

    @cached_property
    def reduced(self) -> Elastic:
        """The same with motors whose rotors do not spin on links, which inverse dynamics needs."""
        joints = (
            replace(x, rotor=x.rotor.reflecting) if x.transmission.gives else x
            for x in self.model.joints
        )
        return Elastic(self.robot._other(replace(self.model, joints=tuple(joints))))

    # Between vectors of one side and of both

    def joined(self, q: ArrayLike, theta: ArrayLike) -> Array:
        """The coordinates of both sides, (..., N), of links and motors, (..., n) each."""
        q, theta = self._vectors(q=q, theta=theta)
        return np.concatenate([q, theta[..., self.places]], -1)

    def parted(self, y: ArrayLike) -> tuple[Array, Array]:
        """Links and motors, (..., n) each, of coordinates of both sides, (..., N)."""
        y = np.asarray(y, dtype=float)
        q = y[..., : self.n]
        theta = q.copy()
        theta[..., self.places] = y[..., self.n :]
        return q, theta

    def driven(self, tau: ArrayLike) -> Array:
        """The torques of motors, (..., n), at the coordinates of both sides, (..., N)."""
        tau = np.asarray(tau, dtype=float)
        own = tau.copy()
        own[..., self.places] = 0.0
        return np.concatenate([own, tau[..., self.places]], -1)

    def _vectors(self, **values: ArrayLike) -> tuple[Array, ...]:
        return broadcast(**{k: check_joint_vector(k, v, self.n) for k, v in values.items()})

    # The equations of motion

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        theta: ArrayLike,
        thetad: ArrayLike,
        tau: ArrayLike,
        external_wrench: Wrench | None = None,
        friction: bool = True,
    ) -> tuple[Array, Array]:
        """Accelerations of links and motors, (..., n) each, that torques of motors cause.

        Args:
            q: Joint positions, (..., n) [rad or m].
            qd: Joint velocities, (..., n).
            theta: Positions of the motors, (..., n).
            thetad: Their velocities, (..., n).
            tau: Their torques, (..., n) [N m or N].
            external_wrench: Of the environment on the arm.
            friction: Whether friction acts, on either side, damping of transmissions included.
        """
        y, yd = self.joined(q, theta), self.joined(qd, thetad)
        (tau,) = self._vectors(tau=tau)
        found = self.both.forward_dynamics(y, yd, self.driven(tau), external_wrench, friction)
        return self.parted(found)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        qddd: ArrayLike,
        qdddd: ArrayLike,
        friction: bool = True,
    ) -> MotorMotion:
        """What motors must do so that the links follow a motion up to its snap, (..., n) each.

        Raises:
            ModelError: Transmissions have damping, or rotors spin on links; friction jumps.
        """
        motion = (q, qd, qdd, qddd, qdddd)
        found = self.robot._run("elastic_inverse_dynamics", *motion, friction=friction)
        return MotorMotion(*np.moveaxis(found, -2, 0))

    def feedforward(
        self,
        t: ArrayLike,
        motion: ArrayLike,
        start: Literal["rest", "periodic"] = "rest",
        friction: bool = True,
    ) -> MotorMotion:
        """What motors must do along a motion, with damping in their transmissions too.

        The wind-up ε obeys D ε̇ + K ε = σ then, a stable filter, solved exactly for torques that
        are polynomials of degree five between the instants; it counts without `friction` too.

        Args:
            t: Instants, (m,) [s].
            motion: q, q̇, q̈, q⃛ and q⁗ at them, (5, m, n).
            start: Whether the wind-up before the first one is at "rest", or the motion "periodic".
            friction: Whether friction acts.
        """
        check_known("start of the wind-up", start, ("rest", "periodic"))
        rows = np.asarray(motion, dtype=float)
        if not self.damping.any():
            q, qd, qdd, jerk, snap = rows
            return self.inverse_dynamics(q, qd, qdd, jerk, snap, friction)
        if reason := not_invertible(self.model, damped=True):
            raise ModelError(f"feedforward of {self.model.name!r}: {reason}")
        rates = self.links.inverse_dynamics_rates(*rows, friction=friction)
        sigma = np.moveaxis(rates, -2, 0)
        wound = _wind_ups(
            np.asarray(t, dtype=float), sigma[..., self.places], self.stiffness, self.damping, start
        )
        theta = rows[:3].copy()
        theta[..., self.places] += wound
        tau = sigma[0].copy()
        tau[..., self.places] += self.motor_inertia * theta[2][..., self.places]
        if friction:
            moving, there = self.joined(rows[1], theta[1]), self.joined(rows[0], theta[0])
            felt = self.both.friction_torque(moving, there)[..., self.n :]
            tau[..., self.places] += felt - self.damping * wound[1]  # that of dampers is in σ
        return MotorMotion(tau, *theta)

    @property
    def motor_inertia(self) -> Array:
        """Inertias of the motors that move apart, N² J, (m,) [kg m² or kg]."""
        return frozen([self.model.joints[i].rotor.reflected for i in elastic_joints(self.model)])

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, thetad: ArrayLike) -> Array:
        """Kinetic energy of links and motors, (...) [J]."""
        return self.both.kinetic_energy(self.joined(q, q), self.joined(qd, thetad))

    def potential_energy(self, q: ArrayLike, theta: ArrayLike) -> Array:
        """Energy in the field of gravity, zero at the world origin, and in springs, (...) [J]."""
        return self.both.potential_energy(self.joined(q, theta))

    def regressor(self, motion: ArrayLike, motors: ArrayLike) -> Array:
        """Y of torques Y π at both sides, (..., N, p), with columns of stiffness and damping.

        Args:
            motion: q, q̇ and q̈, (3, ..., n).
            motors: θ, θ̇ and θ̈, (3, ..., n).

        The parameters π are `both.parameters()`: of links, rotors and friction, dampers last among
        these, and of springs.
        """
        pairs = zip(np.asarray(motion), np.asarray(motors), strict=True)
        return self.both.regressor(*(self.joined(*pair) for pair in pairs))

    # At rest

    def equilibrium(self, q: ArrayLike, external_wrench: Wrench | None = None) -> MotorMotion:
        """What motors do while the links rest at q."""
        (q,) = self._vectors(q=q)
        zero = np.zeros_like(q)
        tau = self.links.inverse_dynamics(q, zero, zero, external_wrench, friction=False)
        theta = np.broadcast_to(q, tau.shape).copy()
        theta[..., self.places] += tau[..., self.places] / self.stiffness
        return MotorMotion(tau, theta, np.zeros_like(tau), np.zeros_like(tau))

    def wind_up(self, q: ArrayLike, external_wrench: Wrench | None = None) -> Array:
        """θ - q while the links rest at q, (..., n) [rad or m]."""
        return self.equilibrium(q, external_wrench).theta - np.asarray(q, dtype=float)

    def resting(self, theta: ArrayLike, external_wrench: Wrench | None = None) -> Array:
        """Where links rest whose motors are held at positions θ, (..., n) [rad or m].

        Raises:
            SingularityError: Transmissions are so soft that the weight topples the links.
        """
        (theta,) = self._vectors(theta=theta)
        q, places = theta, self.places
        for _ in range(MOST_STEPS):
            zero = np.zeros_like(q)
            torques = self.links.inverse_dynamics(q, zero, zero, external_wrench, friction=False)
            missing = torques[..., self.places] - self.stiffness * (theta - q)[..., self.places]
            slope = _block(self._gravity_slope(q), places) + np.diag(self.stiffness)
            step = np.zeros_like(torques)
            step[..., self.places] = np.linalg.solve(slope, missing[..., None])[..., 0]
            q = q - step
            if np.abs(step).max(initial=0.0) <= WIND_UP_TOLERANCE * (1.0 + np.abs(q).max()):
                if np.linalg.eigvalsh(0.5 * (slope + transpose(slope))).min() > 0:
                    return q
                break
        raise SingularityError(
            f"the links of {self.model.name!r} come to no rest near their motors; the "
            "transmissions are too soft for weight and wrench"
        )

    def pose_error(self, theta: ArrayLike, external_wrench: Wrench | None = None) -> Array:
        """Where the tool is less where motors alone would have it, (..., 6) [m, rad].

        Motors are held at θ, and the links give under their weight and the wrench: a displacement
        and a rotation vector, in world axes.
        """
        there = self.robot.forward_kinematics(self.resting(theta, external_wrench))
        return pose_error(there, self.robot.forward_kinematics(theta))

    def _gravity_slope(self, q: Array) -> Array:
        """∂g/∂q of the links, (..., n, n)."""
        zero = np.zeros_like(q)
        return self.links.inverse_dynamics_derivatives(q, zero, zero).dq

    # Small motions

    def linearisation(
        self,
        q: ArrayLike,
        qd: ArrayLike | None = None,
        theta: ArrayLike | None = None,
        thetad: ArrayLike | None = None,
        tau: ArrayLike | None = None,
    ) -> Linearisation:
        """How small changes of a state grow, A (..., 2N, 2N), and what motors do, B (..., 2N, n).

        What is left out is as at rest at q.
        """
        rest = self.equilibrium(q)
        y = self.joined(q, rest.theta if theta is None else theta)
        yd = self.joined(*(np.zeros(self.n) if v is None else v for v in (qd, thetad)))
        driven = self.driven(rest.tau if tau is None else tau)
        found = self.both.forward_dynamics_derivatives(y, yd, driven)
        N = y.shape[-1]
        A = np.zeros((*found.dq.shape[:-2], 2 * N, 2 * N))
        A[..., range(N), range(N, 2 * N)] = 1.0
        A[..., N:, :N], A[..., N:, N:] = found.dq, found.dqd
        B = np.zeros((*A.shape[:-1], self.n))
        B[..., N:, :] = found.dtau @ self.driven(np.eye(self.n)).T
        return Linearisation(A, B)

    def modes(self, q: ArrayLike, motors: Literal["free", "locked"] = "free") -> Modes:
        """The vibrations about rest at q (..., n), of any number of configurations.

        With free motors they are the poles from torque to motion, and N of them, of which n are
        motions of motors with their links; with motors that are locked, the zeros, and as many as
        transmissions that give.
        """
        check_known("motors", motors, MOTORS)
        (q,) = self._vectors(q=q)
        N = self.n + len(self.places)
        M = self.both.mass_matrix(self.joined(q, q))
        K = np.zeros(M.shape)
        K[..., : self.n, : self.n] = self._gravity_slope(q)
        D = np.zeros((N, N))
        for k, i in enumerate(self.places):
            pair = np.zeros(N)
            pair[i], pair[self.n + k] = -1.0, 1.0
            K += self.stiffness[k] * np.outer(pair, pair)
            D += self.damping[k] * np.outer(pair, pair)
        rigid = self.n
        if motors == "locked":
            M, K, D = (_block(x, self.places) for x in (M, K, D))
            rigid = 0
        L = np.linalg.inv(np.linalg.cholesky(M))
        squared, vectors = np.linalg.eigh(L @ (0.5 * (K + transpose(K))) @ transpose(L))
        shapes = transpose(L) @ vectors
        taken = np.einsum("...ki,kl,...li->...i", shapes, D, shapes)
        swing = np.sqrt(np.where(squared > 0, squared, np.nan))
        return Modes(squared, shapes, taken / (2 * swing), rigid)

    def slowest(
        self,
        motors: Literal["free", "locked"] = "free",
        samples: int = 1000,
        seed: int = 0,
    ) -> tuple[float, Array]:
        """The lowest frequency of a wind-up within the limits of the joints [Hz], and where, (n,).

        It is the lowest of random configurations, lowered from there to the nearest minimum.
        """
        from scipy.optimize import minimize  # noqa: PLC0415 (slow to import)

        low, high = self.model.ranges.T
        tried = np.random.default_rng(seed).uniform(low, high, (samples, self.n))

        def lowest(q: Array) -> Array:
            return self.modes(q, motors).frequencies[..., 0]

        first = tried[np.nanargmin(lowest(tried))]
        bounds = list(zip(low, high, strict=True))
        found = minimize(lambda q: float(lowest(q)), first, bounds=bounds, method="Nelder-Mead")
        best = min((first, found.x), key=lambda q: float(lowest(q)))
        return float(lowest(best)), best


def _block(matrices: Array, places: list[int]) -> Array:
    """Rows and columns of matrices (..., N, N)."""
    return matrices[..., places, :][..., places]


def _wind_ups(
    t: Array,
    sigma: Array,
    stiffness: Array,
    damping: Array,
    start: Literal["rest", "periodic"],
) -> Array:
    """ε, ε̇ and ε̈ of D ε̇ + K ε = σ at instants (m,), for σ, σ̇ and σ̈ there, (3, m, k).

    Between two instants σ is the polynomial of degree five, for which Σ (-D/K)ʲ σ⁽ʲ⁾/K is a
    solution; what the wind-up differs from it by decays as exp(-K/D t).
    """
    from scipy.interpolate import BPoly, PPoly  # noqa: PLC0415 (slow to import)

    lag = damping / stiffness
    rate = np.divide(1.0, lag, out=np.zeros_like(lag), where=lag > 0)
    torque = PPoly.from_bernstein_basis(BPoly.from_derivatives(t, np.moveaxis(sigma, 0, 1)))
    terms = np.zeros_like(torque.c)
    for j in range(len(terms)):
        terms[j:] += (-lag) ** j * torque.derivative(j).c
    pieces = [PPoly(terms / stiffness, t).derivative(i).c for i in range(3)]
    h = np.diff(t)
    begins = np.stack([c[-1] for c in pieces])
    ends = np.stack([sum(x * h[:, None] ** i for i, x in enumerate(c[::-1])) for c in pieces])
    fades = np.exp(-h[:, None] * rate) * (lag > 0)
    found = np.empty_like(sigma)
    found[0, 0] = sigma[0, 0] / stiffness
    if start == "periodic":
        last, gain = np.zeros_like(lag), np.ones_like(lag)
        for begin, end, fade in zip(begins[0], ends[0], fades, strict=True):
            last, gain = end + fade * (last - begin), gain * fade
        found[0, 0] = last / (1.0 - gain)
    powers = np.stack([np.ones_like(rate), -rate, rate**2])
    # at rest ε̇ is 0, but where nothing delays the wind-up
    found[1, 0] = np.where(lag > 0, 0.0, begins[1, 0])
    found[2, 0] = np.where(lag > 0, rate * sigma[1, 0] / stiffness, begins[2, 0])
    for k, fade in enumerate(fades):
        found[:, k + 1] = ends[:, k] + powers * fade * (found[0, k] - begins[0, k])
    if start == "periodic":
        found[:, 0] = found[:, -1]
    return found
