"""Changes to a robot, each a function RobotModel -> RobotModel."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, check_names, check_number, check_truth, frozen
from armdyn.errors import ArmdynWarning, LoopError, ModelError, check_all_known, check_known, shown
from armdyn.model.cut_joints import COUPLING, CutJoint, Loop, polynomial
from armdyn.model.inertia import Inertia
from armdyn.model.joint import Joint
from armdyn.model.joint_types import PRISMATIC, REVOLUTE
from armdyn.model.link import Body, Frame, JointSpring, Link, Spring
from armdyn.model.robot import RobotModel
from armdyn.model.transform import IDENTITY, check_transform, inverse, transform

FARTHEST_PAYLOAD = 5.0
"""No arm holds a body whose centre of mass is farther from its tool than this [m]."""
CONVERSION_ROUNDING = 4e-15
"""What conversions leave of an exact zero."""
BASE_JOINTS = {
    turn + axis: (kind, along)
    for turn, kind in (("", PRISMATIC), ("r", REVOLUTE))
    for axis, along in zip("xyz", np.eye(3), strict=True)
}
"""Joints that a base may move on: slides along its axes x, y and z, and hinges about them."""


def lock(model: RobotModel, values: Mapping[str, float]) -> RobotModel:
    """The robot with joints held at values [rad or m], their links merged into the parents."""
    held = _held(model, values)
    if not held:
        return model
    host: dict[int, tuple[int, Array]] = {-1: (-1, IDENTITY)}
    joints: list[Joint] = []
    for i, joint in enumerate(model.joints):
        link, T = host[joint.parent]
        placement = frozen(T @ joint.placement)
        if i in held:
            motion = joint.type.motion(joint.axis, held[i])
            host[i] = (link, frozen(placement @ motion))
        else:
            host[i] = (len(joints), IDENTITY)
            joints.append(replace(joint, parent=link, placement=placement))
    if not joints:
        raise ModelError(f"robot {model.name!r} has no moving joint left")

    parts = _on_hosts(model, host)
    pairs = zip(model.loops, parts["loops"], strict=True)
    loops = tuple(new for old, new in pairs if not (old.couples and old.link_a in held))
    values = {model.joints[i].name: value for i, value in held.items()}
    left = (s if isinstance(s, Spring) else s.held(values) for s in parts["springs"])
    springs = tuple(s for s in left if not _idle(s))  # others do nothing any more
    free = [i for i in range(len(model.joints)) if i not in held]
    moving = {joint.name for joint in joints}
    drives = (
        replace(drive, ratios=tuple(pair for pair in drive.ratios if pair[0] in moving))
        for drive in model.drives
    )
    changed: dict[str, Any] = {
        "joints": tuple(joints),
        "drives": tuple(drive for drive in drives if drive.ratios),
        "springs": springs,
        "letters": {},  # the links are counted anew
        "loops": loops,
        "assembly": frozen(model.assembly[free]) if loops and model.assembly is not None else None,
    }
    return replace(model, **parts | changed)


def _idle(spring: Spring | JointSpring) -> bool:
    """Whether nothing moves what a spring is tied to."""
    return spring.link == spring.other if isinstance(spring, Spring) else not spring.ratios


def _on_hosts(model: RobotModel, host: Mapping[int, tuple[int, Array]]) -> dict[str, Any]:
    """What is on the links of a robot, on those of `host`: the new link, and the old frame in it.

    A new link has the name of the first old one that is on it.
    """

    def hosted(link: int, placement: Array) -> tuple[int, Array]:
        new, T = host[link]
        return new, frozen(T @ placement)

    def ends(loop: Loop) -> Loop:
        (a, A), (b, B) = hosted(loop.link_a, loop.frame_a), hosted(loop.link_b, loop.frame_b)
        return replace(loop, link_a=a, link_b=b, frame_a=A, frame_b=B)

    bodies: dict[int, tuple[str, list[Body]]] = {}
    for i, link in enumerate((model.base_link, *model.links), start=-1):
        _, here = bodies.setdefault(host[i][0], (link.name, []))
        here += [replace(body, placement=hosted(i, body.placement)[1]) for body in link.bodies]
    base, *links = (Link(name, tuple(here)) for name, here in bodies.values())
    frames = (*model.frames, model.flange)
    *others, flange = (Frame(frame.name, *hosted(frame.link, frame.placement)) for frame in frames)
    return {
        "links": tuple(links),
        "base_link": base,
        "flange": flange,
        "frames": tuple(others),
        "loops": tuple(map(ends, model.loops)),
        "springs": tuple(spring.moved(host.__getitem__) for spring in model.springs),
    }


def noted(model: RobotModel, change: str) -> RobotModel:
    """The robot whose numbers are no longer those of its source, which says so then.

    What a model shows by itself (gravity, payloads, parts of links) needs no note.
    """
    return replace(model, source=f"{model.source.rstrip('.') or 'its description'}; {change}")


def with_locked(model: RobotModel, values: Mapping[str, float]) -> RobotModel:
    """The same as `lock`, noted."""
    model = lock(model, values)
    for name, value in check_locked(values).items():
        model = noted(model, f"joint {name!r} locked at {value:g}")
    return model


def check_locked(values: Mapping[str, float] | None) -> Mapping[str, float]:
    """The mapping of joints to values (None: an empty one), or a ModelError."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise ModelError(
            "joints to lock: expected a mapping of their names to values [rad or m], such as "
            f"{{'joint1': 0.0}}, got {shown(values)}"
        )
    return values


