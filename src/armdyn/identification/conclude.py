"""From the choices to the result: the robot that an estimate is, its errors, and what they mean."""

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
from armdyn.formulations.parameters import RobotParameter, robot_parameters, with_parameters
from armdyn.formulations.regressor import PARAMETERS
from armdyn.identification.diagnosis import Finding, diagnose
from armdyn.identification.equations import ROTOR, STIFF, TENSE, FrictionFeature, Motor
from armdyn.identification.estimate import estimate
from armdyn.identification.problem import Prior, Sums, prior_of, problem_of
from armdyn.identification.residuals import fit_of, kind_of_split, residual_tests, series_of
from armdyn.identification.result import Identification
from armdyn.identification.task import Choices, Search, Task
from armdyn.identification.uncertainty import FoundParameter, Spread, reason, speed_lean, spread_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Drive, FrictionLaw, Joint, RobotModel, Rotor
from armdyn.robot import Robot

NEGLIGIBLE = 1e-6
"""A magnitude below this share of its usual size is nothing."""


def conclude(task: Task, sums: Sums, choices: Choices, began: float) -> Identification:
    """Estimate by the method of the task, and judge the estimate."""
    data = task.training
    equations = task.training.equations
    problem = choices.problem
    motors = problem.motors
    held = None if task.validation is None else task.validation.sums()
    prior = prior_of(equations, problem)
    free = np.arange(len(prior.known)) >= task.fixed
    data.progress(f"method {task.method}", 0, 0)
    found = estimate(
        task.method, task.project, data, problem, prior, choices.noise, task.weight, free
    )
    robot = found_robot(task, motors, prior, found.theta)

    def fit(name: str, seen: Sums, duration: float) -> Any:
        series = series_of(equations, seen.kept, motors, found.phi)
        whole = problem_of(equations, [seen.whole], motors)
        return fit_of(name, whole, found.phi, series, duration)

    training = fit("training", sums, data.health.duration)
    validation = None
    split = "none"
    if task.validation is not None and held is not None and held.samples:
        validation = fit("validation", held, task.validation.health.duration)
        split = kind_of_split(training.series, validation.series, task.apart)
    spread = spread_of(problem.whole, prior, found, free)
    if choices.beside:
        lean = speed_lean(equations, (problem, *choices.beside), prior, found.noise, free)
        spread = replace(spread, leans=np.vstack([spread.leans, lean]))
    parameters, base = _parameters(task, robot, motors, prior, found.theta, spread)
    notes = {log.where: log.columns.note for log in data.logs if log.columns.note}
    findings = tuple(Finding("columns", f"{where}: {note}") for where, note in notes.items())
    if not task.still:
        findings = *diagnose(data, problem, prior, base, training, validation), *findings
    for finding in findings:
        if finding.severe:
            warnings.warn(str(finding), ArmdynWarning, stacklevel=4)
    own = (feature.name for _, feature in motors if feature not in (STIFF, TENSE))
    terms = ", ".join(dict.fromkeys(own))
    return Identification(
        robot=robot,
        given=task.robot,
        parameters=parameters,
        base=base,
        training=training,
        validation=validation,
        split=split,
        method=task.method,
        scored=found.scored,
        search=Search(terms, found.weight, choices.tried),
        cutoffs=data.cutoffs,
        noise=found.noise,
        tests=residual_tests(training.series, task.robot.joint_names),
        findings=findings,
        health=data.health,
        sources=task.sources,
        held_out=tuple(log.where for log in task.validation.logs) if task.validation else (),
        passes=data.passes,
        seconds=time.perf_counter() - began,
    )


# the robot


def found_robot(task: Task, motors: Sequence[Motor], prior: Prior, theta: Array) -> Robot:
    """The robot with the parameters θ: ten of each link, then those of motors and springs.

    It has a note on where its numbers came from, and when.
    """
    robot = task.robot
    model = task.robot.model
    speeds = task.training.equations.speeds
    N = len(model.links)
    driven = len(model.driven)
    names = [f"{link.name}.{name}" for link in model.links for name in PARAMETERS]
    values = dict(zip(names if task.links else (), theta.tolist(), strict=False))
    laws: list[list[tuple[FrictionFeature, float]]] = [[] for _ in model.driven]
    usual = np.abs(np.diag(prior.parameters))
    for (k, feature), value, size in zip(motors, theta[10 * N :], usual[10 * N :], strict=True):
        if k >= driven:
            values[f"{model.springs[k - driven].name}.{feature.linear[0]}"] = float(value)
        elif abs(value) >= NEGLIGIBLE * size:
            laws[k].append((feature, float(value)))
    owners = [*map(_with_motor, model.driven, laws, speeds.tolist())]
    drives = tuple(d for d in owners[N:] if d.rotor.inertia or not d.friction.is_zero)
    model = with_parameters(model, values)
    reduced = model.reduced and not task.links
    logs = ", ".join(source.replace("\\", "/").rpartition("/")[2] for source in task.sources)
    text = f"identified from {logs} by armdyn ({task.method}), {date.today().isoformat()}"
    changed = replace(
        model,
        joints=tuple(owners[:N]),
        drives=drives,
        reduced=reduced,
        source=f"{model.source}; {text}" if model.source else text,
    )
    return Robot(changed, cache=robot.cache, search_effort=robot.search_effort)


