"""What is to be identified with which data, and the choices that are made on the training.

Terms of friction and the filter of the motion are chosen on held-out blocks. Neighbouring samples
are alike, so folds are long blocks. A richer law is taken only if it is better on blocks it was not
fitted to by more than the spread of that difference.

Positions that are differentiated twice carry noise into the equations, the more the higher the
cut-off; too low a cut-off takes motion away. Neither can be told from the positions alone, so a few
cut-offs are tried on the first samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array, real, record
from armdyn.errors import IdentificationError, counted, require
from armdyn.identification.data import Data, Progress, check_sizes, motor_speeds, pilot, unheard
from armdyn.identification.equations import (
    ROTOR,
    ROUGH,
    Equations,
    Structure,
    all_features,
    changes,
    first_structures,
)
from armdyn.identification.estimate import (
    HELD_BLOCKS,
    Noise,
    entropic,
    repeats_of,
    weighted_least_squares,
)
from armdyn.identification.preparation import Cutoffs, choose_cutoff
from armdyn.identification.problem import FOLDS, Problem, Sums, prior_of, problem_of
from armdyn.io.log import Log, Samples
from armdyn.robot import Robot

_MORE_TERMS = 2
"""How often a term is added to friction."""
_CLEARLY = 1.5
"""Spreads of the difference that a better law is better by."""
_LEAST_GAIN = 0.03
"""Relative improvement on held-out blocks below which a term is not worth having."""
FACTORS = (2.0, 1.0, 0.6)
"""Cut-offs of the motion that are tried, in that of the equations."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be done, with which data."""

    training: Data
    validation: Data | None
    apart: bool
    """Whether validation is with other logs."""
    method: str = "entropic"
    project: bool = False
    """Whether base parameters are projected to bodies that can exist."""
    links: bool = True
    """Whether the links are to be found."""
    weight: float = 1.0
    """Of the prior."""
    still: bool = False
    """Whether the arm is at rest in all samples."""

    @property
    def robot(self) -> Robot:
        """The robot as it was given."""
        return self.training.equations.robot

    @property
    def fixed(self) -> int:
        """How many numbers, the first of θ, stay as they are: those of links not to be found."""
        return 0 if self.links else 10 * len(self.robot.model.links)


def prepare(
    robot: Robot,
    logs: Sequence[Log],
    held: Sequence[Log],
    cutoff: float | None,
    friction: str,
    progress: Progress,
) -> Data:
    """The logs with their equations, and filters that are chosen; those held out are checked."""
    fastest = 0.5 / max(log.period for log in logs)
    sound = cutoff is None or 0 < real(cutoff) < fastest
    expected = f"a frequency below half of the sampling rate, {fastest:g} Hz"
    require(sound, "cutoff", expected, cutoff, IdentificationError)
    for log in (*logs, *held):
        check_sizes(log, robot.joint_names)
    samples = pilot(logs[0])
    if len(samples) < 16:
        raise IdentificationError(
            f"{logs[0].where}: too few samples, {len(samples)}; record some seconds of motion"
        )
    natural = choose_cutoff(samples.q, 1 / logs[0].period)
    equation_cutoff = natural if cutoff is None else float(cutoff)
    structure: Structure = all_features() if friction == "choose" else (ROTOR,)
    equations = Equations(robot, structure, np.ones(len(robot.model.driven)))
    speeds = motor_speeds(samples, logs[0].period, natural, equations.ratios)
    equations = replace(equations, speeds=speeds)
    if friction in ("keep", "adapt"):
        motors = (f for k, f in equations.own_motors if k < len(robot.model.driven))
        equations = replace(equations, structure=tuple(dict.fromkeys(motors)))
    progress("choosing the filter of the motion", 0, 0)
    motion = choose_motion_cutoff(equations, logs[0], samples, equation_cutoff, natural)
    return Data(logs, equations, Cutoffs(equation_cutoff, motion), progress)


def check_enough(data: Data, sums: Sums) -> None:
    """Refuse data that are too short for anything."""
    least = data.equations.links // max(data.equations.robot.n, 1) + 10
    if sums.samples < least:
        health = data.health
        lost = health.counts["missing"]
        missing = f"; {lost:,} of {health.rows:,} rows have something missing" if lost else ""
        raise IdentificationError(
            f"{data.logs[0].where}: too short: {health.duration:.2g} s are left after the ends "
            f"that a filter of {data.cutoffs.equations:g} Hz needs, "
            f"{counted(sums.samples, 'sample')}{missing}; "
            "record at least ten seconds of motion of all joints, or give a higher cutoff"
        )


