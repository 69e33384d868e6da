"""The tree form of a robot file: links with their parts, and the joints between them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from armdyn.arrays import frozen
from armdyn.errors import ModelError, shown
from armdyn.io import keys
from armdyn.io.keys import inertia_from_keys
from armdyn.io.shapes import PLACEMENT, ShapeReader
from armdyn.io.toml.table import Table
from armdyn.model import Body, Frame, Inertia, Link, Mimic, RobotModel
from armdyn.model.assemble import Connection, assemble
from armdyn.model.joint_types import DESCRIBED_TYPES, described_type

INERTIA = ("shape", *keys.INERTIA, "inertia_rpy", "inertia_rotation")
LINK = ("name", "body", "frame", *INERTIA)
BODY = ("name", "payload", *PLACEMENT, *INERTIA)
ENDS = ("name", "type", "pitch", "parent", "child", *PLACEMENT, "axis", "mimic", "actuated")
JOINT = (*ENDS, "lower", "upper", *keys.JOINT_KEYS)


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
        bodies.append(Body(name, inertia_from_keys(t.where, t.data, shapes)))
    for part in parts:
        part.check_keys(BODY)
        inertia, place = inertia_from_keys(part.where, part.data, shapes), frozen(part.placement())
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
    return Connection(
        name,
        moved,
        t.text("parent"),
        t.text("child"),
        frozen(t.placement()),
        t.array("axis", (3,), (0.0, 0.0, 1.0)),
        mimic=_mimic(t.table("mimic")),
        **keys.joint_from_keys(t.where, t.data),
    )


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

    hosts = enumerate((model.base_link, *model.links), start=-1)
    base, *others = (Link(link.name, tuple(bodies[i])) for i, link in hosts)
    return replace(
        model,
        base_link=base,
        links=tuple(others),
        frames=tuple(places.values()),
        flange=places.get("tool", places[model.flange.name]),
    )
