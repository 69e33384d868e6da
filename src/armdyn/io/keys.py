"""The keys of tables: what rows of DH tables, robot files and edits may say, and in which units.

`KEYS` has the check of every number of a joint or a link. The functions below go between keys and
the parts of a robot: limits, friction, rotors, drives, inertias, springs.
"""

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_constant, check_number, frozen
from armdyn.errors import ModelError, check_known, is_one_of, shown
from armdyn.io.shapes import ShapeReader, rotation_from_keys
from armdyn.model import Drive, Inertia, Joint, Limits, RobotModel, Rotor, Spring
from armdyn.model.friction import PARAMETERS, FrictionLaw
from armdyn.model.transform import IDENTITY, inverse

Check = Callable[[str, Any], Any]
"""Of what a value is called in errors, and of the value; what it returns is used."""


def _bound(what: str, value: Any) -> float:
    """A number that may be infinite."""
    endless = isinstance(value, float) and math.isinf(value)
    return float(value) if endless else check_number(what, value)


def _magnitude(what: str, value: Any) -> float:
    number = _bound(what, value)
    if number < 0:
        raise ModelError(f"{what}: limits are magnitudes and cannot be negative, got {number:g}")
    return number


def _range(what: str, value: Any) -> tuple[float, float]:
    try:
        lower, upper = (_bound(what, end) for end in value)
    except (TypeError, ValueError):
        raise ModelError(f"{what} must be (lower, upper), got {shown(value)}") from None
    return lower, upper


def _tensor(what: str, value: Any) -> Array:
    """A tensor, given in full or by its diagonal."""
    if isinstance(value, Inertia):
        raise ModelError(f"{what} is a tensor; give a whole Inertia as shape")
    if np.shape(np.asarray(value, dtype=object)) == (3,):
        return np.diag(check_constant(what, value, (3,)))
    return check_constant(what, value, (3, 3))


def _about(what: str, value: Any) -> str:
    if not is_one_of(value, ("com", "origin")):
        raise ModelError(f"{what} must be 'com' or 'origin', got {shown(value)}")
    return str(value)


def _pair(what: str, value: Any) -> tuple[float, float]:
    """A number for each direction; a single one is for both."""
    both = value if isinstance(value, Sequence | np.ndarray) else (value, value)
    pair = check_constant(f"{what} (a number or a pair)", both, (2,))
    return float(pair[0]), float(pair[1])


def _one_or_pair(what: str, value: Any) -> float | tuple[float, float]:
    several = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    return _pair(what, value) if several else check_number(what, value)


PAIRS = {
    p.key: (f"{p.key}_positive", f"{p.key}_negative")
    for p in PARAMETERS.values()
    if p.key != p.name
}
"""Keys that may hold a number for each direction; a single number is for both directions."""
FRICTION: dict[str, Check] = {
    key: check_number if key not in PAIRS else _one_or_pair if key in PARAMETERS else _pair
    for key in (p.key for p in PARAMETERS.values())
}
LIMITS: dict[str, Check] = {
    "limits": _range,  # rad or m
    "lower": _bound,
    "upper": _bound,
    "velocity_limit": _magnitude,  # rad/s or m/s
    "effort_limit": _magnitude,  # N m or N
    "continuous_effort": _magnitude,
}
ROTOR: dict[str, Check] = {"rotor_inertia": check_number, "gear_ratio": check_number}  # kg m² or kg
_vector = partial(check_constant, shape=(3,))
INERTIA: dict[str, Check] = {
    "mass": check_number,  # kg
    "com": _vector,  # m
    "first_moment": _vector,  # kg m
    "inertia": _tensor,  # kg m²
    "inertia_about": _about,
}
GEOMETRY: dict[str, Check] = dict.fromkeys(("a", "d", "b", "pitch"), check_number)  # m, m/rad
GEOMETRY |= dict.fromkeys(("alpha", "theta", "gamma"), check_number)  # rad
KEYS: Mapping[str, Check] = LIMITS | ROTOR | FRICTION | INERTIA | GEOMETRY
"""The numbers of joints and links."""
FRICTION_KEYS = tuple(FRICTION)
"""Every key of friction in a table."""
MAGNITUDES = tuple(LIMITS)[3:]
JOINT_KEYS = ("limits", *MAGNITUDES, *ROTOR, *FRICTION)
"""What a joint of any table has, and what can be changed of it."""
BODY_KEYS = ("mass", "com", "inertia", "inertia_about", "shape")
"""What a link of any table has, and what can be changed of it."""
DRIVE_KEYS = ("name", "joints", *ROTOR, *FRICTION)
SPRING_KEYS = ("name", "link", "point", "other", "anchor", "stiffness", "free_length")
BASE = "base"
"""What the base is called where no link has that name."""


