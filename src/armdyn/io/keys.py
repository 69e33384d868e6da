"""Friction, rotors, drives and springs in tables: between their keys and the parts of a robot."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number, frozen
from armdyn.errors import ModelError, UnknownNameError, check_known, shown
from armdyn.model import Drive, Joint, RobotModel, Rotor, Spring
from armdyn.model.friction import PARAMETERS, FrictionLaw
from armdyn.model.transform import IDENTITY, inverse

PAIRS = {
    p.key: (f"{p.key}_positive", f"{p.key}_negative")
    for p in PARAMETERS.values()
    if p.key != p.name
}
"""Keys that may hold a number for each direction; a single number is for both directions."""
FRICTION_KEYS = tuple(dict.fromkeys(parameter.key for parameter in PARAMETERS.values()))
"""Every key of friction in a table."""
DRIVE_KEYS = ("name", "joints", "rotor_inertia", "gear_ratio", *FRICTION_KEYS)
SPRING_KEYS = ("name", "link", "point", "other", "anchor", "stiffness", "free_length")
BASE = "base"
"""What the base is called where no link has that name."""


def friction_from_keys(where: str, given: Mapping[str, Any]) -> FrictionLaw:
    """The law that the keys of a table give; other keys are left alone."""
    values: dict[str, float] = {}
    for key in FRICTION_KEYS:
        if key not in given:
            continue
        value = given[key]
        several = isinstance(value, Sequence | np.ndarray)
        if key not in PARAMETERS or (several and key in PAIRS):
            both = value if several else (value, value)
            pair = check_constant(f"{where}: {key} (a number or a pair)", both, (2,))
            values |= zip(PAIRS[key], pair.tolist(), strict=True)
        else:
            values[key] = check_number(f"{where}: {key}", value)
    law = FrictionLaw(**values)
    if fault := missing(law, values) or law.fault:
        raise ModelError(f"{where}: {fault}")
    return law


def missing(law: FrictionLaw, given: Container[str]) -> str:
    """Which parameter was not given that another one needs, in words; empty if there is none."""
    for name, parameter in PARAMETERS.items():
        needed = parameter.needs
        if needed and getattr(law, name) and needed not in given:
            return f"{name} needs a positive {needed} [{PARAMETERS[needed].unit}]"
    return ""


def keys_from_friction(law: FrictionLaw) -> Iterator[tuple[str, float | tuple[float, ...]]]:
    """The keys and values of everything in a law that is not as it would be without them."""
    for key in FRICTION_KEYS:
        pair = tuple(getattr(law, name) for name in PAIRS.get(key, ()))
        if any(pair):
            one = key not in PARAMETERS and pair[0] == pair[1]
            yield key, pair[0] if one else pair
        elif key in PARAMETERS and getattr(law, key) != PARAMETERS[key].default:
            yield key, getattr(law, key)


def drives_from_keys(given: Any) -> tuple[Drive, ...]:
    """The drives that a sequence of mappings gives."""
    each = enumerate(_listed("drives", given), start=1)
    return tuple(drive_from_keys(f"drive {i}", keys) for i, keys in each)


def drive_from_keys(where: str, given: Any) -> Drive:
    """The drive that the keys of a table give; `where` begins the errors."""
    name = _checked_name(where, given, DRIVE_KEYS)
    joints = given.get("joints")
    if not isinstance(joints, Mapping):
        raise ModelError(
            f"{where}: expected joints with the ratios that the drive turns with, as "
            f"joints = {{ joint5 = 1.0, joint6 = 1.0 }}, got {shown(joints)}"
        )
    ratios = {str(k): check_number(f"{where}: ratio of {k!r}", v) for k, v in joints.items()}
    rotor, friction = rotor_from_keys(where, given), friction_from_keys(where, given)
    return Drive(name, tuple(ratios.items()), rotor, friction)


def rotor_from_keys(where: str, given: Mapping[str, Any]) -> Rotor:
    """The rotor that the keys of a table give; other keys are left alone."""
    usual = {"rotor_inertia": Rotor().inertia, "gear_ratio": Rotor().gear_ratio}
    return Rotor(*(check_number(f"{where}: {k}", given.get(k, x)) for k, x in usual.items()))


def _listed(what: str, given: Any) -> Sequence[Any]:
    """The mappings of several parts, or a ModelError."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise ModelError(f"{what}: expected a list of mappings, got {shown(given)}")
    return given


