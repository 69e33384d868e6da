"""What each motor is asked for at most: a state that reaches it, and a bound over all states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.bounds.polynomials import U
from armdyn.bounds.rows import Row, StateLimits, torque_rows
from armdyn.bounds.search import STARTS, Attained, Search, Tree, climbed, evenly
from armdyn.errors import ModelError
from armdyn.model import RobotModel, edit
from armdyn.model.friction import STRIBECK
from armdyn.robot import Robot

DEFAULT_GAP = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Proved:
    """A row whose torque is nowhere above a threshold, and the boxes that show it."""

    row: Row
    limits: StateLimits
    low: Array
    """The positions that are covered, of the joints that matter."""
    high: Array
    friction: tuple[float, float]
    threshold: float
    tree: Tree
    reached: Attained
    speeds: tuple[tuple[int, int], ...]
    """The speeds that matter, and with how many tangents the square of each, see `Support`."""


@dataclass(frozen=True, slots=True, eq=False)
class MotorBound:
    """The largest torque of a motor."""

    lower: float
    """±torque that the state reaches [N m or N]."""
    upper: float
    """No state asks for more; infinite where nothing was proved [N m or N]."""
    q: Array
    """Positions of the state, (n,)."""
    qd: Array
    qdd: Array
    lift: int
    """Which of the lifts is held there."""
    boxes: int
    proofs: tuple[Proved, ...] = ()
    """One for each lift."""
    states: int = 0
    """How many were evaluated, beside those of proofs."""
    power: tuple[float, float] = (0.0, np.inf)
    """±power τ q̇ that is reached, and that no state exceeds: the bound times the largest speed."""

    @property
    def gap(self) -> float:
        """How far the bound is above what is reached, relative to it."""
        if self.lower == self.upper:
            return 0.0
        return self.upper / self.lower - 1 if self.lower else np.inf


class MotorBounds:
    """Bounds for the motors of a robot, one after the other.

    Raises:
        ModelError: Torques are no polynomials of sines, cosines and slides.
    """

    def __init__(
        self,
        robot: Robot,
        limits: StateLimits,
        lifts: Sequence[float] = (0.0,),
        friction: bool = True,
    ):
        """Make the rows of all motors.

        Args:
            robot: The robot; none with loops.
            limits: Between what its states are.
            lifts: Point masses at the tool that it may lift beside what it holds [kg]; torques are
                linear in such a mass, so the lightest and the heaviest are enough.
            friction: Whether joint friction is in the torques.
        """
        self.robot, self.limits, self.lifts = robot, limits, tuple(lifts)
        model = robot.model
        held = [edit.with_payload(model, mass, add=True) if mass else model for mass in lifts]
        self.rows = [torque_rows(each, limits) for each in held]
        self.friction = friction_bounds(model, limits.rates) if friction else [(0.0, 0.0)] * robot.n
        self._kernel = robot.kernel("inverse_dynamics", payload=True, friction=friction)

    @property
    def quick(self) -> bool:
        """Whether few joints matter, so that proofs take tenths of a second."""
        return max(len(row.joints) for rows in self.rows for row in rows) <= QUICK_JOINTS

    def bound(
        self,
        i: int,
        prove: bool = True,
        gap: float = DEFAULT_GAP,
        in_time: Sequence[bool] = (True,),
    ) -> MotorBound:
        """The bound of a motor; the state alone without a proof.

        As soon as `in_time` is empty, which may happen meanwhile, larger gaps are enough.
        """
        searches = [Search(rows[i], self.limits, self.friction[i], gap) for rows in self.rows]
        proofs, upper = [], np.inf
        if prove:
            least = max(search.reached.value for search in searches)
            for search in searches:
                threshold, tree = search.proved(least, in_time)
                least = max(least, search.reached.value)
                proofs.append(self._proof(search, i, threshold, tree))
            upper = max(proof.threshold for proof in proofs)
        reached = [self._state(i, k, search) for k, search in enumerate(searches)]
        lower, lift, q, qd, qdd, _ = max(reached, key=lambda state: state[0])
        most = upper * float(self.limits.rates[i]) if prove else np.inf
        power = max(state[-1] for state in reached), most * (1 + 2 * U)
        boxes = sum(search.boxes for search in searches)
        states = sum(search.states for search in searches)
        return MotorBound(lower, upper, q, qd, qdd, lift, boxes, tuple(proofs), states, power)

    def _proof(self, search: Search, i: int, threshold: float, tree: Tree) -> Proved:
        ends, support = (search.low, search.high), search.support
        speeds = tuple(zip(support.speeds, support.tangents, strict=True))
        return Proved(
            search.row,
            self.limits,
            *ends,
            self.friction[i],
            threshold,
            tree,
            search.reached,
            speeds,
        )

    def _state(
        self, i: int, lift: int, search: Search
    ) -> tuple[float, int, Array, Array, Array, float]:
        """The torque, the state of what a search reached, and a power, by the kernel."""
        limits, place = self.limits, search.reached
        q = 0.5 * limits.low + 0.5 * limits.high
        row = search.row
        for j, slides, x in zip(row.joints, row.slides, place.q.tolist(), strict=True):
            middle, half = limits.stroke(j) if slides else (0.0, 1.0)
            q[j] = min(max(middle + half * x, limits.low[j]), limits.high[j])
        qd = place.speeds * limits.rates
        fast = qd.copy()
        fast[i] = limits.rates[i]
        ways = np.array([qd, -qd, fast, -fast])  # friction tells them apart
        bends = place.sign * search.pushes(place.q) * limits.bends
        found = np.abs(self._kernel(q, ways, bends, self.robot.payload_vector(self.lifts[lift])))
        best, power = int(np.argmax(found[:2, i])), float((found * np.abs(ways))[:, i].max())
        return float(found[best, i]), lift, q, ways[best] + 0.0, bends + 0.0, power


QUICK_JOINTS = 4
"""Most joints that matter for a motor, where proofs are made without being asked for."""
Progress = Callable[[int, int], None]
"""Called with the motors that are done, and all."""


def motor_bounds(
    robot: Robot,
    limits: StateLimits,
    lifts: Sequence[float],
    *,
    friction: bool,
    prove: bool | None,
    gap: float,
    progress: Progress | None,
) -> tuple[list[MotorBound], str]:
    """The bounds of all motors, and why nothing is proved of them if that cannot be.

    As `MotorBounds`; with `prove` None where that is quick. Ctrl-C makes do with larger gaps.

    Raises:
        ModelError: Nothing can be proved, but `prove` asks for it.
    """
    reason, found, in_time = "", [], [True]
    try:
        bounds = MotorBounds(robot, limits, lifts, friction)
    except ModelError as error:
        if prove:
            raise
        reason = str(error)
        states = _States(robot, limits, lifts, friction)
    for i in range(robot.n):
        if reason:
            found.append(states.climb(i))
        else:
            asked = bounds.quick if prove is None else prove
            try:
                found.append(bounds.bound(i, asked, gap, in_time))
            except KeyboardInterrupt:
                in_time.clear()
                found.append(bounds.bound(i, asked, gap, in_time))
        if progress is not None:
            progress(i + 1, robot.n)
    return found, reason


class _States:
    """Where nothing is proved: states that fill the limits evenly, and climbs from the best."""

    def __init__(self, robot: Robot, limits: StateLimits, lifts: Sequence[float], friction: bool):
        self._low = np.concatenate([limits.low, -limits.rates, -limits.bends])
        self._high = np.concatenate([limits.high, limits.rates, limits.bends])
        self._held = np.array([robot.payload_vector(mass) for mass in lifts])
        self._kernel = robot.kernel("inverse_dynamics", payload=True, friction=friction)
        self._first = evenly(3 * robot.n)
        # every other state moves as fast as is allowed
        self._first[::2, robot.n :] = self._first[::2, robot.n :] > 0.5
        self._states = 0

    def _state(self, x: Array) -> list[Array]:
        return np.split(self._low + x * (self._high - self._low), 3, axis=-1)

    def _torques(self, x: Array) -> Array:
        """Torques (lifts, m, n) of places (m, 3 n) in the unit cube."""
        self._states += len(x) * len(self._held)
        found = self._kernel(*self._state(x), self._held[:, None, :])
        return np.abs(np.nan_to_num(np.asarray(found), nan=0.0))

    def climb(self, i: int) -> MotorBound:
        """The largest torque of a motor that is found."""
        self._states = 0
        sizes = self._torques(self._first)[..., i].max(axis=0)
        start = self._first[np.argsort(-sizes, kind="stable")[:STARTS]]
        x = climbed(lambda x: self._torques(x)[..., i].max(axis=0), start)
        torques = self._torques(x[None])[:, 0, i]
        lift = int(torques.argmax())
        states = self._states
        q, qd, qdd = self._state(x)
        return MotorBound(float(torques[lift]), np.inf, q, qd, qdd, lift, 0, (), states)


def friction_bounds(model: RobotModel, rates: Array) -> list[tuple[float, float]]:
    """The most that friction adds to the torque of each coordinate, and to its opposite.

    All terms but Stribeck's grow with the speed, and that is no more than its level.

    Raises:
        ModelError: Friction depends on the speeds of other coordinates.
    """
    others = [joint for joint in model.joints if joint not in model.coordinate_joints]
    laws = [joint.friction for joint in others] + [drive.friction for drive in model.drives]
    if not all(law.is_zero for law in laws):
        raise ModelError(
            f"{model.name!r} has friction in shared drives or joints that follow others, whose "
            "bound is not proved; leave friction out with friction=False"
        )
    found = []
    for joint, rate in zip(model.coordinate_joints, rates.tolist(), strict=True):
        law = joint.friction
        grows = law.without(STRIBECK)
        ends = [float(grows.torque(s * rate, s if rate else 0.0)) for s in (1.0, -1.0)]
        more = float(law.stribeck) if rate else 0.0
        up, down = max(ends) + more, -min(ends) + more
        found.append((up + 64 * U * abs(up), down + 64 * U * abs(down)))
    return found
