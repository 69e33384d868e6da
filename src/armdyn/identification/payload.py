"""What the tool holds, from a run with it; and the gains of drives, from a load that is known.

Currents alone show a robot up to one factor for each joint. A load whose mass is known turns them
into torques: with the currents i_j of joint j, the features Z_j of the arm, unknown φ, and those
that the load adds, known φ_L,

    k_j i_j = Z_j φ   without it,    k_j i_j = Z_j (φ + φ_L)   with it,

which is linear in φ and all gains k together.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import IdentificationError
from armdyn.formulations.possible_bodies import (
    PriorBodies,
    floored_pseudo,
    pseudo_inertias,
    ten_numbers,
)
from armdyn.formulations.regressor import PARAMETERS
from armdyn.formulations.scaled_newton import Objective, newton
from armdyn.identification.data import Progress, open_logs, unheard
from armdyn.identification.equations import ROUGH
from armdyn.identification.estimate import Unknowns
from armdyn.identification.identify import identify
from armdyn.identification.problem import Problem, problem_of
from armdyn.identification.task import prepare
from armdyn.model import Inertia
from armdyn.report.result import Result, Section, parts_of
from armdyn.robot import Robot, check_robot

DENSITY = 2700.0
"""Of the ball that a payload is like as far as the data do not show more [kg/m³]."""


@dataclass(frozen=True, eq=False, repr=False)
class Payload(Result):
    """What the tool holds."""

    robot: Robot
    """The robot without it."""
    body: Inertia
    """The body in the tool frame."""
    errors: Array
    """Standard errors of m, m c and the tensor about the origin of the tool frame, (10,)."""
    relative_error: float
    """|residual| / |torque| with the payload."""
    without: float
    """The same without it."""

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.body.mass

    @property
    def com(self) -> Array:
        """Centre of mass in the tool frame, (3,) [m]."""
        return self.body.com

    @property
    def inertia(self) -> Array:
        """Tensor about the centre of mass, axes of the tool frame, (3, 3) [kg m²]."""
        return self.body.moment_about_com

    @property
    def loaded(self) -> Robot:
        """The robot holding it."""
        return self.robot.with_payload(self.body, add=True)

    def save(self, path: str | Path) -> None:
        """Write the robot holding it to a .toml or .urdf file."""
        self.loaded.save(path)

    def sections(self) -> tuple[Section, ...]:
        """The report."""
        ten = ten_numbers(self.body.pseudo.astype(float))
        rows = tuple(
            (name, f"{value:.5g}", f"{error:.2g}")
            for name, value, error in zip(PARAMETERS, ten, self.errors, strict=True)
        )
        centre = ", ".join(f"{c:.4f}" for c in self.com)
        lines = (
            f"mass {self.mass:.4g} kg ± {1.96 * self.errors[0]:.2g}, centre ({centre}) m",
            f"{100 * self.relative_error:.3g} % of the torques are not explained with it, "
            f"{100 * self.without:.3g} % without",
        )
        names = ("mass", "com", "inertia", "errors", "relative_error", "without")
        columns = ("in the tool frame", "value", "standard error")
        return (Section("Payload", lines, columns, rows, data=parts_of(self, *names)),)

    def __repr__(self) -> str:
        return f"<Payload of {self.mass:.4g} kg at {np.round(self.com, 4).tolist()} m>"


def identify_payload(
    robot: Robot,
    loaded: Any,
    unloaded: Any = None,
    *,
    cutoff: float | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Payload:
    """Find what the tool holds, from a run with it and, where there is one, a run without.

    A robot that was identified needs the loaded run alone. With an unloaded run the robot is
    identified from it first, so that errors of the model do not count as payload.

    Args:
        robot: The robot without it.
        loaded: A log with the payload, as in `identify`.
        unloaded: A log without; None: there is none.
        cutoff: Of the filter [Hz]; None: chosen.
        progress: As in `identify`.
        options: How the logs are read: columns, degrees, gains, rate and time_unit of `identify`.
    """
    logs = open_logs(check_robot(robot), loaded, "data", **options)
    if unloaded is not None:
        more: Any = {"cutoff": cutoff, "progress": progress, **options}
        robot = identify(robot, unloaded, False, **more).robot
    data = prepare(robot, logs, (), cutoff, "keep", progress or unheard)
    equations, motors = data.equations, data.equations.own_motors
    problem = problem_of(data.sums(), motors).whole
    phi = np.concatenate([robot.base_parameters(links=True).values, equations.known(motors)])
    weights = 1 / np.maximum(problem.yy[0] / np.maximum(problem.samples, 1), 1e-300)
    weights = np.maximum(weights / weights.max(), 1e-3)
    A, b = problem.normal(weights)
    yy = float(weights @ problem.yy[0])
    count = int(problem.samples.sum())
    K = np.zeros((len(phi), 10))
    K[: equations.links] = tool_columns(robot)
    A10 = K.T @ A @ K
    b10 = K.T @ (b - A @ phi)
    rest = yy - 2 * float(b @ phi) + float(phi @ A @ phi)
    pi = _possible(A10, b10, max(rest, 1e-300), count)
    left = max(rest - 2 * float(b10 @ pi) + float(pi @ A10 @ pi), 0.0)
    # what a filtered sample repeats of its neighbours, ten of them a period of the cut-off
    variance = 5 * left / max(count - 10, 1)
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(A10)) * variance, 0.0))
    body = Inertia.from_pseudo(pseudo_inertias(pi))
    with_it, without = (float(np.sqrt(max(squares, 0.0) / yy)) for squares in (left, rest))
    return Payload(robot, body, errors, with_it, without)


def tool_columns(robot: Robot) -> Array:
    """The features of the links by the ten numbers of a body in the tool frame, (F, 10)."""
    frame = robot.model.tool_frame
    base = robot.base_parameters(links=True)
    moved = frame.placement @ pseudo_inertias(np.eye(10)) @ frame.placement.T
    ten = slice(10 * frame.link, 10 * frame.link + 10)
    return np.asarray(base.matrix[:, ten] @ ten_numbers(moved).T)


def _possible(A: Array, b: Array, squares: float, count: int) -> Array:
    """The ten numbers of the body that explains most: a ball, changed as far as data show."""
    four = np.linalg.lstsq(A[:4, :4], b[:4], rcond=1e-9)[0]
    if four[0] <= 0:
        raise IdentificationError(
            f"no payload is seen: the best mass is {four[0]:.3g} kg; is this the loaded run, is "
            "the model of the unloaded arm right, and does the motion lift the tool?"
        )
    mass = float(four[0])
    centre = four[1:] / four[0]
    ball = Inertia.sphere(float(np.cbrt(3 * mass / (4 * np.pi * DENSITY))), mass=mass).moved(centre)
    prior = PriorBodies(np.linalg.cholesky(floored_pseudo(ball))[None])
    none = np.zeros(0)
    objective = Objective.plain(prior, none, none.astype(bool), none)
    T = objective.transform
    free = max(squares - float(b @ np.linalg.lstsq(A, b, rcond=1e-9)[0]), 1e-12 * squares)
    weight = count / (5 * free)
    x = newton(objective.with_data(weight * T.T @ A @ T, weight * T.T @ b), objective.start)
    return T @ x


# gains of drives

_ROUNDS = 5
"""How often the noise of each joint is found anew."""


@dataclass(frozen=True, eq=False, repr=False)
class DriveGains(Result):
    """Torque by current of each drive."""

    joints: tuple[str, ...]
    values: Array
    """Gains, (n,) [N m/A]."""
    errors: Array
    """Standard errors, (n,)."""

    def sections(self) -> tuple[Section, ...]:
        """The report."""
        rows = zip(self.joints, self.values, self.errors, strict=True)
        lines = tuple(f"{name}: {k:.4g} ± {1.96 * e:.2g} N m/A" for name, k, e in rows)
        data = {"gains": self.values, "errors": self.errors}
        return (Section("Drive gains", lines, data=data),)

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
    runs = ((unloaded, "data"), (loaded, "loaded"))
    first, second = (open_logs(robot, run, name, **options) for run, name in runs)
    data = prepare(robot, first, (), cutoff, "choose", unheard)
    equations = replace(data.equations, structure=ROUGH)
    motors = equations.motors_with(ROUGH)
    carried = np.zeros(equations.links + len(motors))
    carried[: equations.links] = tool_columns(robot) @ ten_numbers(load.pseudo.astype(float))
    data = replace(data, equations=equations)
    sums = (data.with_logs(logs).sums() for logs in (first, second))
    bare, held = (problem_of(each, motors).whole for each in sums)
    problem = _with_gains(bare, held, carried)
    unknowns = Unknowns.all_of(problem.g.shape[-1])
    weights = np.full(robot.n, 1.0 / max(float(problem.yy.sum()), 1e-300))
    for _ in range(_ROUNDS):
        found = unknowns.solved(problem, weights)
        weights = np.maximum(problem.samples, 1) / np.maximum(5 * problem.squares(found), 1e-18)
    A, _ = problem.normal(weights)
    scale = 1 / np.sqrt(np.maximum(np.diag(A), 1e-300))
    covariance = np.linalg.pinv(A * scale * scale[:, None], rcond=1e-10) * scale * scale[:, None]
    values, variances = (x[len(carried) :] for x in (found, np.diag(covariance)))
    unseen = [name for name, k in zip(robot.joint_names, values, strict=True) if k <= 0]
    if unseen:
        raise IdentificationError(
            f"the load does not show the gain of {', '.join(unseen)}; move these joints so that "
            "the load pulls on them"
        )
    return DriveGains(robot.joint_names, values, np.sqrt(np.maximum(variances, 0.0)))


def _with_gains(bare: Problem, loaded: Problem, load: Array) -> Problem:
    """The problem of two runs with currents: Z φ - k i = -Z φ_L, unknown in φ and the gains k."""
    pairs = ((getattr(run, name) for run in (bare, loaded)) for name in ("G", "g", "yy", "counts"))
    products, with_current, yy, counts = (sum(pair) for pair in pairs)
    _, n, F = with_current.shape
    G = np.zeros((1, n, F + n, F + n))
    g = np.zeros((1, n, F + n))
    carried = np.einsum("kjab,b->kja", loaded.G, load)
    for j in range(n):
        G[:, j, :F, :F] = products[:, j]
        G[:, j, :F, F + j] = G[:, j, F + j, :F] = -with_current[:, j]
        G[:, j, F + j, F + j] = yy[:, j]
        g[:, j, :F], g[:, j, F + j] = -carried[:, j], np.sum(loaded.g[:, j] * load, axis=-1)
    return Problem(bare.motors, G, g, np.einsum("kja,a->kj", carried, load), counts)