def _checked_name(where: str, given: Any, keys: Sequence[str], name: Any = None) -> str:
    """The name of a part, or a ModelError if it has none or has other keys than these."""
    if not isinstance(given, Mapping):
        raise ModelError(f"{where}: expected a mapping of keys to values, got {shown(given)}")
    for key in given:
        check_known(f"{where}: key", key, keys)
    name = given.get("name", name)
    if not isinstance(name, str) or not name:
        raise ModelError(f"{where}: expected a name, got {shown(name)}")
    return name


def keys_from_motor(owner: Joint | Drive) -> Iterator[tuple[str, float | tuple[float, ...]]]:
    """The keys of friction and rotor that are not as they would be without them."""
    yield from keys_from_friction(owner.friction)
    if owner.rotor.inertia or owner.rotor.gear_ratio != 1.0:
        yield "rotor_inertia", owner.rotor.inertia
        yield "gear_ratio", owner.rotor.gear_ratio


def with_springs(model: RobotModel, given: Any) -> RobotModel:
    """The robot with springs in place of those it has; each is a mapping, or a `Spring`."""
    springs = []
    for i, each in enumerate(_listed("springs", given), start=1):
        if isinstance(each, Spring):
            _check_link(model, f"spring {i}", each)
            springs.append(each if each.name else replace(each, name=f"spring{i}"))
        else:
            springs.append(spring_from_keys(model, f"spring {i}", each, f"spring{i}"))
    return replace(model, springs=tuple(springs))


def spring_from_keys(model: RobotModel, where: str, given: Any, name: str = "") -> Spring:
    """The spring that the keys of a table give; `where` begins the errors."""
    name = _checked_name(where, given, SPRING_KEYS, name)
    missing = [key for key in ("link", "stiffness") if key not in given]
    if missing:
        raise ModelError(
            f"{where}: {missing[0]!r} is missing; expected a link, a point on it, the link that it "
            "is tied to, an anchor there and a stiffness [N/m]"
        )
    (link, point), (other, anchor) = (
        _end(model, where, given.get(at, BASE), key, given.get(key, (0.0, 0.0, 0.0)))
        for at, key in (("link", "point"), ("other", "anchor"))
    )
    stiffness, length = (
        check_number(f"{where}: {key}", given.get(key, 0.0)) for key in ("stiffness", "free_length")
    )
    return Spring(link, point, other, anchor, stiffness, length, name)


def keys_from_spring(model: RobotModel, spring: Spring) -> Iterator[tuple[str, Any]]:
    """The keys that `spring_from_keys` reads, points in the frames that links are named after."""
    yield "name", spring.name
    for at, key, link, place in (
        ("link", "point", spring.link, spring.point),
        ("other", "anchor", spring.other, spring.anchor),
    ):
        name, T = named_place(model, link)
        T = inverse(T)
        yield at, name
        yield key, place if np.array_equal(T, IDENTITY) else T[:3, :3] @ place + T[:3, 3]
    yield "stiffness", spring.stiffness
    if spring.free_length:
        yield "free_length", spring.free_length


def named_place(model: RobotModel, link: int) -> tuple[str, Array]:
    """The name of a link, and the frame of that name on it, which is at the joint if none is."""
    name = (model.links[link] if link >= 0 else model.base_link).name
    found = (f.placement for f in model.frames if f.name == name and f.link == link)
    return name, next(found, IDENTITY)


def _end(model: RobotModel, where: str, name: Any, key: str, point: Any) -> tuple[int, Array]:
    """The link of an end and its place in the frame on the joint of that link."""
    place = check_constant(f"{where}: {key}", point, (3,))
    known = {BASE: (-1, IDENTITY)} | {
        link.name: (i, IDENTITY) for i, link in enumerate((model.base_link, *model.links), start=-1)
    }
    known |= {frame.name: (frame.link, frame.placement) for frame in model.frames}
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(f"{where}: link of {model.name!r} named", str(name), known)
    link, T = known[name]
    return link, frozen(T[:3, :3] @ place + T[:3, 3])


def _check_link(model: RobotModel, where: str, spring: Spring) -> None:
    last = len(model.links) - 1
    if not (-1 <= spring.link <= last and -1 <= spring.other <= last):
        raise ModelError(
            f"{where}: {model.name!r} has the links 0 to {last} and the base, -1, got the links "
            f"{spring.link} and {spring.other}"
        )
