"""Controllers: laws that make the joints of an arm follow a motion.

With the wanted motion q_d, the error e = q_d - q, and the model M, C, g of the arm:

    Free            no torque
    GravityPD       τ = g(q) + K_p e + K_d ė
    ComputedTorque  τ = M (q̈_d + K_d ė + K_p e) + C q̇ + g
    SlotineLi       τ = M q̈_r + C(q, q̇) q̇_r + g - K_d s,   q̇_r = q̇_d + Λ e,   s = q̇ - q̇_r

C is the matrix of Christoffel symbols, with which Ṁ - 2C is skew: that SlotineLi is stable rests on
it. Each can know friction too, and then adds what it takes at the wanted velocity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_truth
from armdyn.errors import SimulationError, counted, shown
from armdyn.formulations.spatial import rotate
from armdyn.robot import Robot, check_robot
from armdyn.simulation.protocols import Motion, Trajectory


@dataclass(frozen=True)
class Free:
    """No torque."""

    robot: Robot

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
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
        self.robot, self.friction = check_robot(robot), check_truth("friction", friction)
        self.target = _motion(robot, target)
        self.gains = {"kp": check_gains("kp", kp, robot.n), "kd": check_gains("kd", kd, robot.n)}

    def _extra(self, want: Motion) -> Array | float:
        return self.robot.friction_torque(want.qd, want.q) if self.friction else 0.0


class GravityPD(Following):
    """Proportional and derivative feedback with gravity compensated.

    kp is a stiffness [N m/rad or N/m], kd a damping [N m s/rad or N s/m].
    """

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
        want = self.target(t)
        feedback = self.gains["kp"] * (want.q - q) + self.gains["kd"] * (want.qd - qd)
        return self.robot.gravity_vector(q) + feedback + self._extra(want)


class ComputedTorque(Following):
    """Feedback through the inverse dynamics: errors obey ë + K_d ė + K_p e = 0.

    kp is the squared natural frequency of the errors [1/s²], kd their decay [1/s], 2·√kp for
    critical damping.
    """

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
        want = self.target(t)
        qdd = want.qdd + self.gains["kd"] * (want.qd - qd) + self.gains["kp"] * (want.q - q)
        return self.robot.inverse_dynamics(q, qd, qdd, friction=False) + self._extra(want)


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
        self.gains = {"rate": check_gains("rate", rate, robot.n), "kd": self.gains["kd"]}

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Torques (..., n) at time t in the states q, qd (..., n)."""
        want, rate = self.target(t), self.gains["rate"]
        velocity = want.qd + rate * (want.q - q)
        acceleration = want.qdd + rate * (want.qd - qd)
        model = rotate(self.robot.mass_matrix(q), acceleration)
        model = model + rotate(self.robot.coriolis_matrix(q, qd), velocity)
        damped = self.gains["kd"] * (qd - velocity)
        return model + self.robot.gravity_vector(q) - damped + self._extra(want)


def _motion(robot: Robot, target: Trajectory | npt.ArrayLike) -> Callable[[float], Motion]:
    if callable(target):
        if getattr(target, "n", robot.n) != robot.n:
            raise SimulationError(
                f"the trajectory moves {counted(target.n, 'joint')}, but {robot.name!r} has "
                f"{robot.n}"
            )
        return target
    q = floats(target)
    if q.shape != (robot.n,) or not np.isfinite(q).all():
        raise SimulationError(
            f"target: expected a trajectory or {robot.n} finite positions, got {shown(target)}"
        )
    still = Motion(q, np.zeros(robot.n), np.zeros(robot.n))
    return lambda _: still


def floats(value: npt.ArrayLike) -> Array:
    """The numbers that were given; an array of no usual shape if they are none."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.empty((0, 0, 0))


def check_gains(name: str, value: npt.ArrayLike, n: int) -> Array:
    """Gains (n,) that are not negative; a number is the gain of all."""
    gains = floats(value)
    if gains.shape not in ((), (1,), (n,)):
        raise SimulationError(f"{name}: expected a number or {n} of them, got {shown(value)}")
    gains = np.broadcast_to(gains, (n,))
    if not (np.isfinite(gains).all() and (gains >= 0).all()):
        raise SimulationError(f"{name}: expected numbers that are not negative, got {shown(value)}")
    return gains
