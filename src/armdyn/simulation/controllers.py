"""Controllers: laws that make the joints or the tool of an arm follow a motion.

With the wanted motion q_d, the error e = q_d - q, and the model M, C, g of the arm:

    Free            no torque
    GravityPD       τ = g(q) + K_p e + K_d ė
    ComputedTorque  τ = M (q̈_d + K_d ė + K_p e) + C q̇ + g
    SlotineLi       τ = M q̈_r + C(q, q̇) q̇_r + g - K_d s,   q̇_r = q̇_d + Λ e,   s = q̇ - q̇_r

C is the matrix of Christoffel symbols, with which Ṁ - 2C is skew: that SlotineLi is stable rests on
it. Each can know friction too, and then adds what it takes at the wanted velocity.

With the wanted motion x_d of the tool, e = (p_d - p, log R_d Rᵀ), and J, M, C, g of the arm:

    OperationalSpace    τ = Jᵀ M_x (ẍ_d + K_d ė + K_p e - J̇ q̇ + J M⁻¹ D_q q̇) + C q̇ + g - D_q q̇
    CartesianImpedance  τ = Jᵀ (Aᵀ K e + D ė) + g - D_q q̇

with M_x = (J M⁻¹ Jᵀ)⁻¹, so that the damping D_q of the joints does not reach the tool. Aᵀ K e is
the gradient of ½ eᵀ K e: A is 1 for the position, and the slope of the logarithm for the turn. So
the spring stores what it takes, and with a fixed target ½ q̇ᵀ M q̇ + ½ eᵀ K e falls by what the
dampers take; to compensate C q̇ as well would add energy. References: O. Khatib, 1987; N. Hogan,
Impedance control, 1985.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_names, check_truth, real
from armdyn.errors import SimulationError, counted, require
from armdyn.formulations.cartesian import check_rank, check_task, default_task, task_rows
from armdyn.formulations.spatial import rotate, rotate_back, transpose
from armdyn.kinematics.pose_search import logarithm_slope, pose_error
from armdyn.loops.coordinates import coordinates_of
from armdyn.mechanics.base_state import BaseState
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_each, floats
from armdyn.simulation.trajectories.piecewise import Motion, Trajectory
from armdyn.simulation.trajectories.tool import ToolMotion


@dataclass(frozen=True)
class Free:
    """No torque."""

    robot: Robot

    def __call__(self, t: float, q: Array, qd: Array, base: BaseState | None = None) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n), of a base that floats too."""
        return np.zeros_like(q)


class Following:
    """A controller that follows a motion or holds a position, with a stiffness and a damping."""

    def __init__(
        self,
        robot: Robot,
        target: Trajectory | npt.ArrayLike,
        kp: npt.ArrayLike = 100.0,
        kd: npt.ArrayLike = 20.0,
        friction: bool = False,
    ):
        """Choose the gains, whose units are those of the class.

        Args:
            robot: The model that the controller knows, which may differ from the arm.
            target: The motion to follow, or a position to hold, (n,).
            kp: Gain of the position error, a number or (n,).
            kd: Gain of the velocity error, a number or (n,).
            friction: Whether friction at the wanted velocity is added.
        """
        self.robot = check_robot(robot, floats=True)
        self.friction = check_truth("friction", friction)
        self.target = _motion(robot, target)
        self.gains = {"kp": _gains("kp", kp, robot.n), "kd": _gains("kd", kd, robot.n)}

    def _extra(self, want: Motion) -> Array | float:
        return self.robot.friction_torque(want.qd, want.q) if self.friction else 0.0


class GravityPD(Following):
    """Proportional and derivative feedback with gravity compensated.

    kp is a stiffness [N m/rad or N/m], kd a damping [N m s/rad or N s/m].
    """

    def __call__(self, t: float, q: Array, qd: Array, base: BaseState | None = None) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n), of a base that floats too."""
        want = self.target(t)
        feedback = self.gains["kp"] * (want.q - q) + self.gains["kd"] * (want.qd - qd)
        return _arm(self.robot, base).gravity_vector(q) + feedback + self._extra(want)


class ComputedTorque(Following):
    """Feedback through the inverse dynamics: errors obey ë + K_d ė + K_p e = 0.

    kp is the squared natural frequency of the errors [1/s²], kd their decay [1/s], 2·√kp for
    critical damping.
    """

    def __call__(self, t: float, q: Array, qd: Array, base: BaseState | None = None) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n), of a base that floats too."""
        want = self.target(t)
        qdd = want.qdd + self.gains["kd"] * (want.qd - qd) + self.gains["kp"] * (want.q - q)
        arm = _arm(self.robot, base)
        return arm.inverse_dynamics(q, qd, qdd, friction=False) + self._extra(want)


