"""The states that a question is asked about: along a motion, or over the workspace.

A motion is a trajectory file, a trajectory, anything with q, qd and qdd (and t, where times are
known), or the three arrays. The workspace is a sample of random states: positions anywhere between
the limits of the joints; in one half of the states speeds and accelerations are anywhere up to the
largest, in the other half each is the largest or its opposite, because torques are largest there.
A choice that was made by some states is verified by others of the same kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, check_whole, frozen
from armdyn.errors import ArmdynWarning, ModelError, TrajectoryError, check_known, counted, shown
from armdyn.io.csv.trajectory import SampledMotion, trajectory_from_csv
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.simulation.checks import check_each
from armdyn.simulation.limits import excesses
from armdyn.simulation.trajectories import sampled
from armdyn.simulation.trajectories.moves import QUINTIC_SPEED
from armdyn.simulation.trajectories.piecewise import hermite

INSTANTS = 1000
"""Steps into which a trajectory is cut."""
MOST_SAMPLES = 10_000_000
"""Most states of a workspace."""
DEFAULT_SAMPLES = 2000
SAMPLED_ENTRIES = 500_000
FEWEST_SAMPLES = 100
"""States of a workspace: so many, for many joints so many entries of mass matrices, at least."""
DEFAULT_SPEED = 1.0
"""Speed of a joint without a limit of speed [rad/s or m/s]."""
ACCELERATION_RATE = 2.0
"""Accelerations reach so many times the speed in a second: full speed takes half a second."""
LIMIT_ROUNDING = 1e-9
"""A position so little beyond a limit, relative to it, counts as at it."""

OnLimits = Literal["error", "warn", "ignore"]
"""What to do about positions beyond the limits of the joints."""
Over = Any
"""Along what, or over what: see `states_of`."""
Motion = tuple[Array, Array, Array]
"""q, q̇ and q̈ of some states, (m, n) each."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Random states within the limits of a robot; the same ones for the same seed."""

    samples: int | None = None
    """How many; None: 2000, and fewer for more than fifteen joints."""
    speed: npt.ArrayLike | None = None
    """Largest speed, one for all joints or one each [rad/s or m/s]; None: their limits, else 1."""
    acceleration: npt.ArrayLike | None = None
    """Largest acceleration likewise [rad/s² or m/s²]; None: full speed within half a second."""
    seed: int = 0
    """Chooses them."""

    def states(self, robot: Robot) -> StateSet:
        """The states."""
        n = robot.n
        usual = max(FEWEST_SAMPLES, min(DEFAULT_SAMPLES, SAMPLED_ENTRIES // n**2))
        given = usual if self.samples is None else self.samples
        count = check_whole("samples", given, 1, MOST_SAMPLES)
        rng = np.random.default_rng(check_whole("seed", self.seed, 0))
        limits = robot.velocity_limits
        ordinary = np.where(np.isinf(limits), DEFAULT_SPEED, limits)
        speed = largest_rates("speed", self.speed, ordinary)
        acceleration = largest_rates("acceleration", self.acceleration, ACCELERATION_RATE * speed)
        q = coordinates_of(robot.model).drawn_in_ranges(rng, count)
        qd, qdd = (rng.uniform(-1.0, 1.0, (count, n)) for _ in range(2))
        for rates in (qd, qdd):
            rates[1::2] = np.where(rates[1::2] < 0, -1.0, 1.0)
        words = f"over the workspace, {counted(count, 'state')}"
        return StateSet(q, qd * speed, qdd * acceleration, np.full(count, 1 / count), words)


@dataclass(frozen=True, slots=True, eq=False)
class StateSet:
    """States of n joints, and how much each weighs in a mean."""

    q: Array
    """Positions, (m, n) [rad or m]."""
    qd: Array
    qdd: Array
    weights: Array
    """The share of each state in the time of a motion, (m,); they add up to 1."""
    words: str
    """What the states are, for reports."""
    t: Array | None = None
    """Times of a motion, (m,) [s]."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.q)

    @property
    def motion(self) -> Motion:
        """Positions, velocities and accelerations."""
        return self.q, self.qd, self.qdd

    def at(self, places: Array | slice) -> StateSet:
        """Some of the states."""
        names = ("q", "qd", "qdd", "weights") + (() if self.t is None else ("t",))
        return replace(self, **{name: getattr(self, name)[places] for name in names})

    def joined(self, others: Iterable[StateSet]) -> StateSet:
        """These states and those of other sets, as these are called; without times."""
        arrays = zip(*((*s.motion, s.weights) for s in (self, *others)), strict=True)
        q, qd, qdd, weights = map(np.concatenate, arrays)
        return StateSet(q, qd, qdd, weights, self.words)

    def parts(self, entries: int) -> Iterator[slice]:
        """The states in parts, each so small that arrays of so many numbers a state stay small."""
        rows = max(1, ENTRIES_AT_ONCE // max(1, entries))
        for start in range(0, len(self), rows):
            yield slice(start, start + rows)


ENTRIES_AT_ONCE = 1 << 20
"""Most numbers of an array that is computed for some states at once."""


def states_of(robot: Robot, over: Over, limits: OnLimits = "error") -> StateSet:
    """The states along a motion or over the workspace.

    Args:
        robot: Whose states they are.
        over: "workspace" or a `Workspace`; a trajectory file; a trajectory; anything with q, qd,
            qdd and perhaps t; or the arrays (q, qd, qdd), each (..., n).
        limits: "error", "warn" or "ignore": what to do where a motion leaves the limits.

    Raises:
        TrajectoryError: No motion, a motion of other joints, or one beyond the limits.
    """
    check_known("way to treat limits", limits, get_args(OnLimits))
    if is_workspace(over):
        return (over if isinstance(over, Workspace) else Workspace()).states(robot)
    found, beyond = _motion(robot, over), []
    t = np.arange(len(found), dtype=float) if found.t is None else found.t
    still = np.zeros_like(found.q)
    for x in () if limits == "ignore" else excesses(robot.model, t, found.q, found.qd, still):
        if x.what == "position" and x.beyond > LIMIT_ROUNDING * (1 + abs(x.limit)):
            degrees = "; degrees?" if x.looks_like_degrees else ""
            limit = f"{x.value:.4g} {x.unit} beyond its limit of {x.limit:.4g}{degrees}"
            beyond.append(f"{x.joint}: position {limit}" if found.t is None else str(x))
    if beyond:
        message = f"the motion leaves the limits of {robot.name!r}: {'; '.join(beyond)}"
        if limits == "error":
            advice = "; change the motion, or allow it with limits='warn' (--limits warn)"
            raise TrajectoryError(message + advice)
        warnings.warn(message, ArmdynWarning, stacklevel=3)
    return found


def is_workspace(over: Over) -> bool:
    """Whether random states are meant."""
    return isinstance(over, Workspace) or (isinstance(over, str) and over == "workspace")


def _motion(robot: Robot, over: Over) -> StateSet:
    given, names = _sampled(robot, over), ("q", "qd", "qdd")
    if all(hasattr(given, name) for name in names):
        arrays = [getattr(given, name) for name in names]
    elif isinstance(given, tuple | list) and len(given) == 3:
        arrays = list(given)
    else:
        raise TrajectoryError(
            "expected a motion: a trajectory file, a trajectory, the arrays (q, qd, qdd) or "
            f'"workspace", got {shown(given)}'
        )
    t, source = getattr(given, "t", None), getattr(given, "source", "")
    notes = (given.note,) if isinstance(given, SampledMotion) and given.note else ()
    checked = {k: check_joint_vector(k, v, robot.n) for k, v in zip(names, arrays, strict=True)}
    q, qd, qdd = (frozen(v.reshape(-1, robot.n)) for v in broadcast(**checked))
    m = len(q)
    t = None if t is None or np.shape(t) != (m,) else np.asarray(t, dtype=float)
    if not m:
        raise TrajectoryError("the motion has no states; give at least one")
    if not np.isfinite([q, qd, qdd]).all():
        raise TrajectoryError("the motion has numbers that are not finite; leave these states out")
    if t is not None and not (np.isfinite(t).all() and (np.diff(t) > 0).all()):
        raise TrajectoryError("the times of a motion must be finite and increase")
    weights = np.full(m, 1 / m) if t is None else SampledMotion(t, q, qd, qdd).shares
    name = f"along {Path(source).name}, " if source else "along the motion, "
    time = "" if t is None or m == 1 else f", {t[-1] - t[0]:.4g} s"
    words = f"{name}{counted(m, 'state' if t is None else 'instant')}{time}"
    return StateSet(q, qd, qdd, weights, words, t, notes)


def motion_of(robot: Robot, over: Over) -> SampledMotion:
    """A motion with times, given in any way that `states_of` knows, whatever its limits.

    Raises:
        TrajectoryError: No motion, one without times, or a motion of other joints.
    """
    given = _sampled(robot, over)
    if isinstance(given, SampledMotion) and (n := given.q.shape[-1]) != robot.n:
        raise TrajectoryError(
            f"the trajectory moves {counted(n, 'joint')}, but {robot.name!r} has {robot.n}: "
            f"{', '.join(robot.joint_names)}"
        )
    states = states_of(robot, given, "ignore")
    if states.t is None:
        raise TrajectoryError(f"expected a motion with times, got {states.words}")
    if isinstance(given, SampledMotion):
        return given
    return SampledMotion(states.t, *states.motion, source=getattr(given, "source", ""))


def _sampled(robot: Robot, over: Over) -> Any:
    """What a file has in it, or a trajectory at some instants; everything else as it is."""
    if isinstance(over, str | Path) and not is_workspace(over):
        return trajectory_from_csv(over, robot.model, base=robot.model.floating)
    if callable(over) and hasattr(over, "duration"):
        return sampled(over, over.duration / INSTANTS if over.duration else 1.0)
    return over


def largest_rates(what: str, given: npt.ArrayLike | None, default: Array) -> Array:
    """Largest speeds or accelerations, one number or one for each joint, (n,)."""
    return (
        default if given is None else check_each(what, given, len(default), ModelError, zero=True)
    )


BETWEEN = (1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8)
"""Where, between two instants of a motion, it is looked at, one round after the other."""
SEED_STEP = 1_000_003
"""How far apart the seeds of samples of one workspace are."""


def fresh_states(robot: Robot, over: Over, given: StateSet, number: int) -> StateSet:
    """Other states of the same kind: a new sample, or instants between those of a motion.

    Args:
        robot: Whose states they are.
        over: What `states_of` was given.
        given: What it returned.
        number: 0, 1, 2, ...: each gives other states.
    """
    if is_workspace(over):
        space = over if isinstance(over, Workspace) else Workspace()
        sample = replace(space, seed=space.seed + SEED_STEP * (number + 1)).states(robot)
        return replace(sample, words=f"at {counted(len(sample), 'other state')} of the workspace")
    if len(given) == 1:
        return replace(given, words="at this one state again, as there is no other")
    share = BETWEEN[number % len(BETWEEN)]
    count = len(given) - 1
    at = None
    if given.t is None:
        q, qd, qdd = ((1 - share) * v[:-1] + share * v[1:] for v in given.motion)
        words = f"at {counted(count, 'state')} between these"
    else:
        t = given.t - given.t[0]
        between = (1 - share) * t[:-1] + share * t[1:]
        q, qd, qdd = hermite(given.t, *given.motion)(between)
        words = f"at {counted(count, 'instant')} between these"
        at = given.t[0] + between
    return StateSet(q, qd, qdd, np.full(count, 1 / count), words, at)


def state_cube(
    robot: Robot, over: Over, states: StateSet
) -> tuple[Array, Callable[[Array], Motion]] | None:
    """Places of states in a unit cube, (m, k), and the motion at places of it.

    Of a workspace its sides are positions, speeds and accelerations, of a motion it is time. None
    where states are no cube: with loops, and of states without times.
    """
    if is_workspace(over):
        if robot.model.loops:
            return None
        low, high = robot.model.ranges.T
        # every other state of a sample has the largest rates
        rates = np.concatenate([np.abs(v).max(axis=0) for v in (states.qd, states.qdd)])
        start = np.append(low, -rates)
        span = np.append(high - low, 2 * rates)
        x = (np.concatenate(states.motion, axis=1) - start) / np.where(span > 0, span, 1.0)
        return x, lambda x: tuple(np.split(start + x * span, 3, axis=-1))  # type: ignore[return-value]
    if states.t is None or len(states) == 1:
        return None
    t, path = states.t - states.t[0], hermite(states.t, *states.motion)
    return (t / t[-1])[:, None], lambda x: path(x[:, 0] * t[-1])


CONFIGURATIONS = 4000
DURATION = 2.0
"""The duration of a move without limits of speed [s]."""
_RATE = 200
"""Instants of a move for each second."""


def workspace(model: RobotModel, count: int = CONFIGURATIONS) -> Array:
    """Random configurations within the limits, shape (count, n); always the same ones."""
    return coordinates_of(model).drawn_in_ranges(np.random.default_rng(5), count)


def reference_trajectory(model: RobotModel) -> SampledMotion:
    """Quintic moves from rest to rest between far corners of the workspace, all joints at once.

    From all joints at their lowest to all at their highest, then to every other one low, to the
    opposite corner and back; each move as fast as the limits of speed allow, or in two seconds.
    """
    joints = model.coordinate_joints
    low, high = model.ranges.T
    odd = np.arange(len(joints)) % 2 == 1
    corners = np.stack([low, high, np.where(odd, high, low), np.where(odd, low, high), low])
    # files say 0 where they know nothing
    speeds = np.array([joint.limits.velocity or np.inf for joint in joints])
    ways = np.abs(np.diff(corners, axis=0))
    needed = np.where(speeds < np.inf, QUINTIC_SPEED * ways / speeds, DURATION) * (ways > 0)
    ends = np.cumsum([0.0, *(T or DURATION for T in needed.max(axis=1))])
    moves = (np.linspace(a, b, max(round(_RATE * (b - a)), 50) + 1)[1:] for a, b in pairwise(ends))
    t = np.concatenate([ends[:1], *moves])
    return SampledMotion(t, *hermite(ends, corners, 0 * corners, 0 * corners)(t))