def checked_keys(where: str, given: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """The values of those of the keys that a table has, or a ModelError that names the key."""
    return {k: KEYS[k](f"{where}: {k}", given[k]) for k in keys if k in given}


def limits_from_keys(where: str, given: Mapping[str, Any]) -> Limits:
    """The limits that the keys of a table give; None, as no key, is no limit."""
    known = {key: value for key, value in given.items() if value is not None}
    values = checked_keys(where, known, LIMITS)
    if "limits" in values and ("lower" in values or "upper" in values):
        raise ModelError(f"{where}: give limits, or lower and upper, not both")
    ends = values.get("lower", -math.inf), values.get("upper", math.inf)
    lower, upper = values.get("limits", ends)
    if lower > upper:
        raise ModelError(
            f"{where}: limits must be (lower, upper), got {shown(given.get('limits', ends))}: the "
            f"lower limit {lower:g} is above the upper limit {upper:g}"
        )
    return Limits(lower, upper, *(values.get(key, math.inf) for key in MAGNITUDES))


def keys_from_limits(limits: Limits) -> Iterator[tuple[str, float | tuple[float, float]]]:
    """The keys of the limits that there are."""
    lower, upper, *magnitudes = astuple(limits)
    if math.isfinite(lower) and math.isfinite(upper):
        yield "limits", (lower, upper)
    elif math.isfinite(lower) or math.isfinite(upper):
        yield ("lower", lower) if math.isfinite(lower) else ("upper", upper)
    yield from (pair for pair in zip(MAGNITUDES, magnitudes, strict=True) if math.isfinite(pair[1]))


def inertia_from_keys(
    where: str, given: Mapping[str, Any], shapes: ShapeReader | None = None
) -> Inertia:
    """The body that the keys of a table give; shapes are read by the reader of the file."""
    if "shape" in given:
        for key in (*tuple(INERTIA)[1:], "inertia_rpy", "inertia_rotation"):
            if key in given:
                raise ModelError(f"{where}: give shape or {key}, not both")
        return (shapes or ShapeReader()).inertia(where, given["shape"], given.get("mass"))
    values = checked_keys(where, given, INERTIA)
    about, mass = values.get("inertia_about", "com"), values.get("mass", 0.0)
    tensor = values.get("inertia", np.zeros((3, 3)))
    com = values.get("com", np.zeros(3))
    if "com" in values and "first_moment" in values:
        raise ModelError(f"{where}: give com or first_moment, not both")
    if "first_moment" in values and about != "origin":
        raise ModelError(
            f"{where}: first_moment goes with inertia_about = 'origin'; give com instead"
        )
    axes = rotation_from_keys(where, given, "inertia_")
    if about == "com":
        return Inertia.from_com(mass, com, tensor, axes)
    moment = values.get("first_moment", mass * com)
    body = Inertia.from_origin(mass, moment, axes @ tensor @ axes.T)
    return replace(body, given_axes=frozen(axes))


def friction_from_keys(where: str, given: Mapping[str, Any]) -> FrictionLaw:
    """The law that the keys of a table give; other keys are left alone."""
    values: dict[str, float] = {}
    for key, value in checked_keys(where, given, FRICTION).items():
        values |= zip(PAIRS[key], value, strict=True) if isinstance(value, tuple) else {key: value}
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
    values = checked_keys(where, given, ROTOR)
    return Rotor(values.get("rotor_inertia", 0.0), values.get("gear_ratio", 1.0))


def joint_from_keys(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Limits, friction and rotor of a joint, as a `Connection` or a `Joint` takes them."""
    return {
        "limits": limits_from_keys(where, given),
        "friction": friction_from_keys(where, given),
        "rotor": rotor_from_keys(where, given),
    }


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
            last = len(model.links) - 1
            if not (-1 <= each.link <= last and -1 <= each.other <= last):
                raise ModelError(
                    f"spring {i}: {model.name!r} has the links 0 to {last} and the base, -1, got "
                    f"the links {each.link} and {each.other}"
                )
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
    check_known(f"{where}: link of {model.name!r} named", name, known)
    link, T = known[name]
    return link, frozen(T[:3, :3] @ place + T[:3, 3])