class SlotineLi(Following):
    """Passivity-based tracking, which does not invert the mass matrix nor cancel Coriolis terms."""

    def __init__(
        self,
        robot: Robot,
        target: Trajectory | npt.ArrayLike,
        rate: npt.ArrayLike = 5.0,
        kd: npt.ArrayLike = 20.0,
        friction: bool = False,
    ):
        """Choose the gains.

        Args:
            robot: The model that the controller knows, which may differ from the arm.
            target: The motion to follow, or a position to hold, (n,).
            rate: Λ, the decay of errors once s is zero, a number or (n,) [1/s].
            kd: Damping of s, a number or (n,) [N m s/rad or N s/m].
            friction: Whether friction at the wanted velocity is added.
        """
        super().__init__(robot, target, kd=kd, friction=friction)
        self.gains = {"rate": _gains("rate", rate, robot.n), "kd": self.gains["kd"]}

    def __call__(self, t: float, q: Array, qd: Array, base: BaseState | None = None) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n), of a base that floats too."""
        if base is not None:
            raise SimulationError(
                "SlotineLi knows no base that floats, of which there is no Coriolis matrix; use "
                "ComputedTorque"
            )
        want = self.target(t)
        rate = self.gains["rate"]
        velocity = want.qd + rate * (want.q - q)
        acceleration = want.qdd + rate * (want.qd - qd)
        model = rotate(self.robot.mass_matrix(q), acceleration)
        model = model + rotate(self.robot.coriolis_matrix(q, qd), velocity)
        damped = self.gains["kd"] * (qd - velocity)
        return model + self.robot.gravity_vector(q) - damped + self._extra(want)


def _arm(robot: Robot, base: BaseState | None) -> Any:
    """What has the dynamics of the joints: the robot, or itself on a base that floats."""
    return robot if base is None else robot.free_base.at(base)


def standing_arm(robot: Robot) -> Any:
    """What has its kinematics while its base is where it stands, or from where it floats."""
    return _arm(robot, robot.free_base.standing if robot.model.floating else None)


def _motion(robot: Robot, target: Trajectory | npt.ArrayLike) -> Callable[[float], Motion]:
    if callable(target):
        _check_count(robot, getattr(target, "n", robot.n))
        return target
    q = floats(target)
    sound = q.shape == (robot.n,) and np.isfinite(q).all()
    _require(sound, "target", f"a trajectory or {robot.n} finite positions", target)
    still = Motion(q, np.zeros(robot.n), np.zeros(robot.n))
    return lambda _: still


def _check_count(robot: Robot, count: int) -> None:
    if count != robot.n:
        moves = counted(count, "joint")
        raise SimulationError(f"the trajectory moves {moves}, but {robot.name!r} has {robot.n}")


_gains = partial(check_each, error=SimulationError, zero=True)
_require = partial(require, error=SimulationError)


ToolTarget = npt.ArrayLike | Callable[[float], Any]
"""A pose (4, 4), positions of the joints (n,), or a function of time that gives a `ToolMotion`, the
`Motion` of the joints, or a pose."""


class OperationalSpace:
    """Feedback through the dynamics of the tool: errors obey ë + K_d ė + K_p e = 0.

    That is exact for positions, and for turns about one axis. Joints that the tool does not feel
    are not driven; `joint_damping` slows them.
    """

    def __init__(
        self,
        robot: Robot,
        target: ToolTarget,
        kp: npt.ArrayLike = 100.0,
        kd: npt.ArrayLike = 20.0,
        *,
        task: Sequence[str] | None = None,
        joint_damping: npt.ArrayLike = 0.0,
        singular_damping: float = 0.0,
    ):
        """Choose the gains.

        Args:
            robot: The model that the controller knows, which may differ from the arm.
            target: A motion of the tool as `tool_line` makes, a pose to hold, (4, 4) in the world,
                or a motion or positions of the joints, of which the tool follows the pose.
            kp: Squared natural frequency of the errors, a number or one a coordinate [1/s²].
            kd: Their decay, likewise [1/s].
            task: The coordinates that are controlled, as in `Robot.cartesian`; None: as there.
            joint_damping: What slows motion that the tool does not feel, a number or (n,)
                [N m s/rad or N s/m].
            singular_damping: λ of `Robot.cartesian`, which lets the arm pass singular positions.
        """
        self.robot = check_robot(robot, floats=True)
        self.target = _tool_motion(robot, target)
        own = default_task(coordinates_of(robot.model)) if task is None else task
        self.task = check_names("task", own)
        self.rows = list(task_rows(self.task))
        check_task(self.task, robot.n)
        m = len(self.rows)
        self.gains = {"kp": _gains("kp", kp, m), "kd": _gains("kd", kd, m)}
        self.joint_damping = _gains("joint_damping", joint_damping, robot.n)
        sound = 0 <= real(singular_damping) < np.inf
        _require(sound, "singular_damping", "a number from 0 on", singular_damping)
        self.singular_damping = singular_damping

    def __call__(self, t: float, q: Array, qd: Array, base: BaseState | None = None) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n), of a base that floats too."""
        robot = _arm(self.robot, base)
        rows = self.rows
        want = self.target(t)
        J = robot.jacobian(q)[..., rows, :]
        error = pose_error(want.pose, robot.forward_kinematics(q))[..., rows]
        twist, drift = np.moveaxis(robot.frame_motion(q, qd, np.zeros_like(q))[..., rows], -2, 0)
        slip = want.twist[rows] - twist
        rate = want.rate[rows] + self.gains["kd"] * slip + self.gains["kp"] * error
        if not self.singular_damping:
            check_rank(J, self.task, q[..., 0].size)
        Minv_Jt = np.linalg.solve(robot.mass_matrix(q), transpose(J))
        compliance = J @ Minv_Jt + self.singular_damping**2 * np.eye(len(rows))
        slowing = -self.joint_damping * qd
        wanted = rate - drift - rotate_back(Minv_Jt, slowing)
        force = np.linalg.solve(compliance, wanted[..., None])[..., 0]
        return rotate_back(J, force) + robot.bias(q, qd) + slowing