def _held(model: RobotModel, values: Mapping[str, float]) -> dict[int, float]:
    """Index and value of every held joint, the followers of a held leader included."""
    index = {joint.name: i for i, joint in enumerate(model.joints)}
    held: dict[int, float] = {}
    for name, value in check_locked(values).items():
        check_known(f"joint to lock in {model.name!r} named", name, index)
        mimic = model.joints[index[name]].mimic
        if mimic is not None:
            raise ModelError(
                f"joint {name!r} mimics {mimic.leader!r} and has no value of its own; "
                f"lock {mimic.leader!r} instead"
            )
        if not model.joints[index[name]].actuated:
            raise LoopError(
                f"joint {name!r} is not actuated and follows from the loops of {model.name!r}; "
                "lock an actuated joint instead"
            )
        held[index[name]] = check_number(f"locked joint {name!r}", value)
        _warn_beyond(model.joints[index[name]], held[index[name]])
    waiting: dict[int, tuple[int, tuple[float, ...]]] = {
        index[joint.name]: (index[joint.mimic.leader], (joint.mimic.offset, joint.mimic.multiplier))
        for joint in model.joints
        if joint.mimic is not None
    }
    waiting |= {x.link_a: (x.link_b, x.coefficients) for x in model.loops if x.couples}
    while ready := [i for i, (leader, _) in waiting.items() if leader in held]:
        for follower in ready:
            leader, coefficients = waiting.pop(follower)
            held[follower] = polynomial(coefficients, held[leader])
    return held


def _warn_beyond(joint: Joint, value: float) -> None:
    """Warn of a joint that is held where it cannot be."""
    low, high = joint.limits.lower, joint.limits.upper
    if not low <= value <= high:
        hint = "; degrees?" if joint.type.turns and abs(value) > 4 * np.pi else ""
        warnings.warn(
            f"joint {joint.name!r} is locked at {value:g} {joint.type.unit}, beyond its limits of "
            f"{low:g} to {high:g}{hint}",
            ArmdynWarning,
            stacklevel=5,
        )


