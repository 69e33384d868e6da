"""Simulation and control of joints that give: motors and links, driven by the motors.

Feedforward is the motor torque and motion that let the links follow a motion up to its snap; to it
comes feedback, at the motors alone or of the whole state, with the gain F of a linear quadratic
regulator for small motions about where the arm rests:

    τ = τ_d + K_p (θ_d - θ) + K_d (θ̇_d - θ̇)        τ = τ_d - F (x - x_d)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import SimulationError, check_known
from armdyn.mechanics.elastic import MotorMotion
from armdyn.robot import Robot
from armdyn.simulation.checks import check_each
from armdyn.simulation.controllers import Following
from armdyn.simulation.forces import torque_function
from armdyn.simulation.trajectories.smooth import derivatives_of

Sensing = Literal["motors", "links", "both"]
"""What torques are functions of: positions and velocities of motors, of links, or of both sides."""
STABLE = 2.0
"""Product of a step and the largest rate of a motion up to which explicit steps are taken."""
INSTANTS = 2000
"""Instants of a motion at which feedforward behind dampers is computed."""
FADING = 40.0
"""Time after a motion until wind-ups have faded away, in units of D/K."""


class Sides:
    """A robot with motors apart from its links, as a simulation takes it."""

    def __init__(self, robot: Robot, sensing: Sensing | bool):
        """The robot, and what torques are functions of; True: the motors."""
        chosen = "motors" if sensing is True else sensing
        check_known("sensing", chosen, get_args(Sensing))
        self.elastic, self.sensing = robot.elastic, chosen
        self.robot: Robot = self.elastic.both

    def start(
        self, q0: npt.ArrayLike, qd0: npt.ArrayLike | None
    ) -> tuple[npt.ArrayLike, npt.ArrayLike | None]:
        """A state of both sides, from one of them or of the links, whose motors then rest there."""
        if np.shape(q0)[-1:] == (self.elastic.n,):
            q0 = self.elastic.joined(q0, self.elastic.equilibrium(q0).theta)
        if qd0 is not None and np.shape(qd0)[-1:] == (self.elastic.n,):
            qd0 = self.elastic.joined(qd0, qd0)
        return q0, qd0

    def drive(self, given: Any, duration: float) -> Callable[..., Array]:
        """The torques at both sides, of torques or a controller at the motors."""
        elastic = self.elastic
        label, torque = torque_function(elastic.robot, given, duration)

        def driving(t: float, y: Array, yd: Array) -> Array:
            seen = [y, yd]
            if self.sensing != "both":
                seen = [elastic.parted(v)[self.sensing == "motors"] for v in seen]
            tau = np.asarray(torque(t, *seen), dtype=float)
            wanted = (*y.shape[:-1], elastic.n)
            if tau.shape != wanted:
                raise SimulationError(
                    f"{label} gave an array of shape {tau.shape} at t = {t:.6g} s; expected "
                    f"{elastic.n} torques of motors, shape {wanted}"
                )
            return elastic.driven(tau)

        driving.__name__ = label
        return driving

    def method(self, q0: npt.ArrayLike, step: float) -> str:
        """Explicit steps where they are stable at the start, else implicit ones."""
        A = self.elastic.linearisation(np.asarray(q0, dtype=float)[..., : self.elastic.n]).A
        fastest = np.abs(np.linalg.eigvals(A)).max()
        return "rk4" if fastest * step < STABLE else "rodas3"


class ElasticFeedforward(Following):
    """Feedforward of the motors for a motion of the links, and feedback at the motors.

    kp is a stiffness [N m/rad or N/m], kd a damping [N m s/rad or N s/m].
    """

    def __init__(
        self,
        robot: Robot,
        target: Any,
        kp: npt.ArrayLike = 0.0,
        kd: npt.ArrayLike = 0.0,
        friction: bool = False,
    ):
        """Choose the motion and the gains.

        Args:
            robot: The model that the controller knows, whose transmissions give.
            target: The motion of the links, with a jerk and a snap, as `smooth_move` has them.
            kp: Gain of the position error, a number or (n,).
            kd: Gain of the velocity error, a number or (n,).
            friction: Whether friction along the motion is added.

        Raises:
            TrajectoryError: The motion has no jerk or snap.
        """
        derivatives = derivatives_of(target)
        super().__init__(robot, target, 1.0, 1.0, friction)
        gains = {"kp": kp, "kd": kd}
        self.gains = {
            name: check_each(name, gain, robot.n, SimulationError, zero=True)
            for name, gain in gains.items()
        }
        elastic = robot.elastic
        if not elastic.damping.any():
            self._motors: Callable[[float], MotorMotion] = lambda t: elastic.feedforward(
                t, derivatives(t), friction=friction
            )
            return
        from scipy.interpolate import CubicSpline  # noqa: PLC0415 (slow to import)

        end = target.duration + FADING * float((elastic.damping / elastic.stiffness).max())
        t = np.linspace(0.0, end, INSTANTS + 1)
        along = elastic.feedforward(t, derivatives(t), friction=friction)
        curves = [CubicSpline(t, rows) for rows in along]
        self._motors = lambda t: MotorMotion(*(curve(np.clip(t, 0.0, end)) for curve in curves))

    def motors(self, t: float) -> MotorMotion:
        """What motors shall do at a time, (n,) each."""
        return self._motors(t)

    def __call__(self, t: float, q: Array, qd: Array, base: Any = None) -> Array:
        """Torques (..., n) at time t for positions and velocities of the motors (..., n)."""
        want = self.motors(t)
        feedback = self.gains["kp"] * (want.theta - q) + self.gains["kd"] * (want.thetad - qd)
        return want.tau + feedback


class ElasticStateFeedback(ElasticFeedforward):
    """The same with feedback of the state of both sides: simulate it with elastic="both"."""

    def __init__(
        self,
        robot: Robot,
        target: Any,
        at: npt.ArrayLike,
        accuracy: npt.ArrayLike = 1e-3,
        effort: npt.ArrayLike = 10.0,
        friction: bool = False,
    ):
        """Choose the motion and the costs.

        Args:
            robot: The model that the controller knows, whose transmissions give.
            target: The motion of the links, with a jerk and a snap.
            at: The configuration about which the gain is found, (n,) [rad or m].
            accuracy: Error of a link that costs as much as the effort, a number or (n,).
            effort: Torque beyond the feedforward, likewise [N m or N].
            friction: Whether friction along the motion is added.
        """
        from scipy.linalg import solve_continuous_are  # noqa: PLC0415 (slow to import)

        super().__init__(robot, target, friction=friction)
        n = robot.n
        near = check_each("accuracy", accuracy, n, SimulationError)
        push = check_each("effort", effort, n, SimulationError)
        A, B = robot.elastic.linearisation(at)
        cost = np.zeros(len(A))
        cost[:n] = 1.0 / near**2
        P = solve_continuous_are(A, B, np.diag(cost), np.diag(1.0 / push**2))
        self.gain = push[:, None] ** 2 * (B.T @ P)
        """F, (n, 2 N)."""

    def __call__(self, t: float, q: Array, qd: Array, base: Any = None) -> Array:
        """Torques (..., n) at time t for positions and velocities of both sides (..., N)."""
        want, motors, elastic = self.target(t), self.motors(t), self.robot.elastic
        x = np.concatenate([q, qd], -1)
        pairs = (want.q, motors.theta), (want.qd, motors.thetad)
        wanted = np.concatenate([elastic.joined(*pair) for pair in pairs], -1)
        return motors.tau - (x - wanted) @ self.gain.T
