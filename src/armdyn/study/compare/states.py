"""The states at which libraries are compared."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import ModelError, ShapeError, shown
from armdyn.io.csv.trajectory import trajectory_from_csv
from armdyn.model import RobotModel

MOST_STATES = 100_000
"""The most states that are compared; other libraries compute them one by one."""


class States(NamedTuple):
    """Positions [rad or m], velocities and accelerations of n joints, each (m, n)."""

    q: Array
    qd: Array
    qdd: Array


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
        move = trajectory_from_csv(states, model)
        return States(move.q, move.qd, move.qdd)
    if not isinstance(states, Sequence) or len(states) != 3:
        raise ModelError(
            "states: expected how many, a trajectory file, or the three arrays (q, qd, qdd) of "
            f"shape (..., {n}), got {shown(states)}"
        )
    pairs = zip(States._fields, states, strict=True)
    vectors = broadcast(**{name: check_joint_vector(name, value, n) for name, value in pairs})
    given = States(*(np.array(vector).reshape(-1, n) for vector in vectors))
    if not len(given.q):
        raise ShapeError("states: the arrays have no state in them; give at least one")
    if not np.isfinite(given).all():
        raise ModelError("states: expected finite numbers, got an infinite one or NaN")
    return given
