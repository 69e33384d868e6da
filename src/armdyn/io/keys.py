"""The keys of tables: what rows of DH tables, robot files and edits may say, and in which units.

`KEYS` has the check of every number of a joint or a link. The functions below go between keys and
the parts of a robot: limits, friction, rotors, drives, inertias, springs; `edits` changes a robot
by them.

The inertia of a link may be made of one shape or several. A shape is an `Inertia`, or a mapping
with its `type` and lengths ("mesh": `file`, `scale`, `units`, `hull`), its `mass` or `density`, its
`axis`, its place in the frame of the link (`position`, `rpy` or `rotation`) and `hole` if it is cut
out.
"""

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armdyn.arrays import (
    Array,
    check_choice,
    check_constant,
    check_number,
    check_text,
    check_truth,
    frozen,
)
from armdyn.errors import ArmdynError, ModelError, check_all_known, check_known, require, shown
from armdyn.io.regular import check_path
from armdyn.model import (
    Drive,
    Inertia,
    Joint,
    JointSpring,
    Limits,
    RobotModel,
    Rotor,
    Spring,
    Transmission,
)
from armdyn.model.friction import PARAMETERS, FrictionLaw
from armdyn.model.inertia import SHAPES, given_mass
from armdyn.model.transform import (
    IDENTITY,
    check_transform,
    inverse,
    normalised,
    rotation_from_rpy,
    transform,
)
from armdyn.model.validate import Finding

MESH_KEYS = ("file", "scale", "units", "hull")
SUBSTANCE = ("mass", "density")
PLACEMENT = ("position", "rpy", "rotation")
UNIT_ROUNDING = 1e-15
"""How far the square of a unit vector may be from 1."""


@dataclass(frozen=True, slots=True, eq=False)
class ShapeReader:
    """Reads the shapes of one description."""

    folder: Path = Path()
    """Where the files of meshes are."""
    density: float | None = None
    """Density of shapes that say neither mass nor density [kg/m³]."""
    meshes: bool = True
    """Whether files of meshes may be read."""
    filled: list[str] = field(default_factory=list)
    """The places where that density was used, with the mass that it gave."""

    def inertia(self, where: str, given: Any, mass: Any = None) -> Inertia:
        """The body of one shape or several, in the frame of the link.

        `mass` is that of all shapes together, which then have the same density.
        """
        shapes = [given] if isinstance(given, Mapping | Inertia) else given
        if not isinstance(shapes, Sequence) or isinstance(shapes, str) or not shapes:
            raise ModelError(
                f"{where}: shape: expected a table such as {{type = 'box', size = [...]}}, an "
                f"Inertia, or a list of them, got {shown(given)}"
            )
        number = "" if shapes is not given else " {}"
        bodies: dict[bool, list[Inertia]] = {False: [], True: []}
        lone = len(shapes) == 1
        for i, shape in enumerate(shapes, start=1):
            place = f"{where}: shape{number.format(i)}"
            bodies[_is_hole(place, shape)].append(self._body(place, shape, mass, lone))
        if not bodies[False]:
            raise ModelError(f"{where}: shape: every shape is a hole; there is nothing to cut")
        try:
            total = sum(bodies[False], Inertia.zero())
            total = total - sum(bodies[True], Inertia.zero()) if bodies[True] else total
        except ModelError as error:
            raise ModelError(f"{where}: shape: {error}") from error
        if mass is not None and not lone:
            whole = given_mass(f"{where}: shape", mass, None, total.mass)
            total = Inertia.from_pseudo(whole / total.mass * total.pseudo)
        if mass is None and self.density is not None and any(map(_without_mass, shapes)):
            self.filled.append(f"{where} ({total.mass:.4g} kg)")
        return total

    def _body(self, where: str, shape: Any, mass: Any, lone: bool) -> Inertia:
        """One shape, as a body of its own mass or density, or of those of the link."""
        if mass is not None and not _without_mass(shape):
            raise ModelError(
                f"{where}: give the mass of the whole link, or the mass or density of each shape, "
                "not both"
            )
        if isinstance(shape, Inertia):
            return shape
        known = {key: value for key, value in shape.items() if key in SUBSTANCE}
        if mass is not None:
            known = {"mass": mass} if lone else {"density": 1.0}
        elif not known and self.density is not None:
            known = {"density": self.density}
        try:
            solid = self._solid(shape, known)
        except ArmdynError as error:
            raise ModelError(f"{where}: {error}") from error
        placed = any(key in shape for key in PLACEMENT)
        return solid.moved(placement_from_keys(where, shape)) if placed else solid

    def _solid(self, shape: Mapping[str, Any], known: dict[str, Any]) -> Inertia:
        kind = shape.get("type")
        check_known("type of shape", kind, (*SHAPES, "mesh"))
        lengths = MESH_KEYS if kind == "mesh" else SHAPES[str(kind)]
        axis = ("axis",) if "length" in lengths else ()
        every = ("type", *lengths, *axis, *SUBSTANCE, *PLACEMENT, "hole")
        check_all_known(f"key of a {kind}", shape, every)
        for key in lengths if kind != "mesh" else ("file",):
            if key not in shape:
                raise ModelError(f"a {kind} needs the key {key!r}")
        given = {key: shape[key] for key in (*lengths, *axis) if key in shape}
        if kind != "mesh":
            return getattr(Inertia, str(kind))(**given, **known)
        if not self.meshes:
            raise ModelError("files of meshes are not read here; give another shape")
        return Inertia.mesh(self.folder / check_path(given.pop("file")), **given, **known)


