"""A robot in canonical frames as the RobotModel that every formulation takes, and its torques."""

from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.augmented_body import augmented_body
from armdyn.graph.nodes import Node
from armdyn.model import Body, Frame, Inertia, Joint, Link, RobotModel
from armdyn.model.transform import IDENTITY, rotation_z
from armdyn.shorten.canonical.robot import CanonicalLink, CanonicalRobot, cos_sin, twist


def members_of_branches(robot: CanonicalRobot) -> list[list[int]]:
    """For each joint that stands on the base the links that it carries, its own first."""
    roots = [path[0] for path in robot.paths]
    return [[i for i, r in enumerate(roots) if r == root] for root in sorted(set(roots))]


def branches(robot: CanonicalRobot) -> list[CanonicalRobot]:
    """The robot cut at the base: one robot for each joint that stands on it."""
    parts = []
    for members in members_of_branches(robot):
        place = {i: k for k, i in enumerate(members)} | {-1: -1}
        links = tuple(replace(robot.links[i], parent=place[robot.links[i].parent]) for i in members)
        parts.append(replace(robot, links=links))
    return parts


def model_from_canonical(robot: CanonicalRobot, dtype: type = object) -> RobotModel:
    """A RobotModel on one base joint, whose entries are numbers or, as objects, nodes."""

    def clean(values: Array) -> Array:
        """An array in which nodes that are numbers are plain numbers."""
        plain = [_number(value) for value in np.ravel(values)]
        return frozen(np.array(plain, dtype=dtype).reshape(np.shape(values)))

    def inertia(link: CanonicalLink) -> Inertia:
        J = np.array(link.J, dtype=object)
        moment = (J[0, 0] + J[1, 1] + J[2, 2]) * np.eye(3) - J
        return Inertia(_number(link.M), clean(link.u), clean(moment), "origin")

    return RobotModel(
        robot.name,
        tuple(
            Joint(
                link.name,
                link.type,
                link.parent,
                clean(_placement(link)),
                frozen([0.0, 0.0, float(link.sign)]),
            )
            for link in robot.links
        ),
        tuple(Link(link.name, (Body(link.name, inertia(link), IDENTITY),)) for link in robot.links),
        base_link=Link("base", ()),
        flange=Frame("tip", len(robot.links) - 1),
        gravity=clean(robot.links[0].gravity),
    )


def _placement(link: CanonicalLink) -> Array:
    """T(across) Rz(γ) Rx(α) Rz(θ) Tz(r), shape (4, 4)."""
    R = np.array(twist(link), dtype=object)
    c, s = cos_sin(link.theta)
    T = np.array(np.eye(4), dtype=object)
    T[:3, :3] = R @ rotation_z(c, s)
    T[:3, 3] = link.across + link.r * R[:, 2]
    return T


def _number(value: Any) -> Any:
    return float(value.value) if isinstance(value, Node) and value.op == "number" else value


COMPARED_STATES = 200
"""Random states that a difference is measured over."""

_TORQUE_NOISE = 256 * np.finfo(float).eps
"""A difference this small, relative to the largest torque of the robot, is rounding."""


def torque_difference(
    model: RobotModel, robot: CanonicalRobot, states: int = COMPARED_STATES
) -> float:
    """How far the torques of a robot in canonical frames are from those of the robot itself.

    The largest difference, relative to the largest torque of the same joint, without rotors and
    friction. It is measured over random states (seeded), not bounded: a joint with a small load on
    a long arm can move by far more than what was taken for zero.
    """
    rng = np.random.default_rng(0)
    shape = (states, len(robot.links))
    q, qd, qdd = (rng.uniform(-limit, limit, size=shape) for limit in (np.pi, 2.0, 2.0))
    expected = augmented_body(model, q, qd, qdd).tau
    found = np.empty(shape)
    for members, part in zip(members_of_branches(robot), branches(robot), strict=True):
        motion = q[:, members], qd[:, members], qdd[:, members]
        found[:, members] = augmented_body(model_from_canonical(part, float), *motion).tau
    moved = np.abs(found - expected).max(axis=0)
    largest = np.abs(expected).max(axis=0)
    seen = moved > _TORQUE_NOISE * largest.max()
    return float(np.max(moved[seen] / np.maximum(largest[seen], 1e-300), initial=0.0))
