"""Changes to a robot, each a function RobotModel -> RobotModel."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, check_number, frozen
from armdyn.errors import ArmdynWarning, LoopError, ModelError, UnknownNameError, shown
from armdyn.model.cut_joints.coupling import polynomial
from armdyn.model.drive import Drive
from armdyn.model.inertia import Inertia
from armdyn.model.joint import Joint
from armdyn.model.link import Body, Frame, Link
from armdyn.model.loop import Loop
from armdyn.model.robot import RobotModel
from armdyn.model.transform import IDENTITY, check_transform, inverse, transform

CONVERSION_ROUNDING = 4e-15
"""What conversions leave of an exact zero."""


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

    def carried(link: int, old: list[Link]) -> tuple[Body, ...]:
        return tuple(
            replace(body, placement=frozen(host[i][1] @ body.placement))
            for i, part in enumerate(old, start=-1)
            if host[i][0] == link
            for body in part.bodies
        )

    def moved(frame: Frame) -> Frame:
        link, T = host[frame.link]
        return Frame(frame.name, link, frozen(T @ frame.placement))

    def ends(loop: Loop) -> Loop:
        (a, Ta), (b, Tb) = host[loop.link_a], host[loop.link_b]
        places = frozen(Ta @ loop.frame_a), frozen(Tb @ loop.frame_b)
        return replace(loop, link_a=a, link_b=b, frame_a=places[0], frame_b=places[1])

    loops = tuple(map(ends, _still_closed(model, held)))
    springs = (spring.moved(host.__getitem__) for spring in model.springs)
    old = [model.base_link, *model.links]
    free = [i for i in range(len(model.joints)) if i not in held]
    kept = [link for i, link in enumerate(model.links) if i not in held]
    return replace(
        model,
        joints=tuple(joints),
        links=tuple(Link(link.name, carried(i, old)) for i, link in enumerate(kept)),
        base_link=Link(model.base_link.name, carried(-1, old)),
        flange=moved(model.flange),
        frames=tuple(map(moved, model.frames)),
        drives=_still_driven(model, {joint.name for joint in joints}),
        springs=tuple(s for s in springs if s.link != s.other),  # others do nothing any more
        letters={},  # the links are counted anew
        loops=loops,
        assembly=_still_assembled(model, free) if loops else None,
    )


def _still_driven(model: RobotModel, moving: set[str]) -> tuple[Drive, ...]:
    """The drives with the joints that still move; those that move none are left out."""
    drives = (
        replace(drive, ratios=tuple(pair for pair in drive.ratios if pair[0] in moving))
        for drive in model.drives
    )
    return tuple(drive for drive in drives if drive.ratios)


def _still_closed(model: RobotModel, held: Collection[int]) -> list[Loop]:
    """The loops without couplings of joints that are held."""
    return [loop for loop in model.loops if not (loop.couples and loop.link_a in held)]


def _still_assembled(model: RobotModel, free: Sequence[int]) -> Array:
    assert model.assembly is not None
    return frozen(model.assembly[list(free)])


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
        if name not in index:
            raise UnknownNameError(f"joint to lock in {model.name!r} named", name, index)
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
) -> RobotModel:
    """The robot with a body held at the tool: com [m] and inertia [kg m²] about it in its axes.

    Instead of the mass, an `Inertia` in the tool frame may be given.
    """
    link = model.flange.link
    if link < 0:
        raise ModelError(
            f"the tool of {model.name!r} is on the base, where a payload has no effect"
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
    return replace(model, links=tuple(links))


def without_payload(model: RobotModel) -> RobotModel:
    """The robot with every payload put down."""
    own = (tuple(body for body in link.bodies if not body.payload) for link in model.links)
    links = (Link(link.name, bodies) for link, bodies in zip(model.links, own, strict=True))
    return replace(model, links=tuple(links))


def with_gravity(model: RobotModel, gravity: npt.ArrayLike) -> RobotModel:
    """The robot in another field of gravity [m/s²], world axes, pointing down."""
    return replace(model, gravity=check_constant("gravity", gravity, (3,)))


def with_tool(model: RobotModel, tool: npt.ArrayLike | None) -> RobotModel:
    """The robot with its tool frame elsewhere: a 4x4 transform in the flange frame."""
    return replace(model, tool=check_transform("tool", tool))


def with_base(model: RobotModel, base: npt.ArrayLike | None) -> RobotModel:
    """The robot mounted elsewhere: a 4x4 transform of its base in the world."""
    return replace(model, base=check_transform("base", base))


def with_turned_links(model: RobotModel, turns: Sequence[Array]) -> RobotModel:
    """The same robot with the frame on each joint turned by a rotation, (3, 3), about its origin.

    Each is the new frame in the old one.
    """
    T = [transform(_exact(R)) for R in turns]

    def placed(link: int, placement: Array) -> Array:
        return placement if link < 0 else frozen(inverse(T[link]) @ placement)

    joints = tuple(
        replace(
            joint,
            placement=frozen(placed(joint.parent, joint.placement) @ T[i]),
            axis=_exact(joint.axis @ T[i][:3, :3]),
        )
        for i, joint in enumerate(model.joints)
    )
    links = tuple(
        replace(
            link, bodies=tuple(replace(x, placement=placed(i, x.placement)) for x in link.bodies)
        )
        for i, link in enumerate(model.links)
    )
    *frames, flange = (
        replace(frame, placement=placed(frame.link, frame.placement))
        for frame in (*model.frames, model.flange)
    )
    loops = tuple(
        replace(
            loop,
            frame_a=placed(loop.link_a, loop.frame_a),
            frame_b=placed(loop.link_b, loop.frame_b),
        )
        for loop in model.loops
    )
    springs = tuple(s.moved(lambda i: (i, placed(i, IDENTITY))) for s in model.springs)
    return replace(
        model, joints=joints, links=links, frames=tuple(frames), flange=flange, loops=loops,
        springs=springs,
    )  # fmt: skip


def without_rounding(model: RobotModel) -> RobotModel:
    """The robot with exact zeros and ones where conversions left rounding."""
    joints = tuple(
        replace(joint, placement=_exact(joint.placement), axis=_exact(joint.axis))
        for joint in model.joints
    )
    return replace(model, joints=joints, base=_exact(model.base))


def _exact(values: Array) -> Array:
    near = np.round(values)
    exact = np.where(np.abs(values - near) <= CONVERSION_ROUNDING, near, values)
    return frozen(np.where(np.abs(near) <= 1.0, exact, values))