def density_findings(
    source: str, density: float | None, filled: Sequence[str]
) -> Iterator[Finding]:
    """Which links got their inertia from their shapes and the density that was asked for."""
    if density is None:
        return
    text = "changes nothing: no link has a shape and lacks its inertia"
    if filled:
        text = f"gives {', '.join(filled)} the inertia of uniform bodies of their shapes"
    text = f"density = {float(density):g} kg/m³ {text}"
    yield Finding("warning", source, f"{source}: {text}")


def _is_hole(where: str, shape: Any) -> bool:
    if isinstance(shape, Inertia):
        return False
    require(isinstance(shape, Mapping), where, "a table or an Inertia", shape, ModelError)
    return check_truth(f"{where}: hole", shape.get("hole", False))


def _without_mass(shape: Any) -> bool:
    return isinstance(shape, Mapping) and not any(key in shape for key in SUBSTANCE)


def rotation_from_keys(where: str, given: Mapping[str, Any], prefix: str = "") -> Array:
    """The rotation under `rpy` (angles about the fixed x, y, z axes) or `rotation` (3x3)."""
    rpy, rotation = f"{prefix}rpy", f"{prefix}rotation"
    if rpy in given and rotation in given:
        raise ModelError(f"{where}: give {rpy} or {rotation}, not both")
    if rotation not in given:
        return rotation_from_rpy(check_constant(f"{where}: {rpy}", given.get(rpy, (0, 0, 0)), (3,)))
    R = check_constant(f"{where}: {rotation}", given[rotation], (3, 3))
    return check_transform(f"{where}: {rotation}", transform(R))[:3, :3]


def placement_from_keys(where: str, given: Mapping[str, Any]) -> Array:
    """The 4x4 transform under `position` [m] and `rpy` [rad] or `rotation`."""
    place = check_constant(f"{where}: position", given.get("position", (0, 0, 0)), (3,))
    return transform(rotation_from_keys(where, given), place)


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


def _direction(what: str, value: Any) -> tuple[float, ...]:
    """A unit vector, which stays as it is if it is one."""
    given = check_constant(what, value, (3,))
    if np.abs(given).max() < 1e-9:
        raise ModelError(f"{what}: {given.tolist()} has no direction")
    is_unit = abs(given @ given - 1.0) <= UNIT_ROUNDING
    return tuple((given if is_unit else normalised(given)).tolist())


_side = partial(check_choice, choices=("motor", "link"))


class Field(NamedTuple):
    """What a part of a joint or drive has, as tables read and write it."""

    key: str
    part: type[Limits | Rotor | Transmission]
    attribute: str
    """Its name in that part."""
    check: Check