def _with_motor(owner: Any, values: Sequence[tuple[FrictionFeature, float]], speed: float) -> Any:
    """A joint or drive with these features of its rotor and friction."""
    law: dict[str, float] = {}
    rotor = Rotor(0.0, owner.rotor.gear_ratio or 1.0)
    for feature, value in values:
        if feature is ROTOR:
            rotor = replace(rotor, inertia=value / rotor.gear_ratio**2)
        else:
            law |= dict.fromkeys(feature.linear, value) | feature.shape(speed)
    return replace(owner, rotor=rotor, friction=FrictionLaw(**law))


# its parameters


def _parameters(
    task: Task, robot: Robot, motors: Sequence[Motor], prior: Prior, theta: Array, spread: Spread
) -> tuple[tuple[FoundParameter, ...], tuple[FoundParameter, ...]]:
    """Every linear parameter of the robot that was found, and its base parameters."""
    records, rows = parameter_rows(robot, task.robot, motors)
    equations = task.training.equations
    names = [r.name for r in records]
    units = [r.unit for r in records]
    bare = with_offsets_alone(robot.model)
    with warnings.catch_warnings():  # rounded angles of a description are told when it is read
        warnings.simplefilter("ignore", ArmdynWarning)
        base = base_parameters(coordinates_of(bare))
    some = [names.index(p.name) for p in robot_parameters(bare) if p.linear]
    rest = [i for i in range(len(names)) if i not in some]
    labels = [*base.groupings, *(names[i] for i in rest)]
    of_base = [*(units[some[column]] for column in base.columns), *(units[i] for i in rest)]
    grouped = np.concatenate([base.matrix @ rows[some], rows[rest]])

    def found(
        labels: Sequence[str], units: Sequence[str], rows: Array
    ) -> tuple[FoundParameter, ...]:
        fixed = ~np.any(rows[:, task.fixed :], axis=1) & (not task.links)
        errors = np.where(fixed, 0.0, spread.errors(rows))
        excited = spread.excited(rows) & ~fixed
        why = dict.fromkeys(np.flatnonzero(fixed).tolist(), "links were not to be found")
        for i in np.flatnonzero(~excited & ~fixed).tolist():
            why[i] = reason(equations, rows[i], motors, spread)
        table = zip(labels, units, rows @ theta, errors, rows @ prior.known, excited, strict=True)
        return tuple(
            FoundParameter(name, unit, float(v), float(e), float(b), bool(x), why.get(i, ""))
            for i, (name, unit, v, e, b, x) in enumerate(table)
        )

    return found(names, units, rows), found(labels, of_base, grouped)


def parameter_rows(
    robot: Robot, given: Robot, motors: Sequence[Motor]
) -> tuple[list[RobotParameter], Array]:
    """The linear parameters of a robot that was found, and each as a combination of θ, (p, P)."""
    ten = 10 * len(robot.model.links)
    owners = [owner.name for owner in (*given.model.driven, *given.model.springs)]
    places = {
        f"{owners[k]}.{name}": ten + i
        for i, (k, feature) in enumerate(motors)
        for name in (feature.linear or (ROTOR.name,))
    }
    records = [p for p in robot_parameters(robot.model) if p.linear]
    rows = np.zeros((len(records), ten + len(motors)))
    for i, record in enumerate(records):
        if i < ten or record.name in places:
            rows[i, i if i < ten else places[record.name]] = 1.0
    return records, rows


def with_offsets_alone(model: RobotModel) -> RobotModel:
    """The robot without friction that changes with the speed, which no link acts like."""

    def bare(owner: Joint | Drive) -> Any:
        return replace(owner, friction=FrictionLaw(offset=owner.friction.offset))

    joints, drives = (tuple(map(bare, owners)) for owners in (model.joints, model.drives))
    return replace(model, joints=joints, drives=drives)
