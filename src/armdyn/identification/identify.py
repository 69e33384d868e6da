"""`armdyn.identify`: from measured motion to a model that can be trusted; and its special cases.

After the choices come the robot that an estimate is, its errors, and what they mean.
"""

from __future__ import annotations

import ctypes
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from functools import partial
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_truth, real
from armdyn.errors import ArmdynWarning, IdentificationError, check_known, require
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.parameters import RobotParameter, robot_parameters, with_parameters
from armdyn.formulations.regressor import PARAMETERS
from armdyn.identification.data import HELD_OUT, Data, Progress, open_logs, pilot, split, unheard
from armdyn.identification.diagnosis import Finding, diagnose
from armdyn.identification.equations import (
    OFFSET,
    ROTOR,
    STIFF,
    TENSE,
    Equations,
    FrictionFeature,
    Motor,
    Rows,
)
from armdyn.identification.estimate import METHODS, estimate
from armdyn.identification.preparation import Cutoffs
from armdyn.identification.problem import Prior, Sums, prior_of
from armdyn.identification.residuals import fit_of, kind_of_split, residual_tests
from armdyn.identification.result import Identification
from armdyn.identification.task import Choices, Search, Task, check_enough, choose_terms, prepare
from armdyn.identification.uncertainty import (
    FoundParameter,
    Spread,
    reason,
    spread_of,
    terms_lean,
)
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Drive, FrictionLaw, Joint, RobotModel
from armdyn.robot import Robot, check_robot

Friction = Literal["choose", "keep", "adapt", "none"]
MORE_DATA = (
    "record at least ten seconds of motion of all joints, and look for columns that keep one value "
    "or have the wrong unit"
)
"""What to do about data without a solution."""
LEAST_POSES = 6
BLAS = {
    "numpy.linalg._umath_linalg": "scipy_openblas_{}_num_threads64_",
    "scipy.linalg._fblas": "scipy_openblas_{}_num_threads",
}
"""Modules that link OpenBLAS, as wheels of NumPy and SciPy do, and the functions of its threads."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let OpenBLAS compute on one thread: matrices here are too small for others to be of use."""
    restore: list[Callable[[], object]] = []
    for module, name in BLAS.items():
        with suppress(ImportError, OSError, AttributeError):  # another build, or another BLAS
            library = ctypes.CDLL(str(import_module(module).__file__))
            get, change = (getattr(library, name.format(what)) for what in ("get", "set"))
            restore.append(partial(change, get()))
            change(1)
    try:
        yield
    finally:
        for undo in restore:
            undo()


@one_blas_thread()
def identify(
    robot: Robot,
    data: Any,
    validate: Any = None,
    *,
    method: str = METHODS[0],
    project: bool = False,
    cutoff: float | None = None,
    friction: Friction = "choose",
    links: bool = True,
    prior_weight: float = 1.0,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    degrees: bool = False,
    gains: npt.ArrayLike | None = None,
    rate: float | None = None,
    time_unit: str | None = None,
    progress: Progress | None = None,
) -> Identification:
    """Find the parameters of a robot from logs of its motion.

    Args:
        robot: What is known: the geometry, and masses and inertias as a first guess.
        data: A .csv, .parquet or .npz file, or arrays t, q, tau and, where known, qd and qdd, in a
            mapping or as attributes; or a list of these.
        validate: Other data of the same kind; or the share of each log that is held out, 0.3 being
            its end and -0.3 its beginning; False: none. None: the last 30 %.
        method: "entropic", whose links can all exist, "least_squares" or "robust".
        project: Whether the base parameters of the last two become the nearest possible robot.
        cutoff: Of torques and equations [Hz]; None: chosen from the motion.
        friction: "choose": the terms that serve held-out blocks best; "keep": those that the robot
            has; "adapt": these, changed alone where held-out blocks gain by it; "none": no rotors
            and no friction.
        links: Whether the links are to be found; else they are as they are.
        prior_weight: What the robot as it was given counts for in the method "entropic".
        columns: Names of columns for "t", "q", "qd", "qdd", "tau" or "current".
        degrees: Whether angles are in degrees.
        gains: Torque by current of each drive, or what torques are multiplied with, (n,).
        rate: Samples a second of logs without time stamps.
        time_unit: Unit of the time stamps: "s", "ms", "us" or "ns".
        progress: Told what is done, how many samples it has worked on, and how many there are.

    Raises:
        LogError: A log cannot be read.
        IdentificationError: The data are too few, or a setting is wrong.
    """
    began = time.perf_counter()
    check_robot(robot)
    check_known("method", method, METHODS)
    check_known("friction", friction, ("choose", "keep", "adapt", "none"))
    check_truth("project", project)
    alone = friction != "adapt" or (method == METHODS[0] and not project)
    require(alone, "method", "none of its own where friction adapts", method, IdentificationError)
    _check_weight(prior_weight)
    options: Any = {"columns": columns, "degrees": degrees, "gains": gains}
    options |= {"rate": rate, "time_unit": time_unit}
    logs = open_logs(robot, data, "data", **options)
    held: Any = []
    share = HELD_OUT if validate is None else validate
    apart = not isinstance(share, bool | int | float)
    if apart:
        held = open_logs(robot, validate, "validate", **options)
    elif share is not False:
        logs, held = split(logs, float(share))
    where = logs[0].where
    try:
        training = prepare(robot, logs, held, cutoff, friction, progress or unheard)
        other = training.with_logs(held) if held else None
        if friction == "adapt":
            method, links = "adapted", False
        task = Task(training, other, apart, method, project, links, real(prior_weight))
        sums = training.sums()
        check_enough(training, sums)
        return conclude(task, sums, choose_terms(task, sums, friction), began)
    except np.linalg.LinAlgError as error:
        raise IdentificationError(
            f"{where}: the equations of these data cannot be solved ({error}); {MORE_DATA}"
        ) from error


