"""Numbers of a robot that are known at run time only: a payload, gravity, those of a design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_constant, check_number, frozen
from armdyn.errors import ModelError, shown
from armdyn.formulations.regressor import body_of, ten_parameters
from armdyn.model import Body, Inertia, Link, RobotModel
from armdyn.model.edit import payload_link
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot, canonical, cos_sin
from armdyn.shorten.canonical.parameters import ENTRIES, LENGTHS, about_com, link_numbers


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


def designed(
    robot: CanonicalRobot, numbers: CanonicalRobot, design: Mapping[str, Any]
) -> CanonicalRobot:
    """The robot of symbols with others for the numbers of a design, which are named."""
    links = zip(robot.links, numbers.links, link_numbers(robot), strict=True)
    changed = (_designed_link(*link, i, design) for i, link in enumerate(links, start=1))
    return replace(robot, links=tuple(changed))


def _designed_link(
    link: CanonicalLink, numbers: CanonicalLink, up: str, i: int, design: Mapping[str, Any]
) -> CanonicalLink:
    lengths = zip(LENGTHS, link.across, strict=True)
    across = np.array([design.get(name + up, value) for name, value in lengths], dtype=object)
    link = replace(link, across=frozen(across), r=design.get(f"d{i}", link.r))
    own = {f"{name}{i}" for name in ("m", *"xyz", *(f"I{entry}" for entry, _, _ in ENTRIES))}
    if not own & design.keys():
        return link
    mass, com, tensor = about_com(numbers.J, numbers.u, numbers.M)
    m = design.get(f"m{i}", mass)
    c = np.array(
        [design.get(f"{x}{i}", at) for x, at in zip("xyz", com, strict=True)], dtype=object
    )
    about = np.array(tensor, dtype=object)
    for name, a, b in ENTRIES:
        about[a, b] = about[b, a] = design.get(f"I{name}{i}", about[a, b])
    # the second moment about the centre of mass is half the trace less the tensor
    half = 0.5 * (about[0, 0] + about[1, 1] + about[2, 2])
    second = half * np.eye(3) - about + m * np.outer(c, c)
    return replace(link, M=m, u=frozen(m * c), J=frozen(second))


def heavier(robot: CanonicalRobot, factor: float) -> CanonicalRobot:
    """The robot with all inertias multiplied by a number."""
    links = (replace(x, J=factor * x.J, u=factor * x.u, M=factor * x.M) for x in robot.links)
    return replace(robot, links=tuple(links))


def payload_in_link(model: RobotModel, payload: Array) -> Array:
    """The ten parameters of a payload in the frame of the link that carries the tool.

    They are linear in those in tool axes: each unit of these is a column.
    """
    payload_link(model)  # if there is one
    moved = [body_of(unit).moved(model.tool_frame.placement) for unit in np.eye(10)]
    return np.stack([ten_parameters(body) for body in moved], -1) @ payload
