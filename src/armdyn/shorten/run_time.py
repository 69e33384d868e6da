"""Numbers of a robot that are known at run time only: a payload, the field of gravity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_constant, check_number, frozen
from armdyn.errors import ModelError, shown
from armdyn.formulations.regressor import body_of, ten_parameters
from armdyn.model import Body, Inertia, Link, RobotModel
from armdyn.model.edit import payload_link
from armdyn.shorten.canonical.frames import CanonicalRobot, canonical, cos_sin


def payload_vector(
    mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None
) -> Array:
    """The ten parameters of a payload from mass, centre of mass and tensor about it, tool axes.

    They are m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, the tensor about the tool's origin.
    """
    mass = check_number("mass of the payload", mass)
    if mass < 0:
        raise ModelError(f"the mass of a payload cannot be negative, got {shown(mass)}")
    about_com = check_constant("inertia", np.zeros((3, 3)) if inertia is None else inertia, (3, 3))
    body = Inertia.from_com(mass, check_constant("com", com, (3,)), about_com)
    return ten_parameters(body)


def loaded(model: RobotModel, robot: CanonicalRobot, payload: Array) -> CanonicalRobot:
    """The robot with a payload of ten symbols on the link that carries the tool.

    Frames do not depend on inertias, and J, u and M are linear in them: each parameter adds what a
    link that has this parameter alone, at the tool, has in the frame of the robot.
    """
    at = payload_link(model)
    link = robot.links[at]
    J = np.array(link.J, dtype=object)
    u = np.array(link.u, dtype=object)
    M = link.M
    bodies = list(model.links)
    for symbol, unit in zip(payload, np.eye(10), strict=True):
        bodies[at] = Link(link.name, (Body("payload", body_of(unit), model.tool_frame.placement),))
        alone = canonical(replace(model, links=tuple(bodies))).links[at]
        J = J + symbol * alone.J
        u = u + symbol * alone.u
        M = M + symbol * alone.M
    links = list(robot.links)
    links[at] = replace(link, J=frozen(J), u=frozen(u), M=M)
    return replace(robot, links=tuple(links))


def weighed(model: RobotModel, robot: CanonicalRobot, gravity: Array) -> CanonicalRobot:
    """The robot in a field of gravity of three symbols, world axes.

    The field before the motion of a base joint is linear in the one of the world: a unit field in
    each direction gives a column. Where such a field had turned the frame by θ, it is turned back.
    """
    links = list(weightless(robot).links)
    for symbol, unit in zip(gravity, np.eye(3), strict=True):
        alone = canonical(replace(model, gravity=frozen(unit)))
        for i, link in enumerate(alone.links):
            if link.parent >= 0:
                continue
            c, s = cos_sin(link.theta)
            x, y, z = link.gravity
            turned = np.array([c * x + s * y, c * y - s * x, z])
            field = np.array(links[i].gravity, dtype=object) + symbol * turned
            links[i] = replace(links[i], gravity=frozen(field))
    return replace(robot, links=tuple(links))


def weightless(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot without gravity."""
    none = frozen(np.zeros(3))
    return replace(robot, links=tuple(replace(link, gravity=none) for link in robot.links))


def payload_in_link(model: RobotModel, payload: Array) -> Array:
    """The ten parameters of a payload in the frame of the link that carries the tool.

    They are linear in those in tool axes: each unit of these is a column.
    """
    payload_link(model)  # if there is one
    moved = [body_of(unit).moved(model.tool_frame.placement) for unit in np.eye(10)]
    return np.stack([ten_parameters(body) for body in moved], -1) @ payload