def _check_weight(weight: object) -> None:
    sound = 0 < real(weight) < np.inf
    require(sound, "prior_weight", "a number above 0", weight, IdentificationError)


# special cases


def identify_friction(
    robot: Robot, data: Any, validate: Any = None, **options: Any
) -> Identification:
    """Find rotors and friction, the links being as they are; arguments as in `identify`."""
    return identify(robot, data, validate, links=False, **options)


def update_model(robot: Robot, data: Any, validate: Any = None, **options: Any) -> Identification:
    """Change the friction of a model to that of another day, a minute of which is enough.

    Links and rotors stay as they are, and so does the friction of joints whose held-out blocks do
    not clearly gain by another one; arguments as in `identify`.
    """
    frictionless = all(owner.friction.is_zero for owner in check_robot(robot).model.driven)
    usual = {"friction": "choose" if frictionless else "adapt", "links": False}
    return identify(robot, data, validate, **usual | options)


def identify_gravity(
    robot: Robot,
    poses: Any,
    validate: Any = None,
    *,
    offset: bool = False,
    prior_weight: float = 1.0,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    degrees: bool = False,
    gains: npt.ArrayLike | None = None,
    progress: Progress | None = None,
) -> Identification:
    """Find what gravity shows, from positions and torques of poses at rest.

    A row of `poses` is one pose; time does not matter. Dry friction holds an arm at rest, so each
    pose is best measured twice, reached from both sides, and both rows given.

    Args:
        robot: What is known.
        poses: A file or arrays q and tau, or a list of these.
        validate: Other poses of the same kind; None or False: none.
        offset: Whether each joint has a constant torque as well.
        prior_weight: What the robot as it was given counts for.
        columns: As in `identify`, like the rest.
        degrees: Whether angles are in degrees.
        gains: Torque by current of each drive.
        progress: Told what is done.
    """
    began = time.perf_counter()
    _check_weight(prior_weight)
    structure = (OFFSET,) if offset else ()
    equations = Equations(check_robot(robot), structure, np.ones(len(robot.model.driven)))
    options: Any = {"columns": columns, "degrees": degrees, "gains": gains, "rate": 1.0}

    def read(given: Any, name: str) -> Data:
        """The poses as data of which nothing is filtered, and that have no rates."""
        logs = open_logs(robot, given, name, **options)
        found = Data(logs, equations, Cutoffs(np.inf, np.inf), progress or unheard, passes=1)
        found.cache = []
        for samples in (pilot(log, 2**40) for log in logs):
            zero = np.zeros_like(samples.q)
            t = np.arange(len(samples), dtype=float)
            Z = tuple(equations.features(samples.q, zero, zero))
            tau = samples.tau
            found.cache.append(Rows(t, samples.q, zero, tau, np.isfinite(tau), Z))
        found.health.rows = sum(map(len, found.cache))
        return found

    training = read(poses, "poses")
    other = None if validate is None or validate is False else read(validate, "validate")
    sums = training.sums()
    if sums.samples < LEAST_POSES:
        raise IdentificationError(
            f"{training.logs[0].where}: {sums.samples} poses are too few; take {LEAST_POSES} or "
            "more"
        )
    task = Task(training, other, apart=True, weight=real(prior_weight), still=True)
    return conclude(task, sums, choose_terms(task, sums, "all"), began)


