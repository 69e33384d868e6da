"""Where an arm goes that is pulled: by its tool, or by a link that turns about its joint."""

import numpy as np

from armdyn.arrays import Array
from armdyn.kinematics.pose_search import PoseSearch
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.studio import shapes

PULL_TOLERANCE = 1e-5
"""How near a tool comes to a handle that it can reach [m and rad]."""
LEAST_GAIN = 1e-6
"""A pull ends with a step that gains less, relative to what is missing."""
SMALLEST_LEVER = 0.02
"""A link is not turned by a point nearer to its axis, relative to the size of the arm."""
LARGEST_TURN = 0.5
"""How far a joint is turned by one pull [rad]."""


def follow(robot: Robot, T: Array, q: Array) -> tuple[Array, bool]:
    """Positions near q, (n,), that bring the tool as near to T as it gets, and whether it is there.

    An arm with fewer than six joints follows the place of T alone.
    """
    low, high = robot.model.ranges.T
    rows = (0, 1, 2, 3, 4, 5) if robot.n >= 6 else (0, 1, 2)
    search = PoseSearch(
        robot.forward_kinematics, robot.jacobian, low, high, rows, size=shapes.size(robot.model)
    )
    found, error = search.descend(
        T[None], np.array(q, dtype=float)[None], PULL_TOLERANCE, LEAST_GAIN
    )
    return found[0], bool(search.met(error, 10 * PULL_TOLERANCE)[0])


def coordinate(model: RobotModel, link: int) -> int | None:
    """The coordinate that moves a link, from 0: that of its joint, or of the next below it."""
    while link >= 0:
        if link in model.independent:
            return list(model.independent).index(link)
        link = model.joints[link].parent
    return None


def turned(
    model: RobotModel, link: int, T: Array, grabbed: Array, wanted: Array, q: Array
) -> Array:
    """Positions (n,) in which a point of a link has gone towards another, by its joint alone.

    T is the link in the world, (4, 4); the points are in the world, (3,) [m].
    """
    k = coordinate(model, link)
    if k is None:
        return q
    joint = model.joints[model.independent[k]]
    axis = T[:3, :3] @ model.joints[link].axis
    if joint.type.turns:
        lever = np.cross(axis, grabbed - T[:3, 3])
        if np.linalg.norm(lever) < SMALLEST_LEVER * shapes.size(model):
            return q
        way = float(lever @ (wanted - grabbed) / (lever @ lever))
        way = float(np.clip(way, -LARGEST_TURN, LARGEST_TURN))
    else:
        way = float(axis @ (wanted - grabbed))
    low, high = model.ranges[k]
    moved = np.array(q, dtype=float)
    moved[k] = np.clip(moved[k] + way, low, high)
    return moved
