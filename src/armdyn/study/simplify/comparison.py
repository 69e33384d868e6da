"""Two arms with the same joints, before and after a design: mass matrix, gravity, torques."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from armdyn.arrays import Array
from armdyn.graph.count import Operations
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.robot import Robot
from armdyn.study.operations.count import count_operations
from armdyn.study.simplify.goals import element_name
from armdyn.study.states import reference_trajectory, workspace
from armdyn.study.terms.torques import TorqueReport, torque_report


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The values of a quantity over the workspace."""

    low: float
    high: float
    mean: float
    variation: float
    """Highest less lowest value."""


@dataclass(frozen=True, slots=True)
class ElementRange:
    """An element D_ij of the mass matrix before and after."""

    element: str
    """Such as D12."""
    scale: float
    """√(D_ii D_jj) of the means before, in which a variation is measured."""
    before: ValueRange
    after: ValueRange


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The dynamics of an arm before and after a design; pairs are (before, after)."""

    joints: tuple[str, ...]
    units: tuple[str, ...]
    elements: tuple[ElementRange, ...]
    """The upper triangle of the mass matrix, row by row."""
    gravity: Sequence[Array]
    """Largest torque of gravity on each joint, shape (n,) [N m or N]."""
    condition: Sequence[ValueRange]
    """Condition number of the mass matrix."""
    operations: Sequence[Operations]
    """Of the torque, links only."""
    torques: Sequence[TorqueReport]
    shaking: Sequence[Array] | None
    """Largest force [N] and moment [N m] by which the trajectory shakes the base, (2,), if asked:
    what the ground carries less what it carries at rest there."""
    seconds: float

    @property
    def peaks(self) -> Sequence[Array]:
        """Largest torque of each joint along the trajectory, shape (n,) [N m or N]."""
        return [np.abs(report.total).max(axis=0) for report in self.torques]


def compare_designs(
    before: Robot, after: Robot, motion: SampledMotion | None = None, *, shaking: bool = False
) -> Comparison:
    """Compare two arms with the same joints, by default along `reference_trajectory`."""
    began = time.perf_counter()
    robots = (before, after)
    model = before.model
    q = workspace(model)
    along = motion or reference_trajectory(model)
    masses = [robot.mass_matrix(q) for robot in robots]
    own = np.diag(masses[0].mean(axis=0))
    torques = [torque_report(robot, along) for robot in robots]
    return Comparison(
        before.joint_names,
        torques[0].units,
        tuple(
            ElementRange(
                element_name((model.independent[i], model.independent[j])),
                math.sqrt(abs(own[i] * own[j])),
                *(_range(D[:, i, j]) for D in masses),
            )
            for i, j in combinations_with_replacement(range(len(own)), 2)
        ),
        [np.abs(robot.gravity_vector(q)).max(axis=0) for robot in robots],
        [_range(np.linalg.cond(D)) for D in masses],
        [count_operations(robot) for robot in robots],
        torques,
        [_shaking(robot, along) for robot in robots] if shaking else None,
        time.perf_counter() - began,
    )


def _shaking(robot: Robot, motion: SampledMotion) -> Array:
    moving = robot.reactions(motion.q, motion.qd, motion.qdd, base_wrench=True)[:, 0]
    still = robot.reactions(motion.q, 0 * motion.qd, 0 * motion.qdd, base_wrench=True)[:, 0]
    sizes = np.linalg.norm((moving - still).reshape(-1, 2, 3), axis=-1)
    return np.asarray(sizes.max(axis=0))


def _range(values: Array) -> ValueRange:
    low, high = float(values.min()), float(values.max())
    return ValueRange(low, high, float(values.mean()), high - low)