# the result

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

    training = fit_of("training", sums, motors, found.phi, data.health.duration)
    validation = None
    split = "none"
    if task.validation is not None and held is not None and held.samples:
        duration = task.validation.health.duration
        validation = fit_of("validation", held, motors, found.phi, duration)
        split = kind_of_split(training.series, validation.series, task.apart)
    spread = spread_of(problem, prior, found, free)
    others = (
        terms_lean(equations, problem, other, prior, found.noise, free) for other in choices.others
    )
    spread = replace(spread, leans=np.vstack([spread.leans, *others]))
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
        search=Search(terms, found.weight),
        cutoffs=data.cutoffs,
        noise=found.noise,
        tests=residual_tests(training.series, task.robot.joint_names),
        findings=findings,
        health=data.health,
        sources=tuple(log.where for log in data.logs),
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
    sources = [log.where.replace("\\", "/") for log in task.training.logs]
    logs = ", ".join(source.rpartition("/")[2] for source in sources)
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
    rotor = replace(owner.rotor, inertia=0.0, gear_ratio=owner.rotor.gear_ratio or 1.0)
    for feature, value in values:
        if feature is ROTOR:
            rotor = replace(rotor, inertia=value / rotor.gear_ratio**2)
        else:
            law |= dict.fromkeys(feature.linear, value) | feature.shape(speed)
    return replace(owner, rotor=rotor, friction=FrictionLaw(**law))


def _parameters(
    task: Task, robot: Robot, motors: Sequence[Motor], prior: Prior, theta: Array, spread: Spread
) -> tuple[tuple[FoundParameter, ...], ...]:
    """Every linear parameter of the robot that was found, and its base parameters."""
    records, rows = parameter_rows(robot, task.robot, motors)
    equations = task.training.equations
    names, units = ([getattr(r, key) for r in records] for key in ("name", "unit"))
    bare = with_offsets_alone(robot.model)
    with warnings.catch_warnings():  # rounded angles of a description are told when it is read
        warnings.simplefilter("ignore", ArmdynWarning)
        base = base_parameters(coordinates_of(bare))
    some = [names.index(p.name) for p in robot_parameters(bare) if p.linear]
    rest = [i for i in range(len(names)) if i not in some]
    labels = [*base.groupings, *(names[i] for i in rest)]
    of_base = [*(units[some[column]] for column in base.columns), *(units[i] for i in rest)]
    mixed = np.zeros((len(labels), len(names)))
    mixed[: base.rank, some] = base.matrix
    mixed[range(base.rank, len(labels)), rest] = 1.0

    def found(
        labels: Sequence[str], units: Sequence[str], shares: Array
    ) -> tuple[FoundParameter, ...]:
        combined = shares @ rows
        fixed = ~np.any(combined[:, task.fixed :], axis=1) & (not task.links)
        errors = np.where(fixed, 0.0, spread.errors(combined))
        excited = spread.excited(combined) & ~fixed
        why = dict.fromkeys(np.flatnonzero(fixed).tolist(), "links were not to be found")
        for i in np.flatnonzero(~excited & ~fixed).tolist():
            why[i] = reason(equations, combined[i], motors, spread)
        parts = ({names[k]: float(x[k]) for k in np.flatnonzero(x)} for x in shares)
        numbers = zip(combined @ theta, errors, combined @ prior.known, excited, strict=True)
        return tuple(
            FoundParameter(name, unit, float(v), float(e), float(b), bool(x), why.get(i, ""), parts)
            for i, (name, unit, (v, e, b, x), parts) in enumerate(
                zip(labels, units, numbers, parts, strict=True)
            )
        )

    return found(names, units, np.eye(len(names))), found(labels, of_base, mixed)


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
