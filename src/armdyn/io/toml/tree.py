"""The tree form of a robot file: links with their parts, and the joints between them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from armdyn.arrays import frozen
from armdyn.errors import ModelError, shown
from armdyn.io.dh import MAGNITUDES
from armdyn.io.keys import FRICTION_KEYS, friction_from_keys
from armdyn.io.shapes import ShapeReader
from armdyn.io.toml.table import PLACEMENT, Table
from armdyn.model import Body, Frame, Inertia, Limits, Link, Mimic, RobotModel, Rotor
from armdyn.model.assemble import Connection, assemble
from armdyn.model.joint_types import DESCRIBED_TYPES, described_type

INERTIA_AXES = ("inertia_rpy", "inertia_rotation")
NUMBERS = ("com", "first_moment", "inertia", "inertia_about", *INERTIA_AXES)
INERTIA = ("mass", "shape", *NUMBERS)
LINK = ("name", "body", "frame", *INERTIA)
BODY = ("name", "payload", *PLACEMENT, *INERTIA)
LIMITS = ("limits", "lower", "upper", *MAGNITUDES)
DRIVE = ("rotor_inertia", "gear_ratio", "mimic", "actuated")
ENDS = ("name", "type", "pitch", "parent", "child", *PLACEMENT, "axis")
JOINT = (*ENDS, *LIMITS, *FRICTION_KEYS, *DRIVE)


def tree_model(
    top: Table, shapes: ShapeReader, *, tool: npt.ArrayLike, **common: Any
) -> RobotModel:
    """The robot of a file with [[link]] and [[joint]] tables; `common` goes to `assemble`."""
    links, frames = {}, {}
    for t in top.tables("link"):
        name = t.text("name")
        if name in links:
            raise t.error("the name is taken; give each link its own")
        t.check_keys(LINK)
        links[name] = _link(t, name, shapes)
        frames[name] = _frames(t, links[name])
    model = assemble(
        links={name: Inertia.zero() for name in links},
        connections=[_connection(t) for t in top.tables("joint")],
        tool_transform=tool,
        **common,
    )
    return _furnished(model, links, frames, top)


def _link(t: Table, name: str, shapes: ShapeReader) -> Link:
    bodies = []
    parts = t.tables("body")
    if not parts or any(key in t.data for key in INERTIA):
        bodies.append(Body(name, _inertia(t, shapes)))
    for part in parts:
        part.check_keys(BODY)
        inertia, place = _inertia(part, shapes), frozen(part.placement())
        bodies.append(Body(part.text("name"), inertia, place, part.flag("payload")))
    return Link(name, tuple(bodies))


def _frames(t: Table, link: Link) -> list[Frame]:
    """The named places of a link; their index is set when the robot is complete."""
    frames = [Frame(b.name, -1, b.placement) for b in link.bodies if not b.payload]
    for part in t.tables("frame"):
        part.check_keys(("name", *PLACEMENT))
        frames.append(Frame(part.text("name"), -1, frozen(part.placement())))
    if link.name not in [frame.name for frame in frames]:
        frames.insert(0, Frame(link.name, -1))
    return frames


def _inertia(t: Table, shapes: ShapeReader) -> Inertia:
    if "shape" in t.data:
        for key in NUMBERS:
            if key in t.data:
                raise t.error(f"give shape or {key}, not both")
        return shapes.inertia(
            t.where, t.data["shape"], t.number("mass") if "mass" in t.data else None
        )
    total, tensor = t.number("mass", 0.0), t.tensor("inertia")
    about = t.text("inertia_about", "com")
    if about not in ("com", "origin"):
        raise t.error(f"inertia_about: expected 'com' or 'origin', got {shown(about)}")
    if "com" in t.data and "first_moment" in t.data:
        raise t.error("give com or first_moment, not both")
    if "first_moment" in t.data and about != "origin":
        raise t.error("first_moment goes with inertia_about = 'origin'; give com instead")
    com, axes = t.array("com", (3,), (0.0, 0.0, 0.0)), t.rotation("inertia_")
    if about == "com":
        return Inertia.from_com(total, com, tensor, axes)
    moment = t.array("first_moment", (3,), total * com)
    given = Inertia.from_origin(total, moment, axes @ tensor @ axes.T)
    return replace(given, given_axes=frozen(axes))


def _connection(t: Table) -> Connection:
    t.check_keys(JOINT)
    name, kind = t.text("name"), t.text("type")
    if kind not in DESCRIBED_TYPES:
        *most, last = map(repr, DESCRIBED_TYPES)
        raise t.error(f"type: expected {', '.join(most)} or {last}, got {shown(kind)}")
    try:
        moved = described_type(kind, t.number("pitch") if "pitch" in t.data else None)
    except ModelError as fault:
        raise t.error(str(fault)) from fault
    numbers = {key: t.number_or_array(key, (2,)) for key in FRICTION_KEYS if key in t.data}
    return Connection(
        name,
        moved,
        t.text("parent"),
        t.text("child"),
        frozen(t.placement()),
        t.array("axis", (3,), (0.0, 0.0, 1.0)),
        _limits(t),
        friction_from_keys(t.where, numbers),
        Rotor(t.number("rotor_inertia", 0.0), t.number("gear_ratio", 1.0)),
        _mimic(t.table("mimic")),
    )


def _limits(t: Table) -> Limits:
    if "limits" in t.data and ("lower" in t.data or "upper" in t.data):
        raise t.error("give limits, or lower and upper, not both")
    lower, upper = t.array(
        "limits", (2,), (t.number("lower", -math.inf), t.number("upper", math.inf))
    )
    if lower > upper:
        raise t.error(f"the lower limit {lower:g} is above the upper limit {upper:g}")
    magnitudes = [t.number(key, math.inf) for key in MAGNITUDES]
    if min(magnitudes) < 0:
        raise t.error(f"{' and '.join(MAGNITUDES)} are magnitudes and cannot be negative")
    return Limits(float(lower), float(upper), *magnitudes)


def _mimic(t: Table | None) -> Mimic | None:
    if t is None:
        return None
    t.check_keys(("leader", "multiplier", "offset"))
    return Mimic(t.text("leader"), t.number("multiplier", 1.0), t.number("offset", 0.0))


def _furnished(
    model: RobotModel, links: Mapping[str, Link], frames: Mapping[str, list[Frame]], top: Table
) -> RobotModel:
    """The bare tree with the parts and named places of every link on it."""
    bodies: dict[int, list[Body]] = {i: [] for i in range(-1, len(model.joints))}
    places: dict[str, Frame] = {}
    for host in model.frames:
        if host.name not in links:  # between the simple joints of a compound one
            places[host.name] = host
            continue
        for body in links[host.name].bodies:
            place = frozen(host.placement @ body.placement)
            bodies[host.link].append(replace(body, placement=place))
        for frame in frames[host.name]:
            if frame.name in places:
                raise top.error(f"two links, bodies or frames are named {frame.name!r}")
            place = frozen(host.placement @ frame.placement)
            places[frame.name] = Frame(frame.name, host.link, place)

    def rebuilt(i: int, link: Link) -> Link:
        return Link(link.name, tuple(bodies[i]))

    return replace(
        model,
        base_link=rebuilt(-1, model.base_link),
        links=tuple(rebuilt(i, link) for i, link in enumerate(model.links)),
        frames=tuple(places.values()),
        flange=places.get("tool", places[model.flange.name]),
    )