FIELDS = (
    Field("velocity_limit", Limits, "velocity", _magnitude),  # rad/s or m/s
    Field("effort_limit", Limits, "effort", _magnitude),  # N m or N
    Field("continuous_effort", Limits, "continuous_effort", _magnitude),
    Field("rotor_inertia", Rotor, "inertia", check_number),  # kg m² or kg
    Field("gear_ratio", Rotor, "gear_ratio", check_number),  # rad/rad or rad/m
    Field("rotor_axis", Rotor, "axis", _direction),
    Field("rotor_carrier", Rotor, "carrier", check_text),
    Field("transmission_stiffness", Transmission, "stiffness", check_number),  # N m/rad or N/m
    Field("transmission_damping", Transmission, "damping", check_number),  # N m s/rad or N s/m
    Field("friction_side", Transmission, "friction_side", _side),
)
MAGNITUDES = tuple(x.key for x in FIELDS if x.part is Limits)
ROTOR = tuple(x.key for x in FIELDS if x.part is Rotor)
TRANSMISSION = tuple(x.key for x in FIELDS if x.part is Transmission)
ENDS: dict[str, Check] = {"limits": _range, "lower": _bound, "upper": _bound}  # rad or m
_vector = partial(check_constant, shape=(3,))
INERTIA: dict[str, Check] = {
    "mass": check_number,  # kg
    "com": _vector,  # m
    "first_moment": _vector,  # kg m
    "inertia": _tensor,  # kg m²
    "inertia_about": partial(check_choice, choices=("com", "origin")),
}
GEOMETRY: dict[str, Check] = dict.fromkeys(("a", "d", "b", "pitch"), check_number)  # m, m/rad
GEOMETRY |= dict.fromkeys(("alpha", "theta", "gamma"), check_number)  # rad
KEYS: Mapping[str, Check] = {
    **ENDS, **{x.key: x.check for x in FIELDS}, **FRICTION, **INERTIA, **GEOMETRY
}  # fmt: skip
"""The numbers of joints and links."""
NO_RATIO = (
    "how fast a rotor spins needs its true gear_ratio, and only its inertia behind the gear is "
    "known; give the ratio beside the axis, signed, in rad/m for a slide, 1 for a direct drive"
)
"""Why a rotor cannot be known to spin."""
FRICTION_KEYS = tuple(FRICTION)
"""Every key of friction in a table."""
JOINT_KEYS = ("limits", *MAGNITUDES, *ROTOR, *TRANSMISSION, *FRICTION)
"""What a joint of any table has, and what can be changed of it."""
BODY_KEYS = ("mass", "com", "inertia", "inertia_about", "shape")
"""What a link of any table has, and what can be changed of it."""
DRIVE_KEYS = ("name", "joints", *ROTOR, *FRICTION)
SPRING_KEYS = (*("name", "joints", "link", "point", "other", "anchor", "stiffness", "free_length"),)
BASE = "base"
"""What the base is called where no link has that name."""


