"""The gains of drives, torque by current, from runs with and without a known load.

Currents alone show a robot up to one factor for each joint. A load whose mass is known turns them
into torques: with the currents i_j of joint j, the features Z_j of the arm, unknown φ, and those
that the load adds, known φ_L,

    k_j i_j = Z_j φ   without it,    k_j i_j = Z_j (φ + φ_L)   with it,

which is linear in φ and all gains k together.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import IdentificationError
from armdyn.formulations.possible_bodies import ten_numbers
from armdyn.identification.data import Data, LogOptions, unheard
from armdyn.identification.equations import Equations
from armdyn.identification.friction_terms import OFFSET, ROTOR, VISCOUS, coulomb
from armdyn.identification.payload import tool_columns
from armdyn.identification.problem import Problem, motors_with, problem_of
from armdyn.identification.task import prepare
from armdyn.model import Inertia
from armdyn.robot import Robot, check_robot

_STRUCTURE = (ROTOR, VISCOUS, coulomb(0.03), OFFSET)
_ROUNDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class DriveGains:
    """Torque by current of each drive."""

    joints: tuple[str, ...]
    values: Array
    """Gains, (n,) [N m/A]."""
    errors: Array
    """Standard errors, (n,)."""

    def report(self) -> str:
        """The gains as text."""
        rows = zip(self.joints, self.values, self.errors, strict=True)
        return "".join(f"{name}: {k:.4g} ± {1.96 * e:.2g} N m/A\n" for name, k, e in rows)

    def __repr__(self) -> str:
        return f"<DriveGains {np.round(self.values, 4).tolist()} N m/A>"


def identify_drive_gains(
    robot: Robot,
    unloaded: Any,
    loaded: Any,
    load: Inertia,
    *,
    cutoff: float | None = None,
    **options: Any,
) -> DriveGains:
    """Find the gains of the drives from currents with and without a load that is known.

    Args:
        robot: The geometry; masses do not matter.
        unloaded: A log with currents (or torques in any unit), as in `identify`.
        loaded: The same with the load.
        load: The load as a body in the tool frame.
        cutoff: Of the filter [Hz]; None: chosen.
        options: How the logs are read, as in `identify`.
    """
    check_robot(robot)
    if not isinstance(load, Inertia):
        raise IdentificationError("load: expected an armdyn.Inertia in the tool frame")
    options = {"gains": np.ones(robot.n)} | options
    task = prepare(
        robot, unloaded, False, LogOptions(**options), cutoff, "choose",
        unheard, "weighted", True,
    )  # fmt: skip
    equations = Equations(robot, _STRUCTURE, task.equations.speeds)
    motors = motors_with(equations, _STRUCTURE)
    runs = []
    for logs in (task.training.logs, LogOptions(**options).open(robot, loaded, "loaded")):
        data = Data(logs, equations, task.cutoffs, task.progress)
        runs.append(problem_of(equations, data.sums().folds(1), motors))
    carried = np.zeros(len(motors) + equations.links)
    bare = Equations(robot, (), equations.speeds)
    ten = ten_numbers(load.pseudo.astype(float))
    carried[: equations.links] = tool_columns(bare)[: equations.links] @ ten
    return _solve(robot, runs[0], runs[1], carried)


def _solve(robot: Robot, without: Problem, with_load: Problem, carried: Array) -> DriveGains:
    n, F = robot.n, len(carried)
    pull = np.sqrt(np.einsum("a,jab,b->j", carried, with_load.G[0], carried))
    weights = np.full(n, 1.0 / max(float(pull @ pull), 1e-300))
    samples = np.maximum(without.samples + with_load.samples, 1)
    z, H = np.zeros(F + n), np.eye(F + n)
    runs = ((without, np.zeros(F)), (with_load, carried))
    for _ in range(_ROUNDS):
        H, right = np.zeros((F + n, F + n)), np.zeros(F + n)
        for run, load in runs:
            G, g = np.einsum("j,jab->ab", weights, run.G[0]), weights[:, None] * run.g[0]
            H[:F, :F] += G
            H[:F, F:] -= g.T
            H[F:, :F] -= g
            H[F:, F:] += np.diag(weights * run.yy[0])
            right[:F] -= G @ load
            right[F:] += g @ load
        scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        z = scale * np.linalg.lstsq(H * scale * scale[:, None], scale * right, rcond=1e-10)[0]
        squares, k = np.zeros(n), z[F:]
        for run, load in runs:
            phi = z[:F] + load
            squares += run.G[0] @ phi @ phi - 2 * k * (run.g[0] @ phi) + k * k * run.yy[0]
        weights = samples / np.maximum(5 * squares, 1e-18)
    covariance = np.linalg.pinv(H * scale * scale[:, None], rcond=1e-10) * scale * scale[:, None]
    errors = np.sqrt(np.maximum(np.diag(covariance)[F:], 0.0))
    unseen = [name for name, k in zip(robot.joint_names, z[F:], strict=True) if k <= 0]
    if unseen:
        raise IdentificationError(
            f"the load does not show the gain of {', '.join(unseen)}; move these joints so that "
            "the load pulls on them"
        )
    return DriveGains(robot.joint_names, z[F:], errors)
