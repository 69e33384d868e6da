"""What the tool holds, from a run with it: mass, centre and tensor, as a body that can exist."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import IdentificationError
from armdyn.formulations.possible_bodies import PriorBodies, floored_pseudo, ten_numbers
from armdyn.formulations.regressor import PARAMETERS
from armdyn.formulations.scaled_newton import Objective, newton
from armdyn.identification.data import LogOptions, unheard
from armdyn.identification.equations import Equations
from armdyn.identification.identify import identify
from armdyn.identification.problem import known_value, own_motors, problem_of
from armdyn.identification.task import Task, prepare
from armdyn.model import Inertia
from armdyn.report.result import Result, Section
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
        return self.robot.with_payload(self.body)

    def save(self, path: str | Path) -> None:
        """Write the robot holding it to a .toml or .urdf file."""
        self.loaded.save(path)

    def sections(self) -> tuple[Section, ...]:
        """The report."""
        ten = _ten(self.body)
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
        data = {
            "mass": self.mass, "com": self.com.tolist(), "inertia": self.inertia.tolist(),
            "errors": self.errors.tolist(), "relative_error": self.relative_error,
            "without": self.without,
        }  # fmt: skip
        columns = ("in the tool frame", "value", "standard error")
        return (Section("Payload", lines, columns, rows, data=data),)

    def __repr__(self) -> str:
        return f"<Payload of {self.mass:.4g} kg at {np.round(self.com, 4).tolist()} m>"


def identify_payload(
    robot: Robot, loaded: Any, unloaded: Any = None, *, cutoff: float | None = None, **options: Any
) -> Payload:
    """Find what the tool holds, from a run with it and, where there is one, a run without.

    A robot that was identified needs the loaded run alone. With an unloaded run the robot is
    identified from it first, so that errors of the model do not count as payload.
    """
    check_robot(robot)
    told = {
        k: v
        for k, v in options.items()
        if k in ("columns", "degrees", "gains", "rate", "time_unit")
    }
    progress = options.get("progress") or unheard
    if unloaded is not None:
        robot = identify(robot, unloaded, False, cutoff=cutoff, progress=progress, **told).robot
    task = prepare(
        robot, loaded, False, LogOptions(**told), cutoff, "keep", progress, "entropic", True
    )
    A, b, yy, phi, count = _sums(task)
    K = tool_columns(task.equations)
    A10, b10 = K.T @ A @ K, K.T @ (b - A @ phi)
    rest = yy - 2 * float(b @ phi) + float(phi @ A @ phi)
    pi = _possible(A10, b10, max(rest, 1e-300), count)
    left = max(rest - 2 * float(b10 @ pi) + float(pi @ A10 @ pi), 0.0)
    # what a filtered sample repeats of its neighbours, ten of them a period of the cut-off
    variance = 5 * left / max(count - 10, 1)
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(A10)) * variance, 0.0))
    return Payload(
        robot, _inertia(pi), errors, float(np.sqrt(left / yy)), float(np.sqrt(max(rest, 0) / yy))
    )


def _sums(task: Task) -> tuple[Array, Array, float, Array, int]:
    """Normal equations in the features of the robot, weighted by its own errors; its features."""
    equations, robot = task.equations, task.robot
    motors = own_motors(equations)
    problem = problem_of(equations, task.training.sums().folds(1), motors)
    phi = np.concatenate([
        robot.base_parameters(links=True).values,
        [known_value(robot, k, feature) for k, feature in motors],
    ])  # fmt: skip
    weights = 1 / np.maximum(problem.yy[0] / np.maximum(problem.samples, 1), 1e-300)
    weights = weights / weights.max()
    weights = np.maximum(weights, 1e-3)
    A, b = problem.normal(weights)
    return A, b, float(weights @ problem.yy[0]), phi, int(problem.samples.sum())


def tool_columns(equations: Equations) -> Array:
    """The features of the links by the ten numbers of a body in the tool frame, (F, 10)."""
    robot = equations.robot
    model, base = robot.model, robot.base_parameters(links=True)
    frame = model.tool_frame
    columns = []
    for unit in np.eye(10):
        body = _inertia(unit)
        columns.append(_ten(Inertia.from_pseudo(frame.placement @ body.pseudo @ frame.placement.T)))
    carried = base.matrix[:, 10 * frame.link : 10 * frame.link + 10] @ np.array(columns).T
    rest = np.zeros((len(own_motors(equations)), 10))
    return np.concatenate([carried, rest])


def _possible(A: Array, b: Array, squares: float, count: int) -> Array:
    """The ten numbers of the body that explains most: a ball, changed as far as data show."""
    four = np.linalg.lstsq(A[:4, :4], b[:4], rcond=1e-9)[0]
    if four[0] <= 0:
        raise IdentificationError(
            f"no payload is seen: the best mass is {four[0]:.3g} kg; is this the loaded run, is "
            "the model of the unloaded arm right, and does the motion lift the tool?"
        )
    mass, centre = float(four[0]), four[1:] / four[0]
    ball = Inertia.sphere(float(np.cbrt(3 * mass / (4 * np.pi * DENSITY))), mass=mass).moved(centre)
    prior = PriorBodies(np.linalg.cholesky(floored_pseudo(ball))[None])
    none = np.zeros(0)
    objective = Objective.plain(prior, none, none.astype(bool), none)
    T = objective.transform
    free = max(squares - float(b @ np.linalg.lstsq(A, b, rcond=1e-9)[0]), 1e-12 * squares)
    weight = count / (5 * free)
    x = newton(objective.with_data(weight * T.T @ A @ T, weight * T.T @ b), objective.start)
    return T @ x


def _ten(body: Inertia) -> Array:
    return ten_numbers(body.pseudo.astype(float))


def _inertia(ten: Array) -> Inertia:
    tensor = np.array(
        [[ten[4], ten[5], ten[7]], [ten[5], ten[6], ten[8]], [ten[7], ten[8], ten[9]]]
    )
    return Inertia.from_origin(float(ten[0]), frozen(ten[1:4]), frozen(tensor))