def checked_keys(where: str, given: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """The values of those of the keys that a table has, or a ModelError that names the key."""
    return {k: KEYS[k](f"{where}: {k}", given[k]) for k in keys if k in given}


def limits_from_keys(where: str, given: Mapping[str, Any]) -> Limits:
    """The limits that the keys of a table give; None, as no key, is no limit."""
    known = {key: value for key, value in given.items() if value is not None}
    values = checked_keys(where, known, (*ENDS, *MAGNITUDES))
    if "limits" in values and ("lower" in values or "upper" in values):
        raise ModelError(f"{where}: give limits, or lower and upper, not both")
    ends = values.get("lower", -math.inf), values.get("upper", math.inf)
    lower, upper = values.get("limits", ends)
    if lower > upper:
        raise ModelError(
            f"{where}: limits must be (lower, upper), got {shown(given.get('limits', ends))}: the "
            f"lower limit {lower:g} is above the upper limit {upper:g}"
        )
    return Limits(lower, upper, **_attributes(Limits, values))


def _attributes(part: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a part that values by their keys give."""
    return {x.attribute: values[x.key] for x in FIELDS if x.part is part and x.key in values}


def keys_from_part(part: Limits | Rotor | Transmission) -> Iterator[tuple[str, Any]]:
    """The keys of the fields of a part that there are."""
    every = ((x.key, getattr(part, x.attribute)) for x in FIELDS if x.part is type(part))
    return ((key, value) for key, value in every if value is not None and value != "")


def keys_from_limits(limits: Limits) -> Iterator[tuple[str, float | tuple[float, float]]]:
    """The keys of the limits that there are."""
    lower, upper = limits.lower, limits.upper
    if math.isfinite(lower) and math.isfinite(upper):
        yield "limits", (lower, upper)
    elif math.isfinite(lower) or math.isfinite(upper):
        yield ("lower", lower) if math.isfinite(lower) else ("upper", upper)
    yield from (pair for pair in keys_from_part(limits) if math.isfinite(pair[1]))


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
    rotor, friction = rotor_from_keys(where, given), friction_from_keys(where, given)
    return Drive(name, _ratios(where, given.get("joints")), rotor, friction)


def _ratios(where: str, joints: Any) -> tuple[tuple[str, float], ...]:
    """The joints that something turns with, and their ratios."""
    if not isinstance(joints, Mapping):
        raise ModelError(
            f"{where}: expected joints with the ratios that it turns with, as "
            f"joints = {{ joint5 = 1.0, joint6 = 1.0 }}, got {shown(joints)}"
        )
    return tuple((str(k), check_number(f"{where}: ratio of {k!r}", v)) for k, v in joints.items())


def rotor_from_keys(where: str, given: Mapping[str, Any]) -> Rotor:
    """The rotor that the keys of a table give; other keys are left alone."""
    if "rotor_axis" in given and "gear_ratio" not in given:
        raise ModelError(f"{where}: {NO_RATIO}")
    rotor = Rotor(**_attributes(Rotor, checked_keys(where, given, ROTOR)))
    if rotor.fault:
        raise ModelError(f"{where}: {rotor.fault}")
    return rotor


def joint_from_keys(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Limits, friction, rotor and transmission, as a `Connection` or a `Joint` takes them."""
    rotor = rotor_from_keys(where, given)
    return {
        "limits": limits_from_keys(where, given),
        "friction": friction_from_keys(where, given),
        "rotor": rotor,
        "transmission": transmission_from_keys(where, given, rotor),
    }


def transmission_from_keys(where: str, given: Mapping[str, Any], rotor: Rotor) -> Transmission:
    """The transmission behind a rotor that a table gives; None, as no key, is a rigid one."""
    known = {key: value for key, value in given.items() if value is not None}
    values = checked_keys(where, known, TRANSMISSION)
    if values and "transmission_stiffness" not in values:
        raise ModelError(
            f"{where}: {next(iter(values))} is of a transmission that gives; give its "
            "transmission_stiffness as well"
        )
    transmission = Transmission(**_attributes(Transmission, values))
    if fault := transmission.fault(rotor):
        raise ModelError(f"{where}: {fault}")
    return transmission


def _listed(what: str, given: Any) -> Sequence[Any]:
    """The mappings of several parts, or a ModelError."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise ModelError(f"{what}: expected a list of mappings, got {shown(given)}")
    return given


def _checked_name(where: str, given: Any, keys: Sequence[str], name: Any = None) -> str:
    """The name of a part, or a ModelError if it has none or has other keys than these."""
    require(isinstance(given, Mapping), where, "a mapping of keys to values", given, ModelError)
    check_all_known(f"{where}: key", given, keys)
    name = given.get("name", name)
    require(isinstance(name, str) and name, where, "a name", name, ModelError)
    return name


def keys_from_motor(owner: Joint | Drive) -> Iterator[tuple[str, float | tuple[float, ...]]]:
    """The keys of friction, rotor and transmission that are not as they would be without them."""
    yield from keys_from_friction(owner.friction)
    if owner.rotor != Rotor():
        yield from keys_from_part(owner.rotor)
    if isinstance(owner, Joint) and owner.transmission.gives:
        yield from keys_from_part(owner.transmission)


def with_springs(model: RobotModel, given: Any) -> RobotModel:
    """The robot with springs in place of those it has; each is a mapping, or a `Spring`."""
    springs: list[Spring | JointSpring] = []
    for i, each in enumerate(_listed("springs", given), start=1):
        if isinstance(each, JointSpring):
            springs.append(each if each.name else replace(each, name=f"spring{i}"))
        elif isinstance(each, Spring):
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


def spring_from_keys(
    model: RobotModel, where: str, given: Any, name: str = ""
) -> Spring | JointSpring:
    """The spring that the keys of a table give; `where` begins the errors."""
    name = _checked_name(where, given, SPRING_KEYS, name)
    winds = "joints" in given
    missing = [
        key for key in ("link", "stiffness") if key not in given and (key, winds) != ("link", True)
    ]
    if missing:
        raise ModelError(
            f"{where}: {missing[0]!r} is missing; expected a link, a point on it, the link that it "
            "is tied to, an anchor there and a stiffness [N/m], or the joints that wind it up and "
            "a stiffness [N m/rad]"
        )
    stiffness, length = (
        check_number(f"{where}: {key}", given.get(key, 0.0)) for key in ("stiffness", "free_length")
    )
    if winds:
        if ends := [key for key in ("link", "point", "other", "anchor") if key in given]:
            raise ModelError(f"{where}: give joints or {ends[0]}, not both")
        return JointSpring(_ratios(where, given["joints"]), stiffness, length, name)
    (link, point), (other, anchor) = (
        _end(model, where, given.get(at, BASE), key, given.get(key, (0.0, 0.0, 0.0)))
        for at, key in (("link", "point"), ("other", "anchor"))
    )
    return Spring(link, point, other, anchor, stiffness, length, name)


def keys_from_spring(model: RobotModel, spring: Spring | JointSpring) -> Iterator[tuple[str, Any]]:
    """The keys that `spring_from_keys` reads, points in the frames that links are named after."""
    yield "name", spring.name
    ends: tuple[tuple[str, str, int, Array], ...] = ()
    if isinstance(spring, JointSpring):
        yield "joints", dict(spring.ratios)
    else:
        first = "link", "point", spring.link, spring.point
        ends = first, ("other", "anchor", spring.other, spring.anchor)
    for at, key, link, place in ends:
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