def choose_motion_cutoff(
    equations: Equations, log: Log, samples: Samples, cutoff: float, natural: float
) -> float:
    """The cut-off of the motion [Hz], given that of the equations and the one natural to it.

    It is at least three fifths of the natural one, below which motion would be lost.
    """
    options = sorted({max(f * cutoff, min(0.6 * natural, cutoff)) for f in FACTORS}, reverse=True)
    rough = replace(equations, structure=ROUGH)
    part = log.part(log.first, log.first + len(samples))
    noise: Noise | None = None
    errors = []
    for motion in options:
        sums = Data([part], rough, Cutoffs(cutoff, motion), unheard).sums()
        if sums.samples < FOLDS:
            return options[0]
        problem = problem_of(sums, rough.motors_with(ROUGH))
        if noise is None:
            _, deviation = weighted_least_squares(problem.whole)
            noise = Noise(deviation, np.full_like(deviation, 5.0))
        errors.append(cross_validate(rough, problem, noise).mean())
    return options[int(np.argmin(errors))]


def cross_validate(
    equations: Equations, problem: Problem, noise: Noise, free: Array | None = None
) -> Array:
    """The error on each block of the estimate from all others, squares in those of the noise."""
    prior = prior_of(equations, problem)
    start = entropic(problem.whole, prior, noise.weights, 1.0, free=free)
    errors = []
    for rest, held in problem.held_out(HELD_BLOCKS):
        x = entropic(rest, prior, noise.weights, 1.0, start, free)
        squares = held.squares(prior.features @ x) / noise.deviation**2
        errors.append(squares.sum() / max(held.samples.sum(), 1))
    return np.array(errors)


# terms of friction


@record
class Search:
    """What was chosen on held-out blocks of the training data."""

    friction: str
    """The terms of friction, in words."""
    weight: float
    """Weight of the prior."""


@record(eq=False)
class Choices:
    """Features of motors and springs, with the problem that they make."""

    problem: Problem
    noise: Noise
    others: tuple[Problem, ...] = ()
    """The same with the best terms that were not taken, with those of the beginning, and with the
    next best speed of dry friction."""


def choose_terms(task: Task, sums: Sums, friction: str) -> Choices:
    """The terms that serve held-out blocks of the training best, those of the robot, or none.

    "all" are those that the equations have.
    """
    data, noise = task.training, None
    equations, robot = data.equations, task.robot

    def noise_of(problem: Problem) -> Noise:
        phi, deviation = weighted_least_squares(problem.whole)
        return Noise(deviation, repeats_of(sums, problem.motors, phi, data.cutoffs.equations))

    def errors_of(structure: Structure) -> Array:
        nonlocal noise
        problem = problem_of(sums, equations.motors_with(structure))
        noise = noise_of(problem) if noise is None else noise
        data.progress(f"friction: {words(structure)}", 0, 0)
        free = np.arange(10 * len(robot.model.links) + len(problem.motors)) >= task.fixed
        return cross_validate(equations, problem, noise, free)

    def best_two(structures: Sequence[Structure]) -> list[tuple[Array, Structure]]:
        return sorted(((errors_of(s), s) for s in structures), key=lambda pair: pair[0].mean())[:2]

    if friction != "choose":
        own = {"all": equations.motors, "none": equations.motors_with(())}
        problem = problem_of(sums, own.get(friction, equations.own_motors))
        return Choices(problem, noise_of(problem))
    (errors, structure), (_, beside) = best_two(first_structures())
    first, others = structure, [beside]
    for _ in range(_MORE_TERMS):
        fewer, richer = best_two(changes(structure))[0]
        gain = errors - fewer
        spread = gain.std(ddof=1) / np.sqrt(len(gain))
        if not gain.mean() > max(_CLEARLY * spread, _LEAST_GAIN * errors.mean()):
            others.append(richer)
            break
        errors, structure = fewer, richer
    problem = problem_of(sums, equations.motors_with(structure))
    others += [first] if first != structure else []
    rest = tuple(problem_of(sums, equations.motors_with(other)) for other in others)
    return Choices(problem, noise_of(problem), rest)


def words(structure: Structure) -> str:
    """A structure in words, as "rotor, viscous, Coulomb (0.03), offset"."""
    found = []
    for feature in structure:
        numbers = [f"{x:g}" for x in (feature.smooth, feature.stribeck) if x]
        found.append(feature.name + (f" ({', '.join(numbers)})" if numbers else ""))
    return ", ".join(found)
