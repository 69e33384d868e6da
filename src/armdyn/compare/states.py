"""The states at which libraries are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import ModelError, ShapeError
from armdyn.formulations.coupling import Coordinates
from armdyn.io.csv.trajectory import trajectory_from_csv
from armdyn.model import RobotModel

MOST_STATES = 100_000
"""The most states that are compared; other libraries compute them one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Motions of a robot, each (m, n)."""

    q: Array
    """Positions of the joints that follow no other [rad or m]."""
    qd: Array
    """Their velocities."""
    qdd: Array
    """Their accelerations."""

    def __len__(self) -> int:
        return len(self.q)

    def __add__(self, more: "States") -> "States":
        """Those states and then these."""
        pairs = ((self.q, more.q), (self.qd, more.qd), (self.qdd, more.qdd))
        return States(*(np.concatenate(pair) for pair in pairs))

    def ordered(self, columns: list[int]) -> "States":
        """The same motions with the joints in another order."""
        return States(self.q[:, columns], self.qd[:, columns], self.qdd[:, columns])

    def of_all_joints(self, at: Coordinates) -> "States":
        """The same motions of all N moving joints, those that follow another one included."""
        return States(at.positions(self.q), at.rates(self.qd), at.rates(self.qdd))


def random_states(model: RobotModel, count: int, seed: int) -> States:
    """Motions within the limits of the robot, the same for the same seed."""
    rng = np.random.default_rng(seed)
    joints = [model.joints[i] for i in model.independent]
    shape = count, len(joints)
    lower, upper = model.ranges.T
    speed = np.array([min(j.type.speed, j.limits.velocity or j.type.speed) for j in joints])
    push = np.array([joint.type.acceleration for joint in joints])
    # no slower than a quarter of the speed, so that dry friction has a sign
    direction = rng.choice((-1.0, 1.0), shape)
    return States(
        rng.uniform(lower, upper, shape),
        direction * speed * rng.uniform(0.25, 1.0, shape),
        rng.uniform(-push, push, shape),
    )


def check_states(
    model: RobotModel, states: int | str | Path | Sequence[npt.ArrayLike], seed: int
) -> States:
    """The states: a number of random ones, those of a trajectory file, or (q, qd, qdd)."""
    if isinstance(states, int) and not isinstance(states, bool):
        if not 1 <= states <= MOST_STATES:
            raise ModelError(f"states: expected a number from 1 to {MOST_STATES}, got {states}")
        return random_states(model, states, seed)
    n = len(model.independent)
    if isinstance(states, str | Path):
        move = trajectory_from_csv(states, n)
        return States(move.q, move.qd, move.qdd)
    if not isinstance(states, Sequence) or len(states) != 3:
        raise ModelError(
            "states: expected how many, a trajectory file, or the three arrays (q, qd, qdd) of "
            f"shape (..., {n}), got {states!r}"
        )
    pairs = zip(("q", "qd", "qdd"), states, strict=True)
    vectors = {name: check_joint_vector(name, value, n) for name, value in pairs}
    q, qd, qdd = (np.array(v).reshape(-1, n) for v in broadcast(**vectors))
    if not len(q):
        raise ShapeError("states: the arrays have no state in them; give at least one")
    if not all(np.isfinite(v).all() for v in (q, qd, qdd)):
        raise ModelError("states: expected finite numbers, got an infinite one or NaN")
    return States(q, qd, qdd)
