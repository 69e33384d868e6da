"""Two arms with the same joints, before and after a design: mass matrix, gravity, torques.

The workspace is a set of random configurations within the limits of the joints. A revolute joint
without limits makes a whole turn, a prismatic one moves half a metre to either side.
"""

import math
import time
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.count import Operations
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.simulation.trajectories import quintic
from armdyn.study.simplify.goals import element_name
from armdyn.study.simplify.program_size import program_size
from armdyn.study.terms.torques import TorqueReport, torque_report

CONFIGURATIONS = 4000
DURATION = 2.0
"""The duration of a move without limits of speed [s]."""
_RATE = 200
"""Instants of a move for each second."""
_PEAK = 15 / 8
"""Highest speed of a quintic move from rest to rest, in units of its mean."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The values of a quantity over the workspace."""

    low: float
    high: float
    mean: float

    @property
    def variation(self) -> float:
        """Highest less lowest value."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class ElementRange:
    """An element D_ij of the mass matrix before and after."""

    name: str
    before: ValueRange
    after: ValueRange
    scale: float
    """√(D_ii D_jj) of the means before, in which a variation is measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The dynamics of an arm before and after a design; pairs are (before, after)."""

    joints: tuple[str, ...]
    units: tuple[str, ...]
    elements: tuple[ElementRange, ...]
    """The upper triangle of the mass matrix, row by row."""
    gravity: tuple[Array, Array]
    """Largest torque of gravity on each joint, shape (n,) [N m or N]."""
    condition: tuple[ValueRange, ValueRange]
    """Condition number of the mass matrix."""
    operations: tuple[Operations, Operations]
    """Of the torque, links only."""
    torques: tuple[TorqueReport, TorqueReport]
    shaking: tuple[Array, Array] | None
    """Largest force [N] and moment [N m] by which the trajectory shakes the base, (2,), if asked:
    what the ground carries less what it carries at rest there."""
    seconds: float

    @property
    def peaks(self) -> tuple[Array, Array]:
        """Largest torque of each joint along the trajectory, shape (n,) [N m or N]."""
        before, after = (np.abs(report.total).max(axis=0) for report in self.torques)
        return before, after


def compare_designs(
    before: RobotModel,
    after: RobotModel,
    trajectory: SampledMotion | None = None,
    *,
    shaking: bool = False,
) -> Comparison:
    """Compare two arms with the same joints, by default along `reference_trajectory`."""
    began = time.perf_counter()
    one, other = Robot(before), Robot(after)
    q = workspace(before)
    masses = one.mass_matrix(q), other.mass_matrix(q)
    motion = reference_trajectory(before) if trajectory is None else trajectory
    torques = torque_report(one, motion), torque_report(other, motion)
    gravity = one.gravity_vector(q), other.gravity_vector(q)
    return Comparison(
        one.joint_names,
        torques[0].units,
        _elements(before, *masses),
        (np.abs(gravity[0]).max(axis=0), np.abs(gravity[1]).max(axis=0)),
        (_range(np.linalg.cond(masses[0])), _range(np.linalg.cond(masses[1]))),
        (program_size(before), program_size(after)),
        torques,
        (_shaking(one, motion), _shaking(other, motion)) if shaking else None,
        time.perf_counter() - began,
    )


def _shaking(robot: Robot, motion: SampledMotion) -> Array:
    moving = robot.reactions(motion.q, motion.qd, motion.qdd, base_wrench=True)[:, 0]
    still = robot.reactions(motion.q, 0 * motion.qd, 0 * motion.qdd, base_wrench=True)[:, 0]
    sizes = np.linalg.norm((moving - still).reshape(-1, 2, 3), axis=-1)
    return np.asarray(sizes.max(axis=0))


def workspace(model: RobotModel, count: int = CONFIGURATIONS) -> Array:
    """Random configurations within the limits, shape (count, n); always the same ones."""
    low, high = model.ranges.T
    return np.random.default_rng(5).uniform(low, high, size=(count, len(low)))


def reference_trajectory(model: RobotModel) -> SampledMotion:
    """Quintic moves from rest to rest between far corners of the workspace, all joints at once.

    From all joints at their lowest to all at their highest, then to every other one low, to the
    opposite corner and back; each move as fast as the limits of speed allow, or in two seconds.
    """
    joints = [model.joints[i] for i in model.independent]
    low, high = model.ranges.T
    odd = np.arange(len(joints)) % 2 == 1
    corners = [low, high, np.where(odd, high, low), np.where(odd, low, high), low]
    # files say 0 where they know nothing
    speeds = np.array([joint.limits.velocity or np.inf for joint in joints])
    pieces: list[tuple[Array, ...]] = []
    start = 0.0
    for a, b in pairwise(corners):
        needed = np.where(speeds < np.inf, _PEAK * np.abs(b - a) / speeds, DURATION)
        T = float(needed[a != b].max(initial=0.0)) or DURATION
        s = np.linspace(0.0, 1.0, max(round(_RATE * T), 50) + 1)[1 if pieces else 0 :]
        pieces.append((start + T * s, *quintic(a, b, T)(T * s)))
        start += T
    t, q, qd, qdd = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return SampledMotion(t, q, qd, qdd)


def _range(values: Array) -> ValueRange:
    return ValueRange(float(values.min()), float(values.max()), float(values.mean()))


def _elements(model: RobotModel, before: Array, after: Array) -> tuple[ElementRange, ...]:
    own = np.diag(before.mean(axis=0))
    return tuple(
        ElementRange(
            element_name((model.independent[i], model.independent[j])),
            _range(before[:, i, j]),
            _range(after[:, i, j]),
            math.sqrt(abs(own[i] * own[j])),
        )
        for i, j in combinations_with_replacement(range(len(own)), 2)
    )
