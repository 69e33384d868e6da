"""A RobotModel as URDF, with armdyn's own words only for what URDF has none for.

Each moving link is a <link>; the parts that fixed joints had merged into it, its payloads and its
frames are links on fixed joints of their own, so that nothing that has a name is lost.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import WriteError
from armdyn.io.keys import keys_from_part
from armdyn.io.urdf.read import DYNAMICS, FLOATING, FRICTION_WORDS, TEXTS, UNLIMITED, WORLD
from armdyn.io.xml import XmlElement, text_from_element
from armdyn.model import GRAVITY, Body, Frame, FrictionLaw, Inertia, Joint, Link, RobotModel, Rotor
from armdyn.model.friction import GROUPS
from armdyn.model.transform import IDENTITY, inverse, rotation_from_rpy, rpy_from_rotation

LOSSLESS = 1e-13
"""Relative error up to which an inertia is written as mass, centre of mass and tensor about it."""


def urdf_from_model(model: RobotModel) -> str:
    """The robot as the text of a URDF file, every number in full precision.

    Raises:
        WriteError: URDF has no such joint or drive, and no springs.
    """
    if model.drives:
        raise WriteError(
            f"drive {model.drives[0].name!r} turns with several joints, and URDF has no such "
            "drive; save the robot as .toml"
        )
    if model.springs:
        raise WriteError(
            f"spring {model.springs[0].name!r} cannot be written: URDF has no springs; save the "
            "robot as .toml"
        )
    frames = {frame.name: frame for frame in (model.flange, *model.frames)}
    links = (model.base_link, *model.links)
    taken = {"tool", *frames} | {link.name for link in links}
    taken |= {body.name for link in links for body in link.bodies if not body.payload}
    joint_names = {joint.name for joint in model.joints}
    elements = [_robot_words(model)]
    if model.floating:
        world = _unique(WORLD, taken)
        ends = _ends(IDENTITY, world, model.base_link.name)
        weld = {"name": _unique("floating_base", joint_names), "type": FLOATING}
        elements += [_element("link", name=world), _element("joint", *ends, **weld)]
    for i, link in enumerate(links, start=-1):
        elements.append(_moving_link(link, frames.get(link.name)))
        if i >= 0:
            joint = model.joints[i]
            elements.append(_moving_joint(joint, links[joint.parent + 1].name, link.name))
        for part, placement in _parts(i, link, frames.values(), taken):
            name = part.attributes["name"]
            weld = {"name": _unique(f"{name}_fixed", joint_names), "type": "fixed"}
            elements += [part, _element("joint", *_ends(placement, link.name, name), **weld)]
    return text_from_element(_element("robot", *elements, name=model.name))


def urdf_inertial(inertia: Inertia) -> str:
    """The <inertial> of a <link>."""
    return text_from_element(_inertial(inertia)[0]).partition("?>")[2].lstrip()


def _element(tag: str, *children: XmlElement | None, **values: str | npt.ArrayLike) -> XmlElement:
    """An element with those of the children that there are; numbers are in full precision."""
    # adding zero turns -0.0 into 0.0
    attributes = {
        key: value
        if isinstance(value, str)
        else " ".join(repr(float(number) + 0.0) for number in np.ravel(value))
        for key, value in values.items()
    }
    return XmlElement(tag, attributes, tuple(child for child in children if child))


def _place(tag: str, T: Array) -> XmlElement | None:
    """An element with the xyz and rpy of a transform, or None for the identity."""
    if np.array_equal(T, IDENTITY):
        return None
    return _element(tag, xyz=T[:3, 3], rpy=rpy_from_rotation(T[:3, :3]))


def _robot_words(model: RobotModel) -> XmlElement:
    for loop in model.loops:
        raise WriteError(
            f"robot {model.name!r} has the loop {loop.name!r}, and URDF has no loops; save it as "
            ".toml"
        )
    words: dict[str, Any] = {"flange": model.flange.name}
    if not np.array_equal(model.gravity, GRAVITY):
        words["gravity"] = model.gravity
    words |= {key: getattr(model, key) for key in TEXTS if getattr(model, key)}
    if model.reduced:
        words["reduced"] = "true"
    return _element("armdyn", _place("base", model.base), _place("tool", model.tool), **words)


# joints


def _ends(placement: Array, parent: str, child: str) -> tuple[XmlElement | None, ...]:
    """Where a joint is and what it connects."""
    ends = _element("parent", link=parent), _element("child", link=child)
    return _place("origin", placement), *ends


def _moving_joint(joint: Joint, parent: str, child: str) -> XmlElement:
    """A joint that moves."""
    unlimited = math.isinf(joint.limits.lower) and math.isinf(joint.limits.upper)
    if not joint.type.urdf:
        raise WriteError(
            f"joint {joint.name!r} is {joint.kind}, and URDF has no such joint; save the robot as "
            ".toml, or lock the joint (with_locked) first"
        )
    kind = joint.type.urdf[-1 if unlimited else 0]
    mimic, rotor = joint.mimic, joint.rotor
    dynamics = {key: getattr(joint.friction, name) for key, name in DYNAMICS.items()}
    dynamics["damping"] += joint.friction.viscous_positive
    words = _friction_words(joint.friction)
    if math.isfinite(joint.limits.continuous_effort):
        words["continuous_effort"] = joint.limits.continuous_effort
    if joint.transmission.gives:
        words = dict(keys_from_part(joint.transmission)) | words
    if rotor != Rotor():
        words = dict(keys_from_part(rotor)) | words
    return _element(
        "joint",
        *_ends(joint.placement, parent, child),
        _element("axis", xyz=joint.axis),
        _limit(joint, kind),
        _element("dynamics", **dynamics) if any(dynamics.values()) else None,
        None
        if mimic is None
        else _element(
            "mimic", joint=mimic.leader, multiplier=mimic.multiplier, offset=mimic.offset
        ),
        _element("armdyn", **words) if words else None,
        name=joint.name,
        type=kind,
    )


def _limit(joint: Joint, kind: str) -> XmlElement | None:
    limits = joint.limits
    values = {"effort": limits.effort, "velocity": limits.velocity}
    if kind != "continuous":
        values |= {"lower": limits.lower, "upper": limits.upper}
    elif math.isinf(limits.effort) and math.isinf(limits.velocity):
        return None
    finite = {key: min(max(value, -UNLIMITED), UNLIMITED) for key, value in values.items()}
    return _element("limit", **finite)


def _friction_words(law: FrictionLaw) -> dict[str, float]:
    """The parameters that <dynamics> cannot say, those of one term together."""
    # the viscous pair differs from its negative, so it is never taken for one number
    usual = FrictionLaw(
        coulomb_negative=law.coulomb_positive, viscous_negative=-law.viscous_positive
    )
    words: dict[str, float] = {}
    for group in GROUPS:
        names = [parameter.name for parameter in group if parameter.name in FRICTION_WORDS]
        if any(getattr(law, name) != getattr(usual, name) for name in names):
            words |= {name: min(getattr(law, name), UNLIMITED) for name in names}
    return words


# links


def _moving_link(link: Link, frame: Frame | None) -> XmlElement:
    """The link with those of its bodies that have its name, in the frame that its joint moves."""
    own = Link(link.name, tuple(body for body in link.bodies if _is_own(body, link)))
    bodies = [body.inertia.moved(body.placement) for body in own.bodies]
    inertia = bodies[0] if len(bodies) == 1 else own.inertia
    return _link(link.name, inertia, frame, IDENTITY, explicit=link.inertia.is_zero)


def _is_own(body: Body, link: Link) -> bool:
    return body.name == link.name and not body.payload


def _parts(
    index: int, link: Link, frames: Iterable[Frame], taken: set[str]
) -> Iterator[tuple[XmlElement, Array]]:
    """The links on fixed joints that a moving link carries, with their placements on it."""
    here = {frame.name: frame for frame in frames if frame.link == index}
    written = {link.name}
    for body in link.bodies:
        if _is_own(body, link):
            continue
        again = body.payload or body.name in written
        name = _unique(body.name or "payload", taken) if again else body.name
        written.add(name)
        payload = body.name if body.payload else None
        part = _link(name, body.inertia, here.get(name), body.placement, payload=payload)
        yield part, body.placement
    for name, frame in here.items():
        if name not in written:
            yield _element("link", name=name), frame.placement


def _link(
    name: str,
    inertia: Inertia,
    frame: Frame | None,
    placement: Array,
    *,
    payload: str | None = None,
    explicit: bool = False,
) -> XmlElement:
    """A <link> with its inertia in its own frame; an `explicit` one says so if it has none.

    The frame is what the robot means by its name, in the same axes as the placement of the link.
    """
    inertial = exact = elsewhere = None
    if explicit or not inertia.is_zero:
        inertial, lossless = _inertial(inertia)
        if not lossless:
            moments = {"first_moment": inertia.first_moment, "moment": inertia.moment}
            exact = _element("inertia", mass=inertia.mass, **moments)
    if frame is not None and not np.array_equal(frame.placement, placement):
        elsewhere = _place("frame", inverse(placement) @ frame.placement)
    words: dict[str, str] = {} if payload is None else {"payload": payload}
    own = _element("armdyn", elsewhere, exact, **words) if elsewhere or exact or words else None
    return _element("link", inertial, own, name=name)


def _inertial(inertia: Inertia) -> tuple[XmlElement, bool]:
    """An <inertial> in the given axes, and whether it gives back the inertia."""
    axes = inertia.given_axes
    tensor = axes.T @ inertia.moment_about_com @ axes
    tensor, rpy = (tensor + tensor.T) / 2, rpy_from_rotation(axes)
    back = Inertia.from_com(inertia.mass, inertia.com, tensor, rotation_from_rpy(rpy))
    lossless = all(
        bool(np.abs(a - b).max() <= LOSSLESS * np.abs(b).max())
        for a, b in ((back.first_moment, inertia.first_moment), (back.moment, inertia.moment))
    )
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = dict(zip(keys, tensor[np.triu_indices(3)].tolist(), strict=True))
    element = _element(
        "inertial",
        _element("origin", xyz=inertia.com, rpy=rpy),
        _element("mass", value=inertia.mass),
        _element("inertia", **entries),
    )
    return element, lossless


def _unique(name: str, taken: set[str]) -> str:
    """The name, with a number behind it if it is taken; it is taken afterwards."""
    count, found = 1, name
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    taken.add(found)
    return found
