"""A <joint> of a URDF file, with armdyn's own words for what URDF has none for.

Inside <joint> the element

    <armdyn rotor_inertia="..." gear_ratio="..." coulomb_negative="..." stribeck="..."
            stribeck_velocity="..." smooth_velocity="..." offset="..." viscous_negative="..."
            power="..." power_exponent="..." continuous_effort="..."/>

adds what <limit> and <dynamics> cannot say; damping and friction are for both directions, or for
the positive one where the negative one is given. Other programs skip it.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from armdyn.arrays import Array
from armdyn.errors import UnsupportedJointError
from armdyn.io.attributes import Place, Problems, drake_rotor
from armdyn.io.keys import missing
from armdyn.io.xml import XmlElement
from armdyn.model import Connection, FrictionLaw, Limits, Mimic, Rotor
from armdyn.model.friction import PARAMETERS
from armdyn.model.joint_types import DESCRIBED_TYPES, FIXED, CompoundType, JointType

KINDS = {word: kind for kind in DESCRIBED_TYPES.values() for word in kind.urdf}
FREE = ("floating", "planar")
"""Types that may attach the root of a robot to the world."""
UNLIMITED = sys.float_info.max
"""Stands for infinity in a limit, which URDF must write as a finite number."""
DYNAMICS = {"damping": "viscous", "friction": "coulomb_positive"}
"""Parameters of friction that are attributes of <dynamics>; the others are armdyn's own words."""
FRICTION_WORDS = tuple(
    name for name in PARAMETERS if name not in (*DYNAMICS.values(), "viscous_positive")
)
DRAKE = ("drake:rotor_inertia", "drake:gear_ratio")
"""Elements of an <actuator>."""
JOINT_WORDS = ("rotor_inertia", "gear_ratio", "continuous_effort", *FRICTION_WORDS)


def connection_from_element(
    element: XmlElement,
    problems: Problems,
    root: str | None,
    fix_root: bool,
    actuators: Mapping[str, Sequence[Place]],
) -> Connection | None:
    """The joint, or None if it cannot be told; what is wrong goes to `problems`.

    With `fix_root`, floating and planar joints on the one link `root` are taken as fixed.
    """
    name = Place(element, "a joint", problems).text("name")
    if name is None:
        return None
    joint = Place(element, f"joint {name!r}", problems)
    found = map(joint.needed, ("parent", "child"))
    ends = [None if end is None else end.text("link") for end in found]
    kind = _kind(joint, ends[0], root, fix_root)
    placement = joint.origin()
    if kind is None or not ends[0] or not ends[1]:
        return None
    bare = Connection(name, kind, ends[0], ends[1], placement)
    if not isinstance(kind, JointType) or kind is FIXED:
        for actuator in actuators.get(name, ()):
            actuator.warn("its rotor is left out: only a joint with one axis has one")
    if kind is FIXED:
        return bare
    if isinstance(kind, CompoundType):
        return _compound(joint, bare)
    own = joint.only("armdyn")
    if own is not None:
        check_words(own, JOINT_WORDS)
    limits = _limits(joint, own)
    return replace(
        bare,
        axis=_axis(joint),
        limits=limits,
        friction=_friction(joint, own),
        rotor=_rotor(joint, own, actuators.get(name, ()), limits.effort),
        mimic=_mimic(joint),
    )


def _compound(joint: Place, bare: Connection) -> Connection:
    """A joint with several coordinates, for which URDF has one number of each kind at the most."""
    for tag in ("limit", "dynamics", "armdyn"):
        if (child := joint.only(tag)) is not None:
            child.warn(f"<{tag}> of a joint that turns and slides has no one unit and is left out")
    if (mimic := joint.only("mimic")) is not None:
        mimic.add(f"{joint.where} has several coordinates and cannot mimic another joint")
    return replace(bare, axis=_axis(joint))


def check_words(own: Place, words: tuple[str, ...]) -> None:
    """Note every attribute of an <armdyn> element that is none of its words."""
    for key in own.attributes:
        if key not in words:
            known = ", ".join(words)
            own.add(f"{own.where}: <armdyn> has no attribute {key!r}; it knows {known}")


def _kind(
    joint: Place, parent: str | None, root: str | None, fix_root: bool
) -> JointType | CompoundType | None:
    """The type of a joint; one that attaches the root to the world may be taken as fixed."""
    given, on_root = joint.text("type"), root is not None and parent == root
    if given in FREE and on_root and fix_root:
        return FIXED
    if given is None or given in KINDS:
        return None if given is None else KINDS[given]
    if given in FREE and on_root:
        advice = "It attaches the robot to the world: pass fix_root=True (--fix-root) to fix it"
    elif given in FREE:
        other = f"its parent is {parent!r} and the root is {root!r}"
        advice = (
            "Only on the root link could it be taken as fixed, with fix_root=True (--fix-root), "
            f"but {other if root else 'this file has no single root link'}"
        )
    else:
        advice = "There is no such type in URDF"
    known = ", ".join(KINDS)
    text = f"{joint.where} is of type {given!r}; armdyn handles {known}. {advice}"
    joint.add(text, UnsupportedJointError)
    return None