class CartesianImpedance:
    """A spring and a damper between the tool and a place in the world, with gravity compensated."""

    def __init__(
        self,
        robot: Robot,
        target: ToolTarget,
        stiffness: npt.ArrayLike = (500.0, 500.0, 500.0, 30.0, 30.0, 30.0),
        damping: npt.ArrayLike | None = None,
        joint_damping: npt.ArrayLike = 0.0,
    ):
        """Choose the spring.

        Args:
            robot: The model that the controller knows, which may differ from the arm.
            target: Where the tool is drawn to, a pose (4, 4) in the world, or what
                `OperationalSpace` takes.
            stiffness: Along and about the axes of the world, a number, (6,), or a symmetric matrix
                (6, 6) [N/m, N m/rad].
            damping: Likewise [N s/m, N m s/rad]; None: twice the square root of the stiffness.
            joint_damping: What slows motion of the joints that the tool does not feel, a number or
                (n,) [N m s/rad or N s/m].
        """
        self.robot = check_robot(robot, floats=True)
        self.target = _tool_motion(robot, target)
        self.stiffness = _check_matrix("stiffness", stiffness)
        values, axes = np.linalg.eigh(self.stiffness)
        own = 2.0 * (axes * np.sqrt(values.clip(0))) @ axes.T
        self.damping = own if damping is None else _check_matrix("damping", damping)
        self.joint_damping = _gains("joint_damping", joint_damping, robot.n)

    def __call__(self, t: float, q: Array, qd: Array, base: BaseState | None = None) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n), of a base that floats too."""
        want = self.target(t)
        robot = _arm(self.robot, base)
        J = robot.jacobian(q)
        error = pose_error(want.pose, robot.forward_kinematics(q))
        spring = rotate(self.stiffness, error)
        spring[..., 3:] = rotate_back(logarithm_slope(error[..., 3:]), spring[..., 3:])
        twist = robot.frame_motion(q, qd, np.zeros_like(q))[..., 0, :]
        force = spring + rotate(self.damping, want.twist - twist)
        return rotate_back(J, force) + robot.gravity_vector(q) - self.joint_damping * qd

    def stored(self, t: float, q: Array) -> Array:
        """Energy in the spring, ½ eᵀ K e, (...) [J]."""
        error = pose_error(self.target(t).pose, self.robot.forward_kinematics(q))
        return 0.5 * (error * rotate(self.stiffness, error)).sum(-1)


def _tool_motion(robot: Robot, target: ToolTarget) -> Callable[[float], ToolMotion]:
    """The motion of the tool that a target means."""
    if not callable(target):
        T = floats(target)
        if T.shape == (robot.n,) and np.isfinite(T).all():
            T = standing_arm(robot).forward_kinematics(T)
        still = _still(T, target)
        return lambda _: still
    first = target(0.0)
    if isinstance(first, ToolMotion):
        return target
    if isinstance(first, Motion):
        _check_count(robot, first.q.shape[-1])
        return lambda t: tool_of_joints(robot, target(t))
    _still(floats(first), first)
    return lambda t: _still(floats(target(t)), target)


def tool_of_joints(robot: Robot, motion: Motion) -> ToolMotion:
    """How the tool moves when the joints do."""
    J = robot.jacobian(motion.q)
    Jd = robot.jacobian_dot(motion.q, motion.qd)
    rate = rotate(J, motion.qdd) + rotate(Jd, motion.qd)
    return ToolMotion(robot.forward_kinematics(motion.q), rotate(J, motion.qd), rate)


def _still(T: Array, given: object) -> ToolMotion:
    sound = T.shape == (4, 4) and np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-6)
    expected = "a 4x4 transform of the tool, a motion of it, or positions of the joints"
    _require(sound, "target", expected, given)
    return ToolMotion(T, np.zeros(6), np.zeros(6))


def _check_matrix(name: str, value: npt.ArrayLike) -> Array:
    """A symmetric matrix (6, 6) without negative eigenvalues; numbers stand on its diagonal."""
    K = floats(value)
    if K.shape != (6, 6):
        return np.diag(_gains(name, value, 6))
    sound = np.isfinite(K).all() and np.allclose(K, K.T, rtol=1e-9, atol=0)
    _require(sound, name, "a symmetric matrix (6, 6)", value)
    values = np.linalg.eigvalsh(K)
    if values[0] < -1e-9 * values[-1]:
        raise SimulationError(
            f"{name}: expected a matrix without negative eigenvalues, the least is {values[0]:g}"
        )
    return K
