"""From named links and joints, as descriptions give them, to a RobotModel in tree order."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, frozen
from armdyn.errors import ModelError, TopologyError, UnknownNameError
from armdyn.model.edit import check_locked, lock
from armdyn.model.friction import FrictionLaw
from armdyn.model.inertia import Inertia
from armdyn.model.joint import Joint, Limits, Mimic, Rotor
from armdyn.model.joint_types import JointType, joint_type
from armdyn.model.link import Body, Frame, Link
from armdyn.model.robot import GRAVITY, RobotModel
from armdyn.model.transform import IDENTITY, check_transform


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    """A joint between two links named in a description."""

    name: str
    kind: JointType | str
    """The type of the joint, or its name."""
    parent: str
    child: str
    placement: Array = field(default_factory=lambda: IDENTITY)
    axis: npt.ArrayLike = (0.0, 0.0, 1.0)
    limits: Limits = field(default_factory=Limits)
    friction: FrictionLaw = field(default_factory=FrictionLaw)
    rotor: Rotor = field(default_factory=Rotor)
    mimic: Mimic | None = None


def assemble(
    name: str,
    links: Mapping[str, Inertia],
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

    The inertia of each link is in its own frame, and each joint is placed in the frame of its
    parent. A link whose frame is not the one that its joint moves has a placement in the moved one
    (standard DH: at the far end). The tool is on the link `tool`; None: on one named "tool", or at
    the end of the longest chain.
    """
    check_name("robot", name)
    root, order = _tree_order(links, connections)
    index = {c.child: i for i, c in enumerate(order)} | {root: -1}
    own = {link: IDENTITY for link in links} | dict(placements or {})
    joints = _check_mimics(tuple(_joint(c, index[c.parent], own[c.parent]) for c in order))
    if tool is not None and tool not in index:
        raise UnknownNameError(f"link for the tool in {name!r} named", tool, index)
    end = tool or _natural_end(root, order)
    by_link = sorted(index.items(), key=lambda item: item[1])
    base_link, *moving = (Link(link, (Body(link, links[link], own[link]),)) for link, _ in by_link)
    model = RobotModel(
        name=name,
        joints=joints,
        links=tuple(moving),
        base_link=base_link,
        flange=Frame(end, index[end], own[end]),
        frames=tuple(Frame(link, i, own[link]) for link, i in by_link),
        tool=check_transform("tool", tool_transform),
        base=check_transform("base", base),
        gravity=check_constant("gravity", gravity, (3,)),
        source=source,
        reduced=reduced,
    )
    fixed = {joint.name: 0.0 for joint in joints if not joint.type.moves}
    return lock(model, fixed | dict(check_locked(locked)))


def check_name(what: str, name: object) -> str:
    """A name that can be asked for and written to a file, or a ModelError."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what}: a name is a string that is not empty, got {name!r}")
    return name


def _check_joint(c: Connection, links: Mapping[str, Inertia]) -> None:
    """Refuse a joint without a name or without links, or with friction or a rotor that is none."""
    name = check_name("joint", c.name)
    fault = c.friction.fault or c.rotor.fault
    if fault:
        raise ModelError(f"joint {name!r}: {fault}")
    for role, link in (("parent", c.parent), ("child", c.child)):
        if link not in links:
            raise UnknownNameError(f"link named as the {role} of joint {name!r}:", link, links)


def _root(links: Mapping[str, Inertia], connections: Sequence[Connection]) -> str:
    """The one link that no joint carries, once names and joints have been checked."""
    for link in links:
        check_name("link", link)
    for c in connections:
        _check_joint(c, links)
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
    links: Mapping[str, Inertia], connections: Sequence[Connection]
) -> tuple[str, list[Connection]]:
    """The root and the joints, depth first, in the order of the description."""
    root, order = _root(links, connections), list[Connection]()
    stack = [c for c in reversed(connections) if c.parent == root]
    while stack:
        order.append(stack.pop())
        stack += [c for c in reversed(connections) if c.parent == order[-1].child]
    if len(order) < len(connections):
        lost = [c.name for c in connections if c not in order]
        raise TopologyError(
            f"the joints {', '.join(map(repr, lost))} form a loop that does not hang on the root "
            f"{root!r}"
        )
    if not any(joint_type(c.kind).moves for c in order):
        raise TopologyError(
            "no joint moves, so this robot has no dynamics; give it a revolute or prismatic joint"
        )
    return root, order


def _joint(c: Connection, parent: int, parent_frame: Array) -> Joint:
    """The joint of a description, placed on its parent link."""
    kind, axis = joint_type(c.kind), check_constant(f"joint {c.name!r}: axis", c.axis, (3,))
    length = float(np.linalg.norm(axis))
    if not kind.moves:
        axis, length = np.array([0.0, 0.0, 1.0]), 1.0
    if length < 1e-9:
        raise ModelError(f"joint {c.name!r}: the axis {axis.tolist()} has no direction")
    placement = frozen(parent_frame @ check_transform(f"joint {c.name!r}: origin", c.placement))
    axis = frozen(axis / length)
    return Joint(c.name, kind, parent, placement, axis, c.limits, c.friction, c.rotor, c.mimic)


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


def _natural_end(root: str, order: list[Connection]) -> str:
    """The link named "tool", else the end of the longest chain."""
    depth = {root: 0}
    for c in order:
        depth[c.child] = depth[c.parent] + 1
    if "tool" in depth:
        return "tool"
    return max(depth, key=depth.__getitem__)
