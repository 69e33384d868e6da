"""Joints that bring a frame of an arm to poses, by searches from many starts.

The starts are the configuration that was given, and those of fixed random configurations whose
poses are nearest to the wanted one: the same question always has the same answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.kinematics.pose_search import PoseSearch
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel

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
