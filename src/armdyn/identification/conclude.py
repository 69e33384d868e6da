"""From the choices to the result: the estimate, its errors, and what is to be said about them."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynWarning
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.parameters import robot_parameters
from armdyn.identification.build import found_robot, parameter_rows
from armdyn.identification.diagnosis import diagnose
from armdyn.identification.equations import Motor
from armdyn.identification.methods import estimate
from armdyn.identification.problem import Sums, known_value, prior_of, problem_of
from armdyn.identification.residuals import Fit, fit_of, kind_of_split, residual_tests, series_of
from armdyn.identification.result import Identification
from armdyn.identification.task import Choices, Task
from armdyn.identification.uncertainty import FoundParameter, Spread, reasons, speed_lean, spread_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Drive, FrictionLaw, Joint, RobotModel
from armdyn.robot import Robot


def conclude(
    task: Task, sums: Sums, held: Sums | None, choices: Choices, began: float
) -> Identification:
    """Estimate by the method of the task, and judge the estimate."""
    equations, motors, problem = task.equations, choices.motors, choices.problem
    N = len(task.robot.model.links)
    prior = prior_of(equations, problem)
    free = None if task.links else np.arange(len(prior.objective.start)) >= 10 * N
    task.progress(f"method {task.method}", 0, 0)
    found = estimate(
        task.method, task.training, problem, prior, choices.noise, choices.search.weight, free
    )
    theta, phi = prior.parameters @ found.x, prior.features @ found.x
    scale = np.abs(np.diag(prior.parameters)[10 * N :])
    robot = found_robot(equations, motors, theta, scale, task.links)
    series = series_of(equations, sums.kept, motors, phi)
    training = fit_of("training", problem, phi, series, task.training.health.duration)
    validation, kind = _validation(task, held, motors, phi, training)
    spread = spread_of(problem.whole, prior, found.noise, found.weight, found.x, free)
    if choices.beside:
        problems = (problem, *choices.beside)
        lean = speed_lean(equations, problems, prior, found.noise, free)
        spread = replace(spread, leans=np.vstack([spread.leans, lean]))
    parameters, base = _parameters(task, robot, motors, theta, spread)
    findings = () if task.still else diagnose(task.training, problem, prior, base, training)
    for finding in findings:
        if finding.severe:
            warnings.warn(str(finding), ArmdynWarning, stacklevel=4)
    logs = task.training.logs
    return Identification(
        robot=_signed(robot, [log.where for log in logs], task.method),
        given=task.robot,
        parameters=parameters,
        base=base,
        training=training,
        validation=validation,
        split=kind,
        method=task.method,
        search=choices.search,
        cutoffs=task.cutoffs,
        noise=found.noise,
        tests=residual_tests(series, task.robot.joint_names),
        findings=findings,
        health=task.training.health,
        sources=tuple(log.where for log in logs),
        held_out=tuple(log.where for log in task.validation.logs) if task.validation else (),
        passes=task.training.passes,
        seconds=time.perf_counter() - began,
    )


def _validation(
    task: Task, held: Sums | None, motors: Sequence[Motor], phi: Array, training: Fit
) -> tuple[Fit | None, str]:
    if held is None or not held.samples or task.validation is None:
        return None, "none"
    problem = problem_of(task.equations, held.folds(1), motors)
    series = series_of(task.equations, held.kept, motors, phi)
    fit = fit_of("validation", problem, phi, series, task.validation.health.duration)
    return fit, kind_of_split(training.series, series, task.apart)


def _parameters(
    task: Task, robot: Robot, motors: Sequence[Motor], theta: Array, spread: Spread
) -> tuple[tuple[FoundParameter, ...], tuple[FoundParameter, ...]]:
    """Every linear parameter of the robot that was found, and its base parameters."""
    model = task.robot.model
    records, rows = parameter_rows(robot, task.robot, motors)
    N = len(model.links)
    before = np.zeros(theta.size)
    before[: 10 * N] = task.robot.parameters[: 10 * N]
    before[10 * N :] = [known_value(task.robot, k, feature) for k, feature in motors]
    names, units = [r.name for r in records], [r.unit for r in records]
    all_of_them = _found(task, names, units, rows, theta, before, motors, spread)
    bare = with_offsets_alone(robot.model)
    with warnings.catch_warnings():  # rounded angles of a description are told when it is read
        warnings.simplefilter("ignore", ArmdynWarning)
        base = base_parameters(coordinates_of(bare))
    some = [names.index(p.name) for p in robot_parameters(bare) if p.linear]
    grouped = base.matrix @ rows[some]
    rest = [i for i in range(len(names)) if i not in some]
    labels = [*base.groupings, *(names[i] for i in rest)]
    units = [*(units[some[column]] for column in base.columns), *(units[i] for i in rest)]
    every = np.concatenate([grouped, rows[rest]])
    return all_of_them, _found(task, labels, units, every, theta, before, motors, spread)


def with_offsets_alone(model: RobotModel) -> RobotModel:
    """The robot without friction that changes with the speed, which no link acts like."""

    def bare(owner: Joint | Drive) -> Any:
        return replace(owner, friction=FrictionLaw(offset=owner.friction.offset))

    joints, drives = (tuple(map(bare, owners)) for owners in (model.joints, model.drives))
    return replace(model, joints=joints, drives=drives)


def _found(
    task: Task,
    names: Sequence[str],
    units: Sequence[str],
    rows: Array,
    theta: Array,
    before: Array,
    motors: Sequence[Motor],
    spread: Spread,
) -> tuple[FoundParameter, ...]:
    errors, excited = spread.errors(rows), spread.excited(rows)
    if not task.links:
        fixed = ~np.any(rows[:, 10 * len(task.robot.model.links) :], axis=1)
        errors, excited = np.where(fixed, 0.0, errors), excited & ~fixed
    owners = [_owners(task, row, motors) for row in rows]
    why = [""] * len(rows)
    dull = np.flatnonzero(~excited)
    texts = reasons(task.equations, rows[dull], [owners[i] for i in dull], spread)
    for i, text in zip(dull, texts, strict=True):
        why[i] = text if task.links else "links were not to be found"
    values, old = rows @ theta, rows @ before
    return tuple(
        FoundParameter(name, unit, float(v), float(e), float(b), bool(x), w)
        for name, unit, v, e, b, x, w in zip(
            names, units, values, errors, old, excited, why, strict=True
        )
    )


def _owners(task: Task, row: Array, motors: Sequence[Motor]) -> Array:
    """The motors that a combination of parameters is about: of links, those that carry them."""
    N, model = len(task.robot.model.links), task.robot.model
    weight = np.abs(row)
    first = int(np.argmax(weight > 0))
    if first < 10 * N:
        return np.array([first // 10])
    motor = motors[first - 10 * N][0]
    return np.array([motor] if motor < len(model.driven) else [], dtype=int)


def _signed(robot: Robot, sources: Sequence[str], method: str) -> Robot:
    """The robot with a note on where its numbers came from, and when."""
    logs = ", ".join(source.replace("\\", "/").rpartition("/")[2] for source in sources)
    text = f"identified from {logs} by armdyn ({method}), {date.today().isoformat()}"
    model = robot.model
    source = f"{model.source}; {text}" if model.source else text
    return Robot(replace(model, source=source), cache=robot.cache, effort=robot.effort)
