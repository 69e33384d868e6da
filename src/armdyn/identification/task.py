"""What is to be identified with which data, and the choices that are made on the training."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, real
from armdyn.errors import IdentificationError, counted, shown
from armdyn.identification.build import friction_words
from armdyn.identification.data import (
    HELD_OUT,
    Data,
    LogOptions,
    Progress,
    check_sizes,
    cutoff_of,
    motor_speeds,
    pilot,
    split,
)
from armdyn.identification.equations import Equations, Motor
from armdyn.identification.estimate import Noise, repeats_of, weighted_least_squares
from armdyn.identification.friction_terms import ROTOR, Structure, all_features
from armdyn.identification.gram import Sums
from armdyn.identification.motion_filter import choose_motion_cutoff
from armdyn.identification.neighbours import with_other_speeds
from armdyn.identification.preparation import Cutoffs
from armdyn.identification.problem import Problem, motors_with, own_motors, problem_of
from armdyn.identification.selection import FOLDS, WEIGHTS, choose_friction, choose_weight
from armdyn.robot import Robot


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be done, with which data."""

    robot: Robot
    method: str
    links: bool
    """Whether the links are to be found."""
    equations: Equations
    cutoffs: Cutoffs
    given_cutoff: bool
    training: Data
    validation: Data | None
    apart: bool
    """Whether validation is with other logs."""
    progress: Progress
    still: bool = False
    """Whether the arm is at rest in all samples."""


@dataclass(frozen=True, slots=True)
class Search:
    """What was chosen on held-out blocks of the training data, and what was tried."""

    friction: str
    """The terms of friction, in words."""
    weight: float
    """Weight of the prior."""
    friction_tried: tuple[tuple[str, float], ...]
    """Terms and their error on held-out blocks, in units of the noise."""
    weights_tried: tuple[tuple[float, float], ...]
    """Weights and their error on held-out blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The choices, with the problem that they make."""

    search: Search
    motors: tuple[Motor, ...]
    problem: Problem
    noise: Noise
    beside: tuple[Problem, ...] = ()
    """The same problem with the next speeds of dry friction that were tried."""


def prepare(
    robot: Robot,
    data: Any,
    validate: Any,
    options: LogOptions,
    cutoff: float | None,
    friction: str,
    progress: Progress,
    method: str,
    links: bool,
) -> Task:
    """Open the logs, split them, and choose the filters."""
    logs = options.open(robot, data, "data")
    share = HELD_OUT if validate is None else validate
    apart = not isinstance(share, bool | int | float)
    if apart:
        held = options.open(robot, validate, "validate")
    elif share is False:
        held = []
    else:
        logs, held = split(logs, float(share))
    if cutoff is not None and not 0 < real(cutoff) < 0.5 / max(log.period for log in logs):
        raise IdentificationError(
            f"cutoff: expected a frequency below half of the sampling rate, "
            f"{0.5 / max(log.period for log in logs):g} Hz, got {shown(cutoff)}"
        )
    for log in (*logs, *held):
        check_sizes(log, robot.joint_names)
    natural = cutoff_of(logs)
    equation_cutoff = natural if cutoff is None else float(cutoff)
    structure: Structure = all_features() if friction == "choose" else (ROTOR,)
    first = Equations(robot, structure, np.ones(len(robot.model.driven)))
    samples = pilot(logs[0])
    speeds = motor_speeds(samples, logs[0].period, natural, first.ratios)
    equations = replace(first, speeds=speeds)
    if friction == "keep":
        own = own_motors(equations)
        motors = (f for k, f in own if k < len(robot.model.driven))
        equations = replace(equations, structure=tuple(dict.fromkeys(motors)))
    progress("choosing the filter of the motion", 0, 0)
    motion = choose_motion_cutoff(equations, logs[0], samples, equation_cutoff, natural)
    cutoffs = Cutoffs(equation_cutoff, motion)
    training = Data(logs, equations, cutoffs, progress)
    validation = Data(held, equations, cutoffs, progress) if held else None
    return Task(
        robot,
        method,
        links,
        equations,
        cutoffs,
        cutoff is not None,
        training,
        validation,
        apart,
        progress,
    )


def check_enough(task: Task, sums: Sums) -> None:
    """Refuse data that are too short for anything."""
    least = task.equations.links // max(task.robot.n, 1) + 10
    if sums.samples < least:
        where = task.training.logs[0].where
        health = task.training.health
        lost = health.counts["missing"]
        missing = f"; {lost:,} of {health.rows:,} rows have something missing" if lost else ""
        raise IdentificationError(
            f"{where}: too short: {health.duration:.2g} s are left after the ends that a filter of "
            f"{task.cutoffs.equations:g} Hz needs, {counted(sums.samples, 'sample')}{missing}; "
            "record at least ten seconds of motion of all joints, or give a higher cutoff"
        )


def places(equations: Equations, motors: Sequence[Motor]) -> Array:
    """The places of chosen features among all."""
    place = {motor: equations.links + i for i, motor in enumerate(equations.motors)}
    return np.array([*range(equations.links), *(place[m] for m in motors)], dtype=int)


def search_choices(
    task: Task, sums: Sums, friction: str, prior_weight: float | Sequence[float] | None
) -> Choices:
    """The terms of friction and the weight of the prior, by held-out blocks of the training."""
    equations, folds = task.equations, sums.folds(FOLDS)

    def noise_of(problem: Problem) -> Noise:
        phi, deviation = weighted_least_squares(problem.whole)
        chosen = places(equations, problem.motors)
        return Noise(deviation, repeats_of(sums, chosen, phi, task.cutoffs.equations))

    def said(what: str) -> None:
        task.progress(what, 0, 0)

    tried: tuple[tuple[str, float], ...] = ()
    if friction == "choose":
        choice = choose_friction(equations, folds, noise_of, said, task.links)
        motors, tried = choice.motors, choice.tried
    elif friction == "keep":
        motors = tuple(own_motors(equations))
    else:
        motors = tuple(motors_with(equations, equations.structure if friction == "all" else ()))
    problem = problem_of(equations, folds, motors)
    noise = noise_of(problem)
    weights = np.atleast_1d(np.array(WEIGHTS if prior_weight is None else prior_weight, float))
    if not (np.isfinite(weights).all() and (weights > 0).all() and weights.size):
        raise IdentificationError(
            f"prior_weight: expected numbers more than 0, got {shown(prior_weight)}"
        )
    tried_weights: tuple[tuple[float, float], ...] = ()
    weight = float(weights.max())
    if task.method == "entropic" and len(weights) > 1 and task.links:
        weight, tried_weights = choose_weight(equations, problem, noise, weights.tolist(), said)
    search = Search(friction_words(motors), weight, tried, tried_weights)
    others = with_other_speeds(motors) if friction == "choose" else []
    beside = tuple(problem_of(equations, folds, other) for other in others)
    return Choices(search, motors, problem, noise, beside)
