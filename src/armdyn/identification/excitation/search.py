"""The search for a motion: several random starts, the best of them followed to the end.

Each start is a small random motion about a random pose that keeps every limit. All starts go
through the first stages, where the criterion is smooth and the limits are far; the best go on to
the stages in which the criterion is the condition number itself and motions go to their limits.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ExcitationError, counted
from armdyn.identification.excitation.bfgs import Descent
from armdyn.identification.excitation.problem import Problem, Stage

Progress = Callable[[float, float], object]
"""Told the share of the search that is done and the best condition number so far; True ends it."""

FIRST_STAGES = (Stage(1, 0.1, 60), Stage(2, 0.02, 80))
LAST_STAGES = (Stage(4, 0.004, 160), Stage(12, 0.001, 120), Stage(40, 2e-4, 100))
FINALISTS = 2
"""Starts that go through the last stages."""
GAIN = 1e-4
"""Steps that gain less than this, of a logarithm, end a stage."""
TRIED_POSES = 300
"""Random poses among which a start is looked for."""
AMPLITUDE = 0.5
"""First amplitudes, in those with which a limit would be reached."""
HALVINGS = 12
"""How often the first amplitudes are halved until every limit is kept."""
POSE_SHARES = 0.6, 0.95
"""Share of the room of a joint, about the middle, in which motions begin the search: for the first
pose that is tried, and for the last."""


class Stopped(Exception):  # noqa: N818 (no error)
    """The search was told to end."""


@dataclass(slots=True, eq=False)
class Track:
    """The search from one start."""

    descent: Descent
    conditions: list[float] = field(default_factory=list)
    """Condition number of the regressor after each step."""
    value: float = math.inf
    """What is compared between starts: the cost at the end of the last stage."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a search has found."""

    z: Array
    conditions: tuple[float, ...]
    """Condition number after each step from the start that was best."""
    starts: tuple[float, ...]
    """Condition number with which the search from each start ended."""
    stopped: bool
    """Whether it was told to end before it had finished."""


def search(
    problem: Problem, starts: int, seed: int, first: Array | None, progress: Progress | None
) -> Found:
    """The best motion from so many random starts, and from the variables `first` if given."""
    rng = np.random.default_rng(seed)
    given = [] if first is None else [first]
    tracks: list[Track] = []
    finalists = min(FINALISTS, starts + len(given))
    steps = (starts + len(given)) * _steps(FIRST_STAGES) + finalists * _steps(LAST_STAGES)
    told = _Teller(progress, steps)
    stopped = False
    try:
        for z in (*given, *(_start(problem, rng) for _ in range(starts))):
            tracks.append(Track(Descent(z)))
            _follow(problem, tracks[-1], FIRST_STAGES, told)
        tracks.sort(key=lambda track: track.value)
        for track in tracks[:finalists]:
            _follow(problem, track, LAST_STAGES, told)
    except Stopped:
        stopped = True
        for track in tracks:
            track.value = problem.value(track.descent.x)
    best = min(tracks[:finalists] if not stopped else tracks, key=lambda track: track.value)
    ends = tuple(track.conditions[-1] for track in tracks if track.conditions)
    return Found(best.descent.x, tuple(best.conditions), ends, stopped)


def _steps(stages: tuple[Stage, ...]) -> int:
    return sum(stage.steps for stage in stages)


@dataclass(slots=True, eq=False)
class _Teller:
    """Tells how far the search is."""

    progress: Progress | None
    steps: int
    done: int = 0
    best: float = math.inf

    def tell(self, condition: float) -> None:
        """A step was taken."""
        self.done += 1
        self.best = min(self.best, condition)
        if self.progress is not None and self.progress(self.done / self.steps, self.best) is True:
            raise Stopped


def _follow(problem: Problem, track: Track, stages: tuple[Stage, ...], told: _Teller) -> None:
    def each() -> bool:
        track.conditions.append(problem.condition)
        told.tell(problem.condition)
        return False

    for stage in stages:
        before = told.done
        problem.power, problem.barrier = stage.power, stage.barrier
        track.descent.run(problem, stage.steps, GAIN, each)
        told.done = before + stage.steps
    track.value = problem.value(track.descent.x)


def _start(problem: Problem, rng: np.random.Generator) -> Array:
    """A small random motion that keeps every limit."""
    limits, basis, n = problem.limits, problem.basis, problem.robot.n
    for pose in _poses(problem, rng):
        x = np.vstack([pose, rng.standard_normal((basis.size - 1, n))])
        moved = [phi[:, 1:] @ x[1:] for phi in problem.grid]
        rooms = limits.room - np.abs(pose - limits.middle), limits.speed, limits.acceleration
        peaks = (np.abs(part).max(0) for part in moved)
        reached = np.min([r / p for r, p in zip(rooms, peaks, strict=True)], axis=0)
        x[1:] *= AMPLITUDE * reached
        for _ in range(HALVINGS):
            z = problem.variables(x.copy())
            if math.isfinite(problem(z)[0]):
                return z
            x[1:] *= 0.5
    raise ExcitationError(_why_no_start(problem))


def _poses(problem: Problem, rng: np.random.Generator) -> Iterator[Array]:
    """Poses at which the arm can rest, within all limits."""
    limits = problem.limits
    if problem.start is not None:
        yield problem.start
        return
    for share in np.linspace(*POSE_SHARES, TRIED_POSES):
        pose = limits.middle + share * limits.room * rng.uniform(-1, 1, problem.robot.n)
        if problem.rests(pose):
            yield pose


def _why_no_start(problem: Problem) -> str:
    """Which limit leaves no motion, by the middle pose."""
    pose = problem.limits.middle if problem.start is None else problem.start
    tau = problem.robot.inverse_dynamics(pose, 0 * pose, 0 * pose)
    over = [
        f"{name} needs {abs(torque):.4g} of {limit:.4g} N m or N to rest"
        for name, torque, limit in zip(
            problem.robot.joint_names, tau, problem.limits.torque, strict=True
        )
        if abs(torque) >= limit
    ]
    where = f"pose {np.round(pose, 4).tolist()}"
    if over:
        why = f"at the {where} {'; '.join(over)}"
    elif problem.clearance is not None and (fault := problem.clearance.fault(pose)):
        why = f"at the {where} {fault}"
    else:
        count = len(problem.aim.names)
        why = f"no small motion about the {where} shows all of the {counted(count, 'parameter')}"
    return (
        f"no motion of {problem.robot.name!r} within its limits was found: {why}. Allow more "
        "torque or less clearance, give a start, or take other parameters"
    )