def with_payload(
    model: RobotModel,
    mass: float | Inertia,
    com: npt.ArrayLike = (0, 0, 0),
    inertia: npt.ArrayLike | None = None,
    name: str = "payload",
    add: bool = False,
) -> RobotModel:
    """The robot with a body held at the tool: com [m] and inertia [kg m²] about it in its axes.

    Instead of the mass, an `Inertia` in the tool frame may be given. What the robot holds already
    is an error, unless this body is to be held beside it: `add`.
    """
    link = payload_link(model)
    if not check_truth("add", add) and (already := model.payloads):
        raise ModelError(
            f"{model.name!r} holds a payload of {model.payload_mass:g} kg already "
            f"({', '.join(body.name for body in already)}); add=True (--add-payload) holds this "
            "one beside it, without_payload() puts it down, so that it can be saved without it"
        )
    if isinstance(mass, Inertia):
        if inertia is not None or np.any(com):
            raise ModelError("payload: an Inertia has its com and tensor in it; give no others")
        held = mass
    else:
        tensor = np.zeros((3, 3)) if inertia is None else inertia
        held = Inertia.from_com(
            check_number("payload mass", mass),
            check_constant("payload com", com, (3,)),
            check_constant("payload inertia", tensor, (3, 3)),
        )
    body = Body(name, held, model.tool_frame.placement, payload=True)
    links = list(model.links)
    links[link] = Link(links[link].name, (*links[link].bodies, body))
    holding = replace(model, links=tuple(links))
    if (far := float(np.linalg.norm(held.com))) > FARTHEST_PAYLOAD:
        warnings.warn(
            f"payload: its centre of mass {held.com.tolist()} m is {far:g} m from the tool; is it "
            "in metres?",
            ArmdynWarning,
            stacklevel=3,
        )
    return holding


def payload_link(model: RobotModel) -> int:
    """The link that carries the tool, and what it holds."""
    if model.flange.link < 0:
        raise ModelError(
            f"the tool of {model.name!r} is on the base, where a payload has no effect"
        )
    return model.flange.link


def without_payload(model: RobotModel) -> RobotModel:
    """The robot with every payload put down."""
    own = (tuple(body for body in link.bodies if not body.payload) for link in model.links)
    links = (Link(link.name, bodies) for link, bodies in zip(model.links, own, strict=True))
    return replace(model, links=tuple(links))


def with_gravity(model: RobotModel, gravity: npt.ArrayLike) -> RobotModel:
    """The robot in another field of gravity [m/s²], world axes, pointing down."""
    return replace(model, gravity=check_constant("gravity", gravity, (3,)))


def with_base(model: RobotModel, base: npt.ArrayLike | None) -> RobotModel:
    """The robot mounted elsewhere: a 4x4 transform of its base in the world."""
    return replace(model, base=check_transform("base", base))


def with_base_joints(model: RobotModel, names: Sequence[str]) -> RobotModel:
    """The robot whose base moves on joints of its own, of those in BASE_JOINTS, one after another.

    They stand before its joints, as "base x"; a base that floated does not any more.
    """
    chosen = check_names("base joints", names)
    for name in chosen:
        check_known("joint of a base named", name, BASE_JOINTS)
    count, owns = len(chosen), [f"base {name}" for name in chosen]
    if not chosen:
        raise ModelError(f"base joints: expected some of {', '.join(BASE_JOINTS)}, got none")
    names = [*owns, *(joint.name for joint in model.joints)]
    if twice := next((own for own in owns if names.count(own) > 1), None):
        raise ModelError(f"two joints of {model.name!r} would be named {twice!r}; leave one out")
    links = [model.base_link, *model.links]
    ground = f"below {owns[0]}" if "world" in {link.name for link in links} else "world"
    carriers = tuple(Link(own, (Body(own, Inertia.zero()),)) for own in owns[:-1])
    parts = _on_hosts(model, {i: (i + count, IDENTITY) for i in range(-1, len(model.links))})
    joints = [
        Joint(owns[i], kind, i - 1, IDENTITY, frozen(axis))
        for i, (kind, axis) in enumerate(BASE_JOINTS[name] for name in chosen)
    ]
    joints += [replace(joint, parent=joint.parent + count) for joint in model.joints]
    parts["links"] = (*carriers, parts["base_link"], *parts["links"])
    start = None if model.assembly is None else frozen([*np.zeros(count), *model.assembly])
    return replace(
        model,
        **parts | {"base_link": Link(ground, ()), "letters": {}, "floating": False},
        joints=tuple(joints),
        assembly=start,
    )