def _axis(joint: Place) -> Array:
    place = joint.only("axis") or joint
    axis = place.vector("xyz", default=(1.0, 0.0, 0.0))
    length = math.hypot(*axis)
    if length < 1e-9:
        place.add(f"{joint.where}: the axis {axis.tolist()} has no direction")
    elif abs(length - 1.0) > 1e-3:
        place.warn(
            f"the axis {axis.tolist()} has the length {length:.6g} instead of 1; only its "
            "direction is used"
        )
    return axis


def _limits(joint: Place, own: Place | None) -> Limits:
    limit = joint.only("limit")
    continuous = math.inf if own is None else own.number("continuous_effort", math.inf, least=0.0)
    if limit is None:
        return Limits(continuous_effort=continuous)
    lower, upper = -math.inf, math.inf
    if joint.attributes["type"] != "continuous" and {"lower", "upper"} & set(limit.attributes):
        lower, upper = (_limitless(limit.number(key, default=0.0)) for key in ("lower", "upper"))
    if lower > upper:
        limit.warn(f"the lower limit {lower:g} is above the upper {upper:g}; both are left out")
        lower, upper = -math.inf, math.inf
    velocity, effort = (
        _limitless(limit.number(key, default=math.inf, least=0.0)) for key in ("velocity", "effort")
    )
    return Limits(lower, upper, velocity, effort, continuous)


def _limitless(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def _friction(joint: Place, own: Place | None) -> FrictionLaw:
    values: dict[str, float] = {}
    own_words = dict(zip(FRICTION_WORDS, FRICTION_WORDS, strict=True))
    for place, names in ((joint.only("dynamics"), DYNAMICS), (own, own_words)):
        for key, name in names.items():
            if place is not None and key in place.attributes:
                least = -math.inf if PARAMETERS[name].signed else 0.0
                given = place.number(key, default=0.0, least=least)
                values[name] = _limitless(max(given, least))
    if "viscous_negative" in values:
        values["viscous_positive"] = values.pop("viscous", 0.0)
    law = FrictionLaw(**{"coulomb_negative": values.get("coulomb_positive", 0.0)} | values)
    fault = law.fault or missing(law, values)
    if fault:
        (own or joint).add(f"{joint.where}: {fault}")
    return law


def actuators_by_joint(robot: XmlElement, problems: Problems) -> dict[str, list[Place]]:
    """The actuators of <transmission> that have Drake's elements, by the joint that they drive."""
    actuators: dict[str, list[Place]] = {}
    for transmission in robot.all("transmission"):
        joint = next((x.attributes.get("name", "") for x in transmission.all("joint")), "")
        for actuator in transmission.all("actuator"):
            if any(x.tag in DRAKE for x in actuator.children):
                place = Place(actuator, f"joint {joint!r}", problems)
                actuators.setdefault(joint, []).append(place)
    names = {joint.attributes.get("name") for joint in robot.all("joint")}
    for place in (places[0] for joint, places in actuators.items() if joint not in names):
        place.warn("it is no joint of this robot; its actuator is left out")
    return actuators


def _rotor(joint: Place, own: Place | None, actuators: Sequence[Place], effort: float) -> Rotor:
    """What turns with the joint: the rotor of <armdyn> and those of actuators."""
    rotors = []
    for place in actuators:
        inertia, ratio = (x.number("value") if x else None for x in map(place.only, DRAKE))
        rotors.append(drake_rotor(place, inertia, ratio, effort))
    if own is not None:
        least = max(own.number("rotor_inertia", default=0.0, least=0.0), 0.0)
        rotors.insert(0, Rotor(least, own.number("gear_ratio", default=1.0)))
        if rotors[0].fault:
            own.add(f"{own.where}: {rotors[0].fault}")
    heavy = [rotor for rotor in rotors if rotor.inertia]
    if len(heavy) > 1:
        joint.warn(f"it has {len(heavy)} rotors; what they add to its inertia is summed up")
        return Rotor(sum(rotor.reflected for rotor in heavy))
    return (heavy or rotors or [Rotor()])[0]


def _mimic(joint: Place) -> Mimic | None:
    mimic = joint.only("mimic")
    leader = None if mimic is None else mimic.text("joint")
    if mimic is None or leader is None:
        return None
    ratio, offset = mimic.number("multiplier", default=1.0), mimic.number("offset", default=0.0)
    return Mimic(leader, ratio, offset)
