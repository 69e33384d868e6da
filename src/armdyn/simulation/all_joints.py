"""Robots with loops in the coordinates of all joints, for motions through singular configurations.

Where actuated joints do not determine the passive ones, coordinates of actuated joints end. All
joints together do not: with the closures r(q) = 0, A their Jacobian, N a basis of what A allows and
p the smallest solution of A p = -Ȧ q̇,

    q̈ = N z + p,   Nᵀ M N z = Nᵀ (τ - h - M p)

M and h are those of the open tree. Steps are those of Runge and Kutta; after each, positions are
moved to where loops are closed, and velocities to what they allow, both by the smallest change.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, check_number
from armdyn.errors import LoopError, SimulationError
from armdyn.graph.nodes import Graph, trace
from armdyn.graph.program import Program
from armdyn.kernels.kernel import Kernel
from armdyn.loops.newton import size
from armdyn.loops.rows import closure_bias, closure_matrix, residuals
from armdyn.model import RobotModel
from armdyn.quantities.request import Request
from armdyn.robot import Robot, check_robot
from armdyn.simulation.system import classical_step

RANK = 1e-9
"""Singular values of A below this share of the largest are zero."""
CLOSED = 1e-14
"""Residuals this small, as a share of the size of the robot, are rounding."""
MOST_CORRECTIONS = 8
STARTS_CLOSED = 1e-6
"""How far from closed a start may be, as a share of the size of the robot."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopMotion:
    """A motion of all joints of a robot with loops, at m instants."""

    robot: Robot
    t: Array
    """Times, (m,) [s]."""
    q: Array
    """Positions of all joints, (m, N) [rad or m]."""
    qd: Array
    """Velocities of all joints, (m, N)."""
    energy: Array
    """Kinetic and potential energy together, (m,) [J]."""
    closure: Array
    """The largest residual of a closure, (m,) [m, or the sine of an angle]."""

    @property
    def coordinates(self) -> Array:
        """Positions of the actuated joints, (m, n)."""
        return self.q[:, list(self.robot.model.independent)]


def simulate_all_joints(
    robot: Robot,
    q0: npt.ArrayLike,
    qd0: npt.ArrayLike | None = None,
    duration: float = 1.0,
    *,
    torque: npt.ArrayLike | Callable[[float, Array, Array], npt.ArrayLike] | None = None,
    step: float = 1e-3,
    friction: bool = True,
) -> LoopMotion:
    """Simulate a robot with loops in the coordinates of all its joints, with a fixed step.

    Args:
        robot: A robot with loops.
        q0: Positions of all joints at the start, (N,), as `robot.all_joints` gives them.
        qd0: Velocities of all joints at the start, (N,); what loops do not allow is taken away.
            None: at rest.
        duration: How long the motion takes [s].
        torque: Torques of the actuated joints, (n,) [N m or N], or a function of the time and of
            positions and velocities of all joints; None: none.
        step: The step [s].
        friction: Whether joints have friction.
    """
    model = check_robot(robot).model
    if not model.loops:
        raise LoopError(f"robot {model.name!r} has no loops; use armdyn.simulate")
    span = check_number("duration", duration)
    h = check_number("step", step)
    if not 0 < h <= span:
        raise SimulationError(
            f"step and duration are positive and the step is the shorter, got {h:g} and {span:g} s"
        )
    N = len(model.joints)
    q = check_constant("q0", q0, (N,))
    qd = np.zeros(N) if qd0 is None else check_constant("qd0", qd0, (N,))
    system = _System(robot, torque, friction)
    missing = np.abs(system.closure(q, qd)[0]).max()
    if missing > STARTS_CLOSED * system.size:
        raise LoopError(
            f"the loops of {model.name!r} are not closed at q0, they miss by {missing:.3g}; "
            "robot.all_joints(q) gives positions of all joints"
        )
    count = max(1, round(span / h))
    states = [system.recentred(np.concatenate([q, qd]))]
    step_on = classical_step(system, span / count)
    for k in range(count):
        states.append(step_on(k * span / count, states[-1]))
        if not np.isfinite(states[-1]).all():
            raise SimulationError(f"the motion of {model.name!r} diverges after {k * h:g} s")
    found, rates = np.split(np.array(states), 2, axis=1)
    energy = system.tree.kinetic_energy(found, rates) + system.tree.potential_energy(found)
    closure = np.abs(residuals(model, found)).max(-1)
    return LoopMotion(robot, np.linspace(0.0, span, count + 1), found, rates, energy, closure)


class _System:
    """The open tree with its closures."""

    def __init__(self, robot: Robot, torque: Any, friction: bool):
        self.model, self._friction = robot.model, friction
        joints = tuple(replace(joint, actuated=True) for joint in robot.model.joints)
        tree = replace(robot.model, joints=joints, loops=(), assembly=None)
        self.tree = Robot(tree, cache=robot.cache)
        program = _rows(robot.model)
        self._rows = Kernel(tree, Request("coriolis_vector"), cache=robot.cache, program=program)
        self.size = size(robot.model)
        self._torque = torque

    def closure(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """What rows miss, A and Ȧ q̇."""
        found = self._rows.call(q, qd)
        return found[:, 0], found[:, 1:-1], found[:, -1]

    def recentred(self, y: Array) -> Array:
        """The nearest state in which loops are closed."""
        q, qd = np.split(y, 2)
        r, A, _ = self.closure(q, qd)
        for _ in range(MOST_CORRECTIONS):
            if np.abs(r).max() <= CLOSED * self.size:
                break
            q = q - _smallest(A, r)
            r, A, _ = self.closure(q, qd)
        return np.concatenate([q, qd - _smallest(A, A @ qd)])

    def slope(self, t: float, y: Array) -> Array:
        """The rate of a state."""
        q, qd = np.split(y, 2)
        _, A, bias = self.closure(q, qd)
        U, s, Vt = np.linalg.svd(A)
        rank = int((s > RANK * s[0]).sum())
        rows = Vt[:rank]
        N = Vt[rank:].T
        p = -rows.T @ ((U[:, :rank].T @ bias) / s[:rank])
        M = self.tree.mass_matrix(q)
        tau = np.zeros(len(q))
        actuated = list(self.model.independent)
        given = self._torque(t, q, qd) if callable(self._torque) else self._torque
        if given is not None:
            tau[actuated] = check_constant("torque", given, (len(actuated),))
        rest = tau - self.tree.bias(q, qd, friction=self._friction) - M @ p
        return np.concatenate([qd, N @ np.linalg.solve(N.T @ M @ N, N.T @ rest) + p])


def _rows(model: RobotModel) -> Program:
    """What rows miss, A and Ȧ q̇ side by side, (rows, 1 + N + 1), of positions and velocities."""
    graph, N = Graph(), len(model.joints)
    q = graph.inputs("q", N)
    qd = graph.inputs("qd", N)

    def side_by_side() -> Array:
        missing = residuals(model, q)
        bias = closure_bias(model, q, qd)
        return np.concatenate([missing[:, None], closure_matrix(model, q), bias[:, None]], 1)

    return Program.from_outputs(trace(graph, side_by_side), {"q": N, "qd": N})


def _smallest(A: Array, b: Array) -> Array:
    """The smallest x with A x nearest to b."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=RANK)[0])
