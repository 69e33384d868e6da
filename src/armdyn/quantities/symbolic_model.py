"""A robot whose numbers are parameters of a graph, in the form that every formulation takes."""

from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.canonical.frames import CanonicalLink, CanonicalRobot, cos_sin, twist
from armdyn.expr.graph import Node
from armdyn.model import Body, Frame, Inertia, Joint, Link, RobotModel
from armdyn.model.transform import IDENTITY


def branches(robot: CanonicalRobot) -> list[CanonicalRobot]:
    """The robot cut at the base: one robot for each joint that stands on it."""
    roots: list[int] = []
    for i, link in enumerate(robot.links):
        roots.append(i if link.parent < 0 else roots[link.parent])
    parts = []
    for root in sorted(set(roots)):
        members = [i for i, r in enumerate(roots) if r == root]
        place = {i: k for k, i in enumerate(members)} | {-1: -1}
        links = tuple(replace(robot.links[i], parent=place[robot.links[i].parent]) for i in members)
        parts.append(replace(robot, links=links))
    return parts


def model_from_canonical(robot: CanonicalRobot) -> RobotModel:
    """A RobotModel on one base joint, whose entries are numbers or nodes."""
    joints = tuple(
        Joint(
            link.name,
            link.type,
            link.parent,
            _placement(link),
            frozen([0.0, 0.0, float(link.sign)]),
        )
        for link in robot.links
    )
    links = tuple(
        Link(j.name, (Body(j.name, _inertia(link), IDENTITY),))
        for j, link in zip(joints, robot.links, strict=True)
    )
    return RobotModel(
        robot.name,
        joints,
        links,
        base_link=Link("base", ()),
        flange=Frame("tip", len(links) - 1),
        gravity=_clean(robot.links[0].gravity),
    )


def _placement(link: CanonicalLink) -> Array:
    """T(across) Rz(γ) Rx(α) Rz(θ) Tz(r), shape (4, 4)."""
    R = twist(link)
    c, s = cos_sin(link.theta)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], dtype=object)
    T = np.zeros((4, 4), dtype=object)
    T[3, 3] = 1.0
    T[:3, :3] = np.array(R, dtype=object) @ turn
    T[:3, 3] = link.across + link.r * np.array(R[:, 2], dtype=object)
    return _clean(T)


def _inertia(link: CanonicalLink) -> Inertia:
    J = np.array(link.J, dtype=object)
    moment = (J[0, 0] + J[1, 1] + J[2, 2]) * np.eye(3) - J
    return Inertia(_number(link.M), _clean(link.u), _clean(moment), "origin")


def _clean(values: Array) -> Array:
    """An object array in which nodes that are numbers are plain numbers."""
    result = np.empty(np.shape(values), dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = _number(values[place])
    result.setflags(write=False)
    return result


def _number(value: Any) -> Any:
    return float(value.value) if isinstance(value, Node) and value.op == "number" else value
