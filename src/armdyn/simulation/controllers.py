"""Controllers: laws that make an arm follow a motion.

With the wanted motion q_d, the error e = q_d - q, and the model M, C, g of the arm:

    Free                no torque
    GravityPD           τ = g(q) + K_p e + K_d ė
    ComputedTorque      τ = M (q̈_d + K_d ė + K_p e) + C q̇ + g
    SlotineLi           τ = M q̈_r + C(q, q̇) q̇_r + g - K_d s,   q̇_r = q̇_d + Λ e,   s = q̇ - q̇_r
    CartesianImpedance  τ = Jᵀ (K e_x - D ẋ) + C q̇ + g - N q̇

C is the matrix of Christoffel symbols, with which Ṁ - 2C is skew: that SlotineLi is stable rests on
it. Each can know friction too, and then adds what it takes at the wanted velocity.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_truth
from armdyn.dynamics import Robot, check_robot
from armdyn.errors import SimulationError, shown
from armdyn.formulations.spatial import rotate, rotate_back
from armdyn.model.transform import rotation_vector
from armdyn.simulation.protocols import Motion, Trajectory


@dataclass(frozen=True)
class Free:
    """No torque."""

    robot: Robot

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
        return np.zeros_like(q)


class _Following:
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
        self.robot, self.friction = check_robot(robot), check_truth("friction", friction)
        self.target = _motion(robot, target)
        self.gains = {"kp": _gains("kp", kp, robot.n), "kd": _gains("kd", kd, robot.n)}

    def _extra(self, velocity: Array) -> Array | float:
        return self.robot.friction_torque(velocity) if self.friction else 0.0


class GravityPD(_Following):
    """Proportional and derivative feedback with gravity compensated.

    kp is a stiffness [N m/rad or N/m], kd a damping [N m s/rad or N s/m].
    """

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
        want = self.target(t)
        feedback = self.gains["kp"] * (want.q - q) + self.gains["kd"] * (want.qd - qd)
        return self.robot.gravity_vector(q) + feedback + self._extra(want.qd)


class ComputedTorque(_Following):
    """Feedback through the inverse dynamics: errors obey ë + K_d ė + K_p e = 0.

    kp is the squared natural frequency of the errors [1/s²], kd their decay [1/s], 2·√kp for
    critical damping.
    """

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
        want = self.target(t)
        qdd = want.qdd + self.gains["kd"] * (want.qd - qd) + self.gains["kp"] * (want.q - q)
        return self.robot.inverse_dynamics(q, qd, qdd, friction=False) + self._extra(want.qd)


class SlotineLi(_Following):
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

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
        want, rate = self.target(t), self.gains["rate"]
        velocity = want.qd + rate * (want.q - q)
        acceleration = want.qdd + rate * (want.qd - qd)
        model = rotate(self.robot.mass_matrix(q), acceleration)
        model = model + rotate(self.robot.coriolis_matrix(q, qd), velocity)
        damped = self.gains["kd"] * (qd - velocity)
        return model + self.robot.gravity_vector(q) - damped + self._extra(want.qd)


class CartesianImpedance:
    """A spring and a damper between the tool and a place in the world."""

    def __init__(
        self,
        robot: Robot,
        target: npt.ArrayLike | Callable[[float], npt.ArrayLike],
        stiffness: npt.ArrayLike = (500.0, 500.0, 500.0, 30.0, 30.0, 30.0),
        damping: npt.ArrayLike | None = None,
        joint_damping: npt.ArrayLike = 0.0,
    ):
        """Choose the spring.

        Args:
            robot: The model that the controller knows, which may differ from the arm.
            target: Where the tool is drawn to, a 4x4 transform in the world, or a function of time.
            stiffness: Along and about the axes of the world, (6,) [N/m, N m/rad].
            damping: Likewise, (6,) [N s/m, N m s/rad]; None: twice the square root of stiffness.
            joint_damping: What slows motion of the joints that the tool does not feel, a number or
                (n,) [N m s/rad or N s/m].
        """
        self.robot = check_robot(robot)
        self._target = target if callable(target) else _pose(target)
        self.stiffness = _gains("stiffness", stiffness, 6)
        own = 2.0 * np.sqrt(self.stiffness)
        self.damping = own if damping is None else _gains("damping", damping, 6)
        self.joint_damping = _gains("joint_damping", joint_damping, robot.n)

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
        T = self.robot.forward_kinematics(q)
        want = _pose(self._target(t)) if callable(self._target) else self._target
        J = self.robot.jacobian(q)
        turn = rotation_vector(want[:3, :3] @ np.swapaxes(T[..., :3, :3], -1, -2))
        error = np.concatenate([want[:3, 3] - T[..., :3, 3], turn], -1)
        force = self.stiffness * error - self.damping * rotate(J, qd)
        return rotate_back(J, force) + self.robot.bias(q, qd) - self.joint_damping * qd


def _motion(robot: Robot, target: Trajectory | npt.ArrayLike) -> Callable[[float], Motion]:
    if callable(target):
        if getattr(target, "n", robot.n) != robot.n:
            raise SimulationError(
                f"the trajectory moves {target.n} joints, but {robot.name!r} has {robot.n}"
            )
        return target
    q = _floats(target)
    if q.shape != (robot.n,) or not np.isfinite(q).all():
        raise SimulationError(
            f"target: expected a trajectory or {robot.n} finite positions, got {shown(target)}"
        )
    still = Motion(q, np.zeros(robot.n), np.zeros(robot.n))
    return lambda _: still


def _floats(value: npt.ArrayLike) -> Array:
    """The numbers that were given; an array of no usual shape if they are none."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.empty((0, 0, 0))


def _gains(name: str, value: npt.ArrayLike, n: int) -> Array:
    gains = _floats(value)
    if gains.shape not in ((), (1,), (n,)):
        raise SimulationError(f"{name}: expected a number or {n} of them, got {shown(value)}")
    gains = np.broadcast_to(gains, (n,))
    if not (np.isfinite(gains).all() and (gains >= 0).all()):
        raise SimulationError(f"{name}: expected numbers that are not negative, got {shown(value)}")
    return gains


def _pose(target: npt.ArrayLike) -> Array:
    T = _floats(target)
    if T.shape != (4, 4) or not np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-6):
        raise SimulationError(f"target: expected a 4x4 transform of the tool, got {shown(target)}")
    return T
