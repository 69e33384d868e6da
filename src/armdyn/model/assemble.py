"""From named links and joints, as descriptions give them, to a RobotModel in tree order."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, frozen, record
from armdyn.errors import ModelError, TopologyError, UnknownNameError, check_known, shown
from armdyn.model.edit import check_locked, lock
from armdyn.model.friction import FrictionLaw
from armdyn.model.inertia import Inertia
from armdyn.model.joint import Joint, Limits, Mimic, Rotor, Transmission
from armdyn.model.joint_types import COMPOUND_TYPES, CompoundType, JointType, joint_type
from armdyn.model.link import Body, Frame, Link, LinkParts
from armdyn.model.robot import GRAVITY, RobotModel
from armdyn.model.transform import IDENTITY, check_transform, frame_along, normalised


@record(eq=False)
class Connection:
    """A joint between two links named in a description."""

    name: str
    kind: JointType | CompoundType | str
    """The type of the joint, or its name."""
    parent: str
    child: str
    placement: Array = field(default_factory=lambda: IDENTITY)
    axis: npt.ArrayLike = (0.0, 0.0, 1.0)
    limits: Limits = field(default_factory=Limits)
    friction: FrictionLaw = field(default_factory=FrictionLaw)
    rotor: Rotor = field(default_factory=Rotor)
    mimic: Mimic | None = None
    transmission: Transmission = field(default_factory=Transmission)


def assemble(
    name: str,
    links: Mapping[str, Inertia | LinkParts],
    connections: Sequence[Connection],
    *,
    placements: Mapping[str, Array] | None = None,
    tool: str | None = None,
    tool_transform: npt.ArrayLike | None = None,
    base: npt.ArrayLike | None = None,
    gravity: npt.ArrayLike = GRAVITY,
    locked: Mapping[str, float] | None = None,
    source: str = "",
    reduced: bool = False,
) -> RobotModel:
    """A RobotModel in tree order, with fixed and locked joints merged into their parents.

    The inertia of each link, or its parts, is in its own frame, and each joint is placed in the
    frame of its parent; a compound joint becomes a chain of simple ones. A link whose frame is not
    the one that its joint moves has a placement in the moved one (standard DH: at the far end). The
    tool is on the link `tool`; None: on a frame named "tool", or at the end of the longest chain.
    """
    check_name("robot", name)
    links, connections = _simple_joints(links, connections)
    root, order = _tree_order(links, connections)
    index = {c.child: i for i, c in enumerate(order)} | {root: -1}
    own = {link: IDENTITY for link in links} | dict(placements or {})
    joints = _check_mimics(tuple(_joint(c, index[c.parent], own[c.parent]) for c in order))
    if tool is not None:
        check_known(f"link for the tool in {name!r} named", tool, index)
    by_link = sorted(index.items(), key=lambda item: item[1])
    base_link, *moving = (_link(link, links[link], own[link]) for link, _ in by_link)
    each = (_frames(link, links[link], i, own[link]) for link, i in by_link)
    frames = tuple(frame for on_link in each for frame in on_link)
    if taken := _twice(frame.name for frame in frames):
        raise ModelError(f"two links, bodies or frames are named {taken!r}")
    named = {frame.name: frame for frame in frames}
    end = tool or ("tool" if "tool" in named else _far_end(root, order))
    model = RobotModel(
        name=name,
        joints=joints,
        links=tuple(moving),
        base_link=base_link,
        flange=named[end] if end in named else Frame(end, index[end], own[end]),
        frames=frames,
        tool=check_transform("tool", tool_transform),
        base=check_transform("base", base),
        gravity=check_constant("gravity", gravity, (3,)),
        source=source,
        reduced=reduced,
    )
    fixed = {joint.name: 0.0 for joint in joints if not joint.type.moves}
    return lock(model, fixed | dict(check_locked(locked)))


def _link(name: str, given: Inertia | LinkParts, own: Array) -> Link:
    """A link with its parts in the frame that its joint moves, where its own frame is at `own`."""
    bodies = (Body(name, given),) if isinstance(given, Inertia) else given.bodies
    # a body in the very frame keeps its numbers, without the rounding of a move
    placements = (own if b.placement is IDENTITY else frozen(own @ b.placement) for b in bodies)
    pairs = zip(bodies, placements, strict=True)
    return Link(name, tuple(replace(body, placement=T) for body, T in pairs))


def _frames(name: str, given: Inertia | LinkParts, index: int, own: Array) -> list[Frame]:
    """The named places of a link."""
    if isinstance(given, Inertia):
        return [Frame(name, index, own)]
    return [Frame(place, index, frozen(own @ T)) for place, T in given.places]


def check_name(what: str, name: object) -> str:
    """A name that can be asked for and written to a file, or a ModelError."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what}: a name is a string that is not empty, got {shown(name)}")
    return name


def _simple_joints(
    links: Mapping[str, Inertia | LinkParts], connections: Sequence[Connection]
) -> tuple[dict[str, Inertia | LinkParts], list[Connection]]:
    """Links and joints with the chain of simple joints in place of each compound one."""
    every, simple = dict(links), list[Connection]()
    for c in connections:
        kind = COMPOUND_TYPES.get(c.kind) if isinstance(c.kind, str) else c.kind
        chain = _chain(c, kind) if isinstance(kind, CompoundType) else [c]
        for joint in chain[:-1]:
            if joint.child in every:
                raise ModelError(f"joint {c.name!r}: the link name {joint.child!r} is taken")
            every[joint.child] = Inertia.zero()
        simple += chain
    return every, simple