def with_turned_links(model: RobotModel, turns: Sequence[Array]) -> RobotModel:
    """The same robot with the frame on each joint turned by a rotation, (3, 3), about its origin.

    Each is the new frame in the old one.
    """
    T = [transform(exact_near(R)) for R in turns]
    host = {-1: (-1, IDENTITY)} | {i: (i, inverse(turn)) for i, turn in enumerate(T)}
    joints = tuple(
        replace(
            joint,
            placement=frozen(host[joint.parent][1] @ joint.placement @ T[i]),
            axis=exact_near(joint.axis @ T[i][:3, :3]),
        )
        for i, joint in enumerate(model.joints)
    )
    return replace(model, joints=joints, **_on_hosts(model, host))


def without_rounding(model: RobotModel) -> RobotModel:
    """The robot with exact zeros and ones where conversions left rounding."""
    joints = tuple(
        replace(joint, placement=exact_near(joint.placement), axis=exact_near(joint.axis))
        for joint in model.joints
    )
    return replace(model, joints=joints, base=exact_near(model.base))


def exact_near(values: Array) -> Array:
    """The numbers with exact zeros and ones where conversions left rounding."""
    near = np.round(values)
    exact = np.where(np.abs(values - near) <= CONVERSION_ROUNDING, near, values)
    return frozen(np.where(np.abs(near) <= 1.0, exact, values))


def loop_between(
    model: RobotModel,
    name: str,
    cut: CutJoint,
    a: tuple[str, Array],
    b: tuple[str, Array],
    length: float = 0.0,
) -> Loop:
    """A loop whose ends are places, (4, 4), in named frames of the robot."""
    (link_a, A), (link_b, B) = (
        (frame.link, frozen(frame.placement @ check_transform(f"loop {name!r}: end {end}", T)))
        for end, (link, T) in (("a", a), ("b", b))
        for frame in [model.frame(link)]
    )
    return Loop(name, cut, link_a, link_b, A, B, length)


def coupling_between(
    model: RobotModel, name: str, follower: str, leader: str, coefficients: Sequence[float]
) -> Loop:
    """A coupling of two joints by their names: q = c₀ + c₁ q_leader + c₂ q_leader² + ..."""
    names = [joint.name for joint in model.joints]
    check_all_known(f"joint coupled in {model.name!r} named", (follower, leader), names)
    ends = names.index(follower), names.index(leader)
    return Loop(name, COUPLING, *ends, coefficients=tuple(float(c) for c in coefficients))


def with_loops(
    model: RobotModel,
    loops: Sequence[Loop],
    passive: Collection[str],
    assembly: Mapping[str, float],
) -> RobotModel:
    """The robot with loops in place of those it has.

    Joints that mimic others are coupled to them in a robot with loops.

    Args:
        model: The robot.
        loops: Its cut joints and couplings.
        passive: Names of the joints that have no motor and follow from the loops; those that
            couplings move need not be named.
        assembly: Positions near which all loops are closed [rad or m]; 0 for joints without one.
    """
    names = [joint.name for joint in model.joints]
    for what, given in (("passive joint", passive), ("joint in the assembly", assembly)):
        check_all_known(f"{what} of {model.name!r} named", given, names)
    every = (*loops, *mimic_couplings(model)) if loops else ()
    following = {loop.link_a for loop in every if loop.couples}

    def closed(i: int, joint: Joint) -> Joint:
        moved = joint.name not in passive and i not in following
        return replace(joint, actuated=moved, mimic=None if every else joint.mimic)

    return replace(
        model,
        joints=tuple(closed(i, joint) for i, joint in enumerate(model.joints)),
        loops=every,
        assembly=frozen([assembly.get(name, 0.0) for name in names]) if loops else None,
    )


def mimic_couplings(model: RobotModel) -> list[Loop]:
    """The joints that mimic others as couplings."""
    pairs = [(joint.name, joint.mimic) for joint in model.joints if joint.mimic is not None]
    return [
        coupling_between(
            model, f"{name} follows {m.leader}", name, m.leader, (m.offset, m.multiplier)
        )
        for name, m in pairs
    ]
