"""What the tool holds, from a run with it; and the gains of drives, from a load that is known.

A payload with the ten numbers π adds K π to the features φ of the arm. Currents i_j show a robot up
to one factor for each joint. A load whose mass is known turns them into torques, as

    k_j i_j = Z_j φ   without it,    k_j i_j = Z_j (φ + K π)   with it

is linear in φ, all gains k together and what is not known of π. Noise of the currents would make
gains smaller than they are, so what this gives is refined after Gauss and Newton, with the currents
that the model has, Z_j (φ + K π)/k_j.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, real
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
from armdyn.identification.estimate import RANK_TOLERANCE, Unknowns
from armdyn.identification.identify import identify
from armdyn.identification.problem import Problem, problem_of
from armdyn.identification.task import prepare
from armdyn.identification.uncertainty import jackknifed
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
    motors = data.equations.own_motors
    arm = robot.base_parameters(links=True).values
    phi = np.concatenate([arm, data.equations.known(motors)])
    K = np.zeros((len(phi), 10))
    K[: len(arm)] = tool_columns(robot)
    problem = problem_of(data.sums(), motors)
    pi = np.zeros(10)
    for _ in range(_ROUNDS):
        weights = _next_weights(problem, phi + K @ pi)
        A, b = problem.normal(weights)
        A10, b10 = K.T @ A @ K, K.T @ (b - A @ phi)
        pi = np.linalg.lstsq(A10, b10, rcond=RANK_TOLERANCE)[0]
    variances = _variances(problem, phi + K @ pi, A10, K, weights)
    variances = variances + _of_model(A, b - A @ (phi + K @ pi), K, phi)
    pi = _possible(A10, b10)
    total, left, rest = (float(weights @ problem.squares(x)) for x in (0 * phi, phi + K @ pi, phi))
    with_it, without = (float(np.sqrt(squares / total)) for squares in (left, rest))
    body = Inertia.from_pseudo(pseudo_inertias(pi))
    return Payload(robot, body, np.sqrt(variances), with_it, without)


def _of_model(A: Array, pull: Array, K: Array, phi: Array) -> Array:
    """Variances (10,) of a payload because the arm is not as it is known.

    What a new fit of all features would explain beyond chance is of errors of them. They move the
    torques alike, or are the same share of each feature φ, whichever leaves more open. `pull` is
    what the rest pulls features by, (F,).
    """
    whole, own = (np.linalg.pinv(x, RANK_TOLERANCE, hermitian=True) for x in (A, K.T @ A @ K))
    moved = own @ K.T @ A
    more = max(float(pull @ whole @ pull) - len(A), 0.0)
    found = []
    for scale in (1 / np.maximum(np.diag(A), 1e-300), phi**2):
        unseen = float(np.trace((A - A @ K @ moved) * scale))
        found.append(more / max(unseen, 1e-300) * np.einsum("ia,a,ia->i", moved, scale, moved))
    return np.asarray(np.max(found, axis=0))


def _next_weights(problem: Problem, phi: Array) -> Array:
    """Weights of the joints by what they leave; five samples are alike, half a period."""
    least = 1e-12 * problem.yy.sum(axis=0) + 1e-300
    return np.maximum(problem.samples, 1) / (5 * np.maximum(problem.squares(phi), least))


def _variances(problem: Problem, phi: Array, H: Array, C: Array, weights: Array) -> Array:
    """Variances of unknowns, as those of an identification; infinite where nothing is shown."""
    scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    values, vectors = np.linalg.eigh(H * scale * scale[:, None])
    shown = values > RANK_TOLERANCE * values.max(initial=1e-300)
    found = scale**2 * (vectors[:, shown] ** 2 / values[shown]).sum(axis=1)
    blocks = jackknifed(problem, phi, H, C, weights)
    found += np.max([np.diag(each) for each in blocks], axis=0)
    found[np.abs(vectors[:, ~shown]).max(axis=1, initial=0.0) > UNSEEN_SHARE] = np.inf
    return found


def tool_columns(robot: Robot) -> Array:
    """The features of the links by the ten numbers of a body in the tool frame, (F, 10)."""
    frame = robot.model.tool_frame
    base = robot.base_parameters(links=True)
    moved = frame.placement @ pseudo_inertias(np.eye(10)) @ frame.placement.T
    ten = slice(10 * frame.link, 10 * frame.link + 10)
    return np.asarray(base.matrix[:, ten] @ ten_numbers(moved).T)


def _possible(A: Array, b: Array) -> Array:
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
    x = newton(objective.with_data(T.T @ A @ T, T.T @ b), objective.start)
    return T @ x


# gains of drives

_ROUNDS = 5
"""How often the noise of each joint is found anew."""
UNSEEN_SHARE = 1e-6
"""Share of an unknown in what the data do not show from which on it is not shown."""


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
    load: Inertia | float,
    *,
    cutoff: float | None = None,
    **options: Any,
) -> DriveGains:
    """Find the gains of the drives from currents with and without a load that is known.

    Args:
        robot: The geometry; masses do not matter.
        unloaded: A log with currents (or torques in any unit), as in `identify`.
        loaded: The same with the load.
        load: The load as a body in the tool frame, or its mass alone [kg].
        cutoff: Of the filter [Hz]; None: chosen.
        options: How the logs are read, as in `identify`.
    """
    check_robot(robot)
    weighed = 0
    if isinstance(load, Inertia):
        ten = ten_numbers(load.pseudo.astype(float))
    else:
        weighed, ten = 9, np.eye(10)[0] * real(load)
    if not 0 < ten[0] < np.inf:
        raise IdentificationError(
            f"load: expected an armdyn.Inertia in the tool frame, or its mass in kg, got {load!r}"
        )
    options = {"gains": np.ones(robot.n)} | options
    given = ((unloaded, "data"), (loaded, "loaded"))
    first, second = (open_logs(robot, run, name, **options) for run, name in given)
    data = prepare(robot, first, (), cutoff, "choose", unheard)
    data = replace(data, equations=replace(data.equations, structure=ROUGH))
    motors = data.equations.motors_with(ROUGH)
    F = data.equations.links + len(motors)
    K = np.zeros((F, 10))
    K[: data.equations.links] = tool_columns(robot)
    X = np.eye(F, F + weighed)
    with_load = X + np.pad(K[:, 1 : 1 + weighed], ((0, 0), (F, 0)))
    bare, held = (problem_of(data.with_logs(x).sums(), motors) for x in (first, second))
    runs = ((bare, X, np.zeros(F)), (held, with_load, K @ ten))
    x, k, weights = np.zeros(F + weighed), np.zeros(robot.n), np.ones(robot.n)
    for _ in range(_ROUNDS):
        steps = [_step(run, X, known + X @ x, k) for run, X, known in runs]
        problem = replace(
            bare,
            **{name: sum(getattr(s, name) for s in steps) for name in ("G", "g", "yy", "counts")},
        )
        change = Unknowns.all_of(len(x) + robot.n).solved(problem, weights)
        used, weights = weights, _next_weights(problem, change)
        x, k = x + change[: len(x)], k + change[len(x) :]
    H, _ = problem.normal(used)
    variances = _variances(problem, change, H, np.eye(len(H)), used)
    values, errors = k, np.sqrt(variances[len(x) :])
    pairs = zip(robot.joint_names, values > 0, np.isfinite(errors), strict=True)
    unseen = [name for name, *shown in pairs if not all(shown)]
    if unseen:
        raise IdentificationError(
            f"the load does not show the gain of {', '.join(unseen)}; move these joints so that "
            "the load pulls on them"
        )
    return DriveGains(robot.joint_names, values, errors)


def _step(run: Problem, X: Array, phi: Array, k: Array) -> Problem:
    """The problem in the changes of x, of which features are X x, and of gains, from k.

    Where nothing is known of gains yet, the currents are those that were measured.
    """
    n, count = len(k), X.shape[1]
    needed = np.einsum("kjab,b->kja", run.G, phi)
    squares, crossed = needed @ phi, run.g @ phi
    alone = np.einsum("ax,kjab,by->kjxy", X, run.G, X, optimize=True)
    G = np.pad(alone, ((0, 0), (0, 0), (0, n), (0, n)))
    g = np.pad((k[:, None] * run.g - needed) @ X, ((0, 0), (0, 0), (0, n)))
    pull, power, target = run.g, run.yy, crossed
    if k.all():
        pull, power = needed / k[:, None], squares / k**2
        target = squares / k - crossed
    for j in range(n):
        G[:, j, :count, count + j] = G[:, j, count + j, :count] = -pull[:, j] @ X
        G[:, j, count + j, count + j] = power[:, j]
        g[:, j, count + j] = target[:, j]
    return replace(run, G=G, g=g, yy=squares - 2 * k * crossed + k**2 * run.yy)
