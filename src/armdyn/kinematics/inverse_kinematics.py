"""Inverse kinematics: what is asked for, and what is said of poses that an arm cannot take.

Joints that bring a frame to poses are found by searches from many starts: the configuration that
was given, and those of fixed random configurations whose poses are nearest to the wanted one. The
same question always has the same answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, check_names, check_whole, real
from armdyn.errors import ModelError, ShapeError, UnreachableError, check_known, counted, shown
from armdyn.formulations.cartesian import COORDINATES, default_task, task_rows
from armdyn.formulations.spatial import transpose
from armdyn.kinematics.pose_search import PoseSearch
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel

UNREACHABLE = ("error", "nan", "nearest")
"""What becomes of a pose that is not reached."""
MOST_SOLUTIONS = 64
"""Solutions of one pose that can be asked for."""
TIGHTEST = 1e-13
"""The least tolerance: a few roundings of a metre or a radian."""
FARTHEST, FARTHEST_START = 1e12, 1e6
"""Largest position of a pose [m], and of a joint at the start [rad or m]."""
AT_LIMIT = 1e-9
"""A joint so near to its limit is at it [rad or m]."""
POLISHING = 8
"""Searches that go on from the best end for a pose that is not reached yet: next to a singular
configuration every step may do no more than halve the error."""
POLISHED_GAIN = 1e-9
"""Least gain of a step in these."""
STARTS = (1, 2, 4, 16, 64, 256)
"""Starts of each trial; the next trial has only the poses that no search has reached."""
TRIALS_FOR_ONE = 5
"""Trials for one solution; the last trial is for several."""
SAMPLES = 512
"""Random configurations that starts are chosen from."""
SEARCHES_AT_ONCE = 8192
"""Searches in one array, so that it stays in the cache of the processor."""
SAME_SOLUTION = 1e-3
"""Solutions whose joints differ less are one [rad or m]."""
NEARER_STEPS = 30
"""Steps along the solutions of a redundant arm towards the one nearest to the start."""
SHORTEST_NEARER = 1e-7
"""A shorter step is the last one [rad or m]."""
TURN = 2 * np.pi


def inverse_kinematics(
    model: RobotModel,
    functions: tuple[Callable[[Array], Array], Callable[[Array], Array]],
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    task: Sequence[str] | None,
    frame: str,
    most: int | None,
    tolerance: float,
    unreachable: str,
) -> Array:
    """Joints for poses, as `armdyn.Robot.inverse_kinematics` has them.

    The functions are the place and the Jacobian of a frame at joints (B, n).
    """
    check_known("frame of a task", frame, ("world", "tool"))
    check_known("answer for poses that are not reached", unreachable, UNREACHABLE)
    names = COORDINATES if task is None else check_names("task", task)
    if not TIGHTEST <= real(tolerance) <= 1:
        raise ModelError(
            f"tolerance: expected a number from {TIGHTEST:g} to 1 [m and rad], got "
            f"{shown(tolerance)}"
        )
    count = 1 if most is None else check_whole("most", most, 1, MOST_SOLUTIONS)
    n = len(model.independent)
    flat = check_poses(T).reshape(*np.shape(T)[:-2], 16)
    start = None
    if q0 is not None:
        start = check_joint_vector("q0", q0, n)
        if not (np.abs(start) <= FARTHEST_START).all():
            raise ShapeError(
                f"q0: expected finite positions, up to {FARTHEST_START:g} rad or m, got {shown(q0)}"
            )
        flat, start = broadcast(T=flat, q0=start)
        start = start.reshape(-1, n)
    poses, batch = flat.reshape(-1, 4, 4), flat.shape[:-1]
    solver = pose_solver(model, *functions, task_rows(names), frame == "tool", float(tolerance))
    search, (found, errors) = solver.search, solver.solve(poses, start, count)
    missed = np.flatnonzero(~search.met(errors, tolerance))
    for _ in range(POLISHING):
        ends = search.descend(poses[missed], found[missed, 0], tolerance, POLISHED_GAIN)
        found[missed, 0], errors[missed] = ends
    missed = missed[~search.met(errors[missed], tolerance)]
    if missed.size and unreachable == "error":
        first = int(missed[0])
        raise _unreachable(solver, poses[missed[:1]], found[missed[:1], 0], first, batch)
    if unreachable == "nan":
        found[missed, 0] = np.nan
    return found.reshape(*batch, n) if most is None else found.reshape(*batch, count, n)


def check_poses(T: npt.ArrayLike) -> Array:
    """Rigid transforms (..., 4, 4), with rotations that are exact to rounding."""
    try:
        poses = np.asarray("" if np.ma.is_masked(T) else T).astype(float, casting="same_kind")
    except (TypeError, ValueError):
        raise ShapeError(f"T: expected numbers of shape (..., 4, 4), got {shown(T)}") from None
    if poses.shape[-2:] != (4, 4):
        raise ShapeError(f"T: expected poses of shape (..., 4, 4), got shape {poses.shape}")
    R = poses[..., :3, :3]
    with np.errstate(invalid="ignore", over="ignore"):
        stretch = np.abs(R @ transpose(R) - np.eye(3)).max((-1, -2), initial=0.0)
        row = np.abs(poses[..., 3, :] - [0, 0, 0, 1]).max(-1, initial=0.0)
        near = (np.abs(poses) <= FARTHEST).all((-1, -2))
        rigid = near & (stretch < 1e-6) & (row < 1e-9)
        rigid &= np.linalg.det(np.where(rigid[..., None, None], R, np.eye(3))) > 0
    if not rigid.all():
        at = tuple(int(i) for i in np.argwhere(~rigid)[0])
        raise ModelError(
            f"T{list(at) if at else ''}: expected a rigid transform, a rotation and a position (of "
            f"up to {FARTHEST:g} m) above the row 0 0 0 1, got {shown(poses[at].tolist())}"
        )
    rounded = stretch > 1e-12
    if rounded.any():  # the nearest rotations
        left, _, right = np.linalg.svd(R[rounded])
        poses[..., :3, :3][rounded] = left @ right
    return poses


def _unreachable(
    solver: "PoseSolver", T: Array, q: Array, number: int, batch: tuple[int, ...]
) -> UnreachableError:
    """The error for a pose (1, 4, 4) that is the number-th of a batch, and comes nearest at q."""
    model, search = solver.model, solver.search
    errors, missing = search.error(T, q), np.zeros(6)
    missing[list(search.rows)] = errors[0, list(search.rows)]
    distance = float(np.linalg.norm(missing[:3]))
    angle = float(np.linalg.norm(missing[3:]))
    index = tuple(int(i) for i in np.unravel_index(number, batch)) if batch else ()
    words = [f"{distance:.4g} m"] * (min(search.rows) < 3) + [f"{angle:.4g} rad"] * search.turns
    which = f" {', '.join(map(str, index))} of the batch" if index else ""
    message = (
        f"{model.name!r} cannot reach the pose{which}: "
        f"the nearest that was found is {' and '.join(words)} away{_at_limits(model, q[0])}. "
    )
    free = replace(solver, search=replace(search, lower=0 * q[0] - np.inf, upper=0 * q[0] + np.inf))
    _, without = free.solve(T, q, 1)
    if search.met(without, solver.tolerance)[0]:
        message += "Without joint limits it could be reached. Choose another pose or widen them"
    elif len(model.independent) < len(search.rows):
        message += (
            f"Its {counted(len(model.independent), 'joint')} cannot move "
            f"{counted(len(search.rows), 'coordinate')} at "
            f"will: name those that matter in task=, as task={default_task(coordinates_of(model))}"
        )
    else:
        message += "Choose a pose within reach, or name the coordinates that matter in task="
    message += ', or pass unreachable="nearest"'
    return UnreachableError(message, index=index, q=q[0], distance=distance, angle=angle)


def _at_limits(model: RobotModel, q: Array) -> str:
    """Words for the joints that are at their limits."""
    lower, upper = joint_limits(model).T
    ends = [
        f"{model.joints[i].name} at its {'lower' if low else 'upper'} limit {value:.4g}"
        for i, low, high, value in zip(
            model.independent, q - lower < AT_LIMIT, upper - q < AT_LIMIT, q, strict=True
        )
        if low or high
    ]
    return f", with {', '.join(ends)}" if ends else ""


@dataclass(frozen=True, slots=True, eq=False)
class PoseSolver:
    """An arm and what its poses are compared with; B is any number of poses, n that of joints."""

    model: RobotModel
    search: PoseSearch
    """The search within limits, except for joints that can be wound."""
    samples: Array
    """Random configurations within the limits, (SAMPLES, n)."""
    compared: Array
    """For each of them -2 b and |b|², where b is what is compared of its pose, (k + 1, SAMPLES)."""
    winds: Array
    """Which joints may be turned by whole turns, with the same effect and within limits, (n,)."""
    tolerance: float
    """Largest error of a solution in each coordinate [m and rad]."""

    def solve(self, T: Array, q0: Array | None, most: int) -> tuple[Array, Array]:
        """Solutions (B, most, n) for poses T (B, 4, 4), nearest to q0 first, and the errors (B, 6).

        Of a pose without any, the first is the best configuration; rows without a solution are NaN.
        """
        n = len(self.winds)
        found = np.full((len(T), most, n), np.nan)
        errors = np.empty((len(T), 6))
        middle = self.model.ranges.mean(-1)
        at_once = max(1, SEARCHES_AT_ONCE // (1 if most == 1 else sum(STARTS)))
        for first in range(0, len(T), at_once):
            part = slice(first, first + at_once)
            start = np.broadcast_to(middle, (len(T[part]), n)) if q0 is None else q0[part]
            find = self._one if most == 1 else self._several
            found[part], errors[part] = find(T[part], start, q0 is not None, most)
        return found, errors

    def _one(self, T: Array, q0: Array, given: bool, most: int) -> tuple[Array, Array]:
        q, errors = q0.copy(), np.full((len(T), 6), np.inf)
        left = np.arange(len(T))
        for trial in range(TRIALS_FOR_ONE):
            ends, ending = self._trial(T[left], q0[left], given, trial)
            nearer = self.search.cost(ending[:, 0]) < self.search.cost(errors[left])
            better = left[nearer]
            q[better], errors[better] = ends[nearer, 0], ending[nearer, 0]
            left = left[~self.search.met(errors[left], self.tolerance)]
            if not left.size:
                break
        if given:
            self._approach(T, q, errors, q0)
        return q[:, None], errors

    def _several(self, T: Array, q0: Array, given: bool, most: int) -> tuple[Array, Array]:
        trials = [self._trial(T, q0, given, trial) for trial in range(len(STARTS))]
        ends, ending = (np.concatenate(each, 1) for each in zip(*trials, strict=True))
        ends, ending = self._ordered(ends, ending, q0)
        found = np.full((len(T), most, ends.shape[-1]), np.nan)
        found[:, 0] = ends[:, 0]
        left = self.search.met(ending, self.tolerance)
        for k in range(most):
            some, pose = left.any(1), np.arange(len(T))
            next_one = ends[pose, left.argmax(1)]
            found[some, k] = next_one[some]
            way = ends - next_one[:, None]
            way = np.where(self.winds, way - TURN * np.round(way / TURN), way)
            left = left & (np.abs(way).max(-1) > SAME_SOLUTION)
        return found, ending[:, 0]

    def _trial(self, T: Array, q0: Array, given: bool, trial: int) -> tuple[Array, Array]:
        """Where the searches of a trial end, (B, k, n), and their errors (B, k, 6), best first."""
        count, (b, n) = STARTS[trial], q0.shape
        if trial == 0 and given:
            starts = q0
        else:
            starts = self.samples[self._likely(T, sum(STARTS[:trial]), count)].reshape(-1, n)
        q, errors = self.search.descend(np.repeat(T, count, axis=0), starts, self.tolerance)
        return self._ordered(
            self._wound(q.reshape(b, count, n), q0), errors.reshape(b, count, 6), q0
        )

    def _likely(self, T: Array, first: int, count: int) -> Array:
        """The samples whose poses are nearest, (B, count), without so many that are nearer."""
        wanted = pose_features(self.search, T)
        # |a - b|² without |a|², in one product of matrices
        near = np.pad(wanted, ((0, 0), (0, 1)), constant_values=1.0) @ self.compared
        if first + count == 1:
            return near.argmin(-1)[:, None]
        best = np.argpartition(near, first + count, axis=-1)[:, : first + count]
        order = np.take_along_axis(near, best, -1).argsort(-1)[:, first:]
        return np.take_along_axis(best, order, -1)

    def _ordered(self, q: Array, errors: Array, q0: Array) -> tuple[Array, Array]:
        """Ends (B, k, n) and errors (B, k, 6): solutions first, and of them the nearest to q0."""
        met = self.search.met(errors, self.tolerance)
        away = ((q - q0[:, None]) ** 2).sum(-1)
        order = np.lexsort((np.where(met, away, self.search.cost(errors)), ~met))[..., None]
        return np.take_along_axis(q, order, 1), np.take_along_axis(errors, order, 1)

    def _wound(self, q: Array, q0: Array) -> Array:
        """Ends (B, k, n) turned by whole turns to be as near to q0 as limits allow."""
        lower, upper = joint_limits(self.model).T
        turns = np.round((q0[:, None] - q) / TURN)
        turns = np.maximum(turns, np.ceil((lower - q) / TURN))
        turns = np.minimum(turns, np.floor((upper - q) / TURN))
        return np.where(self.winds, q + TURN * turns, q)

    def _approach(self, T: Array, q: Array, errors: Array, q0: Array) -> None:
        """Move solutions of a redundant arm to where they are nearest to q0."""
        lower, upper = joint_limits(self.model).T
        search = replace(self.search, lower=lower, upper=upper)
        live = np.flatnonzero(search.met(errors, self.tolerance))
        share = np.ones(len(q))
        for _ in range(NEARER_STEPS):
            way = share[live, None] * search.along(T[live], q[live], q0[live] - q[live])
            far = np.abs(way).max(-1) > SHORTEST_NEARER
            live, way = live[far], way[far]
            if not live.size:
                break
            trial, after = search.descend(T[live], q[live] + way, self.tolerance)
            before, then = (((x - q0[live]) ** 2).sum(-1) for x in (q[live], trial))
            good = search.met(after, self.tolerance) & (then < before)
            q[live[good]], errors[live[good]] = trial[good], after[good]
            share[live[~good]] /= 4


def pose_solver(
    model: RobotModel,
    forward: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    rows: tuple[int, ...],
    own_axes: bool,
    tolerance: float,
) -> PoseSolver:
    """The solver of a frame, whose place and Jacobian are functions of joints (B, n)."""
    samples = coordinates_of(model).drawn_in_ranges(np.random.default_rng(0), SAMPLES)
    poses = forward(samples)
    spread = float(np.linalg.norm(poses[:, :3, 3].std(0)))
    lower, upper = joint_limits(model).T
    winds = _whole_turns(model) & (upper - lower >= TURN * (1 - 1e-9))
    lower = np.where(winds, -np.inf, lower)
    upper = np.where(winds, np.inf, upper)
    size = spread if 0 < spread < np.inf else 1.0
    search = PoseSearch(forward, jacobian, lower, upper, rows, own_axes, size)
    b = pose_features(search, poses).T
    compared = np.concatenate([-2 * b, (b * b).sum(0, keepdims=True)])
    return PoseSolver(model, search, samples, compared, winds, tolerance)


def pose_features(search: PoseSearch, T: Array) -> Array:
    """Numbers of poses (B, 4, 4) that differ little if the poses do, (B, k)."""
    rows = [i for i in range(3) if i in search.rows or search.own_axes]
    place = T[:, rows, 3] / search.size
    return np.concatenate([place, T[:, :3, :3].reshape(-1, 9)], 1) if search.turns else place


def joint_limits(model: RobotModel) -> Array:
    """Lowest and highest position of each coordinate, (n, 2); infinite where there is no limit."""
    limits = [joint.limits for joint in model.coordinate_joints]
    return np.sort([(limit.lower, limit.upper) for limit in limits], axis=-1)


def _whole_turns(model: RobotModel) -> Array:
    """Which coordinates bring every joint that they move to the same place after a turn, (n,)."""
    at = coordinates_of(model)
    if not at.is_linear:  # passive joints come back with the actuated ones
        return np.array([joint.type.turns for joint in model.coordinate_joints])
    K = at.columns(np.eye(len(model.joints)))
    turns = K * np.array([joint.type.turn for joint in model.joints])[:, None]
    slides = np.array([joint.type.slides for joint in model.joints])[:, None] & (K != 0)
    return (~slides & (turns == np.round(turns))).all(0)
