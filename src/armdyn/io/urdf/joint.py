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
from dataclasses import replace

from armdyn.arrays import Array
from armdyn.errors import UnsupportedJointError
from armdyn.io.attributes import Problems
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
JOINT_WORDS = ("rotor_inertia", "gear_ratio", "continuous_effort", *FRICTION_WORDS)


def connection_from_element(
    joint: XmlElement, problems: Problems, root: str | None, fix_root: bool
) -> Connection | None:
    """The joint, or None if it cannot be told; what is wrong goes to `problems`.

    With `fix_root`, floating and planar joints on the one link `root` are taken as fixed.
    """
    name = problems.text(joint, "name", "a joint")
    if name is None:
        return None
    where = f"joint {name!r}"
    ends = [
        None if element is None else problems.text(element, "link", where)
        for element in (problems.needed(joint, tag, where) for tag in ("parent", "child"))
    ]
    kind = _kind(joint, where, problems, _off_root(ends[0], root), fix_root)
    placement = problems.origin(problems.only(joint, "origin", where), where)
    if kind is None or not ends[0] or not ends[1]:
        return None
    if kind is FIXED:
        return Connection(name, kind, ends[0], ends[1], placement)
    if isinstance(kind, CompoundType):
        return _compound(joint, Connection(name, kind, ends[0], ends[1], placement), problems)
    own = problems.only(joint, "armdyn", where)
    if own is not None:
        check_words(own, JOINT_WORDS, where, problems)
    return Connection(
        name,
        kind,
        ends[0],
        ends[1],
        placement,
        axis=_axis(joint, where, problems),
        limits=_limits(joint, own, where, problems),
        friction=_friction(joint, own, where, problems),
        rotor=_rotor(own, where, problems),
        mimic=_mimic(joint, where, problems),
    )


def _compound(joint: XmlElement, bare: Connection, problems: Problems) -> Connection:
    """A joint with several coordinates, for which URDF has one number of each kind at the most."""
    where = f"joint {bare.name!r}"
    for tag in ("limit", "dynamics", "armdyn"):
        if (element := problems.only(joint, tag, where)) is not None:
            message = f"<{tag}> of a joint that turns and slides has no one unit and is left out"
            problems.warn(element, where, message)
    if (mimic := problems.only(joint, "mimic", where)) is not None:
        problems.add(mimic, f"{where} has several coordinates and cannot mimic another joint")
    return replace(bare, axis=_axis(joint, where, problems))


def check_words(own: XmlElement, words: tuple[str, ...], where: str, problems: Problems) -> None:
    """Note every attribute of an <armdyn> element that is none of its words."""
    for key in own.attributes:
        if key not in words:
            problems.add(
                own, f"{where}: <armdyn> has no attribute {key!r}; it knows {', '.join(words)}"
            )


def _off_root(parent: str | None, root: str | None) -> str:
    """Why a joint with that parent does not attach the robot to the world; empty if it does."""
    if root is None:
        return "this file has no single root link"
    return "" if parent == root else f"its parent is {parent!r} and the root is {root!r}"


def _kind(
    joint: XmlElement, where: str, problems: Problems, off_root: str, fix_root: bool
) -> JointType | CompoundType | None:
    given = problems.text(joint, "type", where)
    if given in FREE and not off_root and fix_root:
        return FIXED
    if given is None or given in KINDS:
        return None if given is None else KINDS[given]
    if given in FREE and not off_root:
        advice = "It attaches the robot to the world: pass fix_root=True (--fix-root) to fix it"
    elif given in FREE:
        advice = (
            "Only on the root link could it be taken as fixed, with fix_root=True (--fix-root), "
            f"but {off_root}"
        )
    else:
        advice = "There is no such type in URDF"
    problems.add(
        joint,
        f"{where} is of type {given!r}; armdyn handles {', '.join(KINDS)}. {advice}",
        UnsupportedJointError,
    )
    return None


def _axis(joint: XmlElement, where: str, problems: Problems) -> Array:
    element = problems.only(joint, "axis", where) or joint
    axis = problems.vector(element, "xyz", where, default=(1.0, 0.0, 0.0))
    length = math.hypot(*axis)
    if length < 1e-9:
        problems.add(element, f"{where}: the axis {axis.tolist()} has no direction")
    elif abs(length - 1.0) > 1e-3:
        problems.warn(
            element,
            where,
            f"the axis {axis.tolist()} has the length {length:.6g} instead of 1; only its "
            "direction is used",
        )
    return axis


def _limits(joint: XmlElement, own: XmlElement | None, where: str, problems: Problems) -> Limits:
    element = problems.only(joint, "limit", where)
    continuous = math.inf
    if own is not None and "continuous_effort" in own.attributes:
        continuous = problems.number(own, "continuous_effort", where, default=math.inf, least=0.0)
    if element is None:
        return Limits(continuous_effort=continuous)

    def number(key: str, default: float, least: float = -math.inf) -> float:
        return _limitless(problems.number(element, key, where, default=default, least=least))

    lower, upper = -math.inf, math.inf
    if joint.attributes["type"] != "continuous" and {"lower", "upper"} & set(element.attributes):
        lower, upper = number("lower", 0.0), number("upper", 0.0)
    if lower > upper:
        text = f"the lower limit {lower:g} is above the upper {upper:g}; both are left out"
        problems.warn(element, where, text)
        lower, upper = -math.inf, math.inf
    speed, effort = (number(key, math.inf, least=0.0) for key in ("velocity", "effort"))
    return Limits(lower, upper, speed, effort, continuous)


def _limitless(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def _friction(
    joint: XmlElement, own: XmlElement | None, where: str, problems: Problems
) -> FrictionLaw:
    values: dict[str, float] = {}
    for element, names in (
        (problems.only(joint, "dynamics", where), DYNAMICS.items()),
        (own, zip(FRICTION_WORDS, FRICTION_WORDS, strict=True)),
    ):
        for key, name in names:
            if element is not None and key in element.attributes:
                least = -math.inf if PARAMETERS[name].signed else 0.0
                given = problems.number(element, key, where, default=0.0, least=least)
                values[name] = _limitless(max(given, least))
    if "viscous_negative" in values:
        values["viscous_positive"] = values.pop("viscous", 0.0)
    law = FrictionLaw(**{"coulomb_negative": values.get("coulomb_positive", 0.0)} | values)
    fault = law.fault or missing(law, values)
    if fault:
        problems.add(own or joint, f"{where}: {fault}")
    return law


def _rotor(own: XmlElement | None, where: str, problems: Problems) -> Rotor:
    if own is None:
        return Rotor()
    inertia = problems.number(own, "rotor_inertia", where, default=0.0, least=0.0)
    rotor = Rotor(max(inertia, 0.0), problems.number(own, "gear_ratio", where, default=1.0))
    if rotor.fault:
        problems.add(own, f"{where}: {rotor.fault}")
    return rotor


def _mimic(joint: XmlElement, where: str, problems: Problems) -> Mimic | None:
    element = problems.only(joint, "mimic", where)
    leader = None if element is None else problems.text(element, "joint", where)
    if element is None or leader is None:
        return None
    return Mimic(
        leader,
        problems.number(element, "multiplier", where, default=1.0),
        problems.number(element, "offset", where, default=0.0),
    )