def _chain(c: Connection, kind: CompoundType) -> list[Connection]:
    """The simple joints of a compound one; limits, friction and rotor are those of each of them."""
    where = f"joint {check_name('joint', c.name)!r}"
    names = [f"{c.name}_{ending}" for ending, _, _ in kind.parts]
    if c.mimic is not None:
        raise ModelError(f"{where} is {kind.name}, and such a joint cannot mimic another")
    driven = c.limits != Limits() or c.friction != FrictionLaw() or c.rotor != Rotor()
    if driven and len({simple.unit for _, simple, _ in kind.parts}) > 1:
        raise ModelError(
            f"{where} is {kind.name}: it turns and slides, so limits, friction and rotor have no "
            f"one unit; write out its simple joints {', '.join(names)} instead"
        )
    axes = frame_along(_unit(where, c.axis))
    links = [c.parent, *(f"{c.child} after {name}" for name in names[:-1]), c.child]
    return [
        replace(
            c,
            name=name,
            kind=simple,
            parent=parent,
            child=child,
            placement=c.placement if parent == c.parent else IDENTITY,
            axis=axes @ axis,
        )
        for name, (_, simple, axis), parent, child in zip(
            names, kind.parts, links[:-1], links[1:], strict=True
        )
    ]


def _unit(where: str, axis: npt.ArrayLike) -> Array:
    """The direction of an axis."""
    given = check_constant(f"{where}: axis", axis, (3,))
    if np.abs(given).max() < 1e-9:
        raise ModelError(f"{where}: the axis {given.tolist()} has no direction")
    return normalised(given)


def _root(links: Collection[str], connections: Sequence[Connection]) -> str:
    """The one link that no joint carries, once names and joints have been checked."""
    for link in links:
        check_name("link", link)
    for c in connections:
        where = f"joint {check_name('joint', c.name)!r}"
        if fault := c.friction.fault or c.rotor.fault or c.transmission.fault(c.rotor):
            raise ModelError(f"{where}: {fault}")
        for role, link in (("parent", c.parent), ("child", c.child)):
            if link not in links:
                raise UnknownNameError(f"link named as the {role} of {where}:", link, links)
    if name := _twice(c.name for c in connections):
        raise TopologyError(f"two joints are named {name!r}; give each its own name")
    if child := _twice(c.child for c in connections):
        pair = " and ".join(repr(c.name) for c in connections if c.child == child)
        raise TopologyError(
            f"link {child!r} is the child of the joints {pair}: the links form a loop. "
            "armdyn handles trees; cut the loop by removing one of these joints"
        )
    children = {c.child for c in connections}
    roots = [link for link in links if link not in children]
    if not roots:
        raise TopologyError(
            "every link is the child of some joint, so the links form a loop and there is no root"
        )
    if len(roots) > 1:
        raise TopologyError(
            f"there are {len(roots)} root links: {', '.join(map(repr, roots))}. A robot is one "
            "tree; connect the others by fixed joints or remove them"
        )
    return roots[0]


def _twice(names: Iterable[str]) -> str:
    """The first name that occurs more than once; empty if none does."""
    return next((name for name, count in Counter(names).items() if count > 1), "")


def _tree_order(
    links: Collection[str], connections: Sequence[Connection]
) -> tuple[str, list[Connection]]:
    """The root and the joints, depth first, in the order of the description."""
    root, order = _root(links, connections), list[Connection]()
    on: dict[str, list[Connection]] = {}
    for connection in reversed(connections):
        on.setdefault(connection.parent, []).append(connection)
    stack = [*on.get(root, ())]
    while stack:
        order.append(stack.pop())
        stack += on.get(order[-1].child, ())
    if len(order) < len(connections):
        found = {id(connection) for connection in order}
        lost = [c.name for c in connections if id(c) not in found]
        raise TopologyError(
            f"the joints {', '.join(map(repr, lost))} form a loop that does not hang on the root "
            f"{root!r}"
        )
    if not any(_type(c).moves for c in order):
        raise TopologyError(
            "no joint moves, so this robot has no dynamics; give it a revolute or prismatic joint"
        )
    return root, order


def _type(c: Connection) -> JointType:
    """The type of a joint that is a simple one."""
    assert not isinstance(c.kind, CompoundType)
    return joint_type(c.kind)


def _joint(c: Connection, parent: int, parent_frame: Array) -> Joint:
    """The joint of a description, placed on its parent link."""
    kind, where = _type(c), f"joint {c.name!r}"
    axis = frozen(_unit(where, c.axis if kind.moves else (0.0, 0.0, 1.0)))
    placement = frozen(parent_frame @ check_transform(f"{where}: origin", c.placement))
    own = c.limits, c.friction, c.rotor, c.mimic
    return Joint(c.name, kind, parent, placement, axis, *own, transmission=c.transmission)


def _check_mimics(joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """The joints themselves, if each one that follows another has one to follow."""
    by_name = {joint.name: joint for joint in joints if joint.type.moves}
    for joint in joints:
        seen, follower = [joint.name], joint
        while follower.mimic is not None:
            leader = follower.mimic.leader
            if leader not in by_name:
                raise UnknownNameError(
                    f"moving joint mimicked by {follower.name!r} named", leader, by_name
                )
            if leader in seen:
                raise TopologyError(f"the joints {', '.join(seen)} mimic each other in a circle")
            seen.append(leader)
            follower = by_name[leader]
    return joints


def _far_end(root: str, order: list[Connection]) -> str:
    """The link at the end of the longest chain."""
    depth = {root: 0}
    for c in order:
        depth[c.child] = depth[c.parent] + 1
    return max(depth, key=depth.__getitem__)
