"""The numbers of a link and its joint as they are edited, and the robot that they make."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.errors import ModelError, shown
from armdyn.io import changes
from armdyn.io.keys import FRICTION_KEYS, friction_from_keys, keys_from_friction
from armdyn.model import FrictionLaw, Inertia, RobotModel
from armdyn.studio.fields import DIGITS, LONGEST_TEXT, NONE, typed, typed_limits, written


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A body of a link, and the joint that moves it."""

    name: str
    link: int
    depth: int
    """How many joints carry it."""


def parts(model: RobotModel) -> list[Part]:
    """The bodies that move, in the order of the tree."""
    return [
        Part(body.name, i, len(model.paths[i]))
        for i, link in enumerate(model.links)
        for body in link.bodies
        if not body.payload
    ]


@dataclass(frozen=True, slots=True)
class Numbers:
    """What can be edited of a part, as the text of its fields."""

    mass: str
    com: str
    """In the frame that the part is named after, three numbers [m]."""
    moments: str
    """Ixx, Iyy, Izz about the centre of mass [kg m²]."""
    products: str
    """Ixy, Ixz, Iyz [kg m²]."""
    rotor_inertia: str
    gear_ratio: str
    friction: str
    """As in a table of a file: viscous = 0.1, coulomb = 0.5."""
    position: str
    """Limits of the joint: two numbers, or none."""
    velocity: str
    effort: str
    shape: str = ""
    """Instead of mass, centre and tensor: type = "box", size = [0.1, 0.1, 0.3], density = 2700."""


def inertia_of(model: RobotModel, part: Part) -> Inertia:
    """The inertia of a part."""
    bodies = model.links[part.link].bodies
    return next(body.inertia for body in bodies if body.name == part.name)


def numbers(model: RobotModel, part: Part) -> Numbers:
    """The present numbers of a part."""
    joint, inertia = model.joints[part.link], inertia_of(model, part)
    tensor = np.asarray(inertia.moment_about_com)
    laws = keys_from_friction(joint.friction)
    friction = ", ".join(f"{key} = {_toml(value)}" for key, value in laws)
    ends = joint.limits.lower, joint.limits.upper
    return Numbers(
        written(inertia.mass), written(*inertia.com), written(*np.diag(tensor)),
        written(*tensor[[0, 0, 1], [1, 2, 2]]), written(joint.rotor.inertia),
        written(joint.rotor.gear_ratio), friction,
        written(*ends) if np.isfinite(ends).any() else NONE,
        written(joint.limits.velocity), written(joint.limits.effort),
    )  # fmt: skip


def edited(model: RobotModel, part: Part, new: Numbers) -> RobotModel:
    """The robot with other numbers of a part; what is not edited stays as exact as it was.

    Raises:
        ModelError: A number or a text that means nothing; it names the link or the joint.
    """
    now, joint = numbers(model, part), model.joints[part.link].name
    changed = {key for key in Numbers.__slots__ if getattr(new, key) != getattr(now, key)}
    body = _body(part, new, inertia_of(model, part), changed)
    made: RobotModel = changes.with_link(model, part.name, None, body) if body else model
    read: dict[str, tuple[str, Callable[[], Any]]] = {
        "rotor_inertia": (
            "rotor_inertia", lambda: typed(f"rotor of {joint}", new.rotor_inertia, 1)[0]),
        "gear_ratio": (
            "gear_ratio", lambda: typed(f"gear ratio of {joint}", new.gear_ratio, 1)[0]),
        "position": (
            "limits", lambda: typed_limits(f"position limits of {joint}", new.position, 2)),
        "velocity": (
            "velocity_limit", lambda: _only(f"velocity limit of {joint}", new.velocity)),
        "effort": (
            "effort_limit", lambda: _only(f"effort limit of {joint}", new.effort)),
    }  # fmt: skip
    keys = {key: value() for name, (key, value) in read.items() if name in changed}
    made = changes.with_joint(made, joint, keys) if keys else made
    if "friction" not in changed:
        return made
    law = _friction(joint, new.friction)
    joints = (replace(j, friction=law) if j.name == joint else j for j in made.joints)
    return replace(made, joints=tuple(joints))


def _body(part: Part, new: Numbers, now: Inertia, changed: set[str]) -> dict[str, Any]:
    """The keys of another body; empty if it is the same."""
    if new.shape.strip():
        return {"shape": _table(f"shape of {part.name}", new.shape)}
    if not changed & {"mass", "com", "moments", "products"}:
        return {}
    tensor, mass, centre = np.array(now.moment_about_com), float(now.mass), [*now.com]
    if "moments" in changed:
        np.fill_diagonal(tensor, typed(f"Ixx Iyy Izz of {part.name}", new.moments, 3))
    if "products" in changed:
        rows, columns = np.triu_indices(3, 1)
        tensor[rows, columns] = typed(f"Ixy Ixz Iyz of {part.name}", new.products, 3)
        tensor[columns, rows] = tensor[rows, columns]
    if "mass" in changed:
        (mass,) = typed(f"mass of {part.name}", new.mass, 1)
    if "com" in changed:
        centre = typed(f"centre of mass of {part.name}", new.com, 3)
    return {"mass": mass, "com": centre, "inertia": tensor.tolist()}


def _friction(joint: str, text: str) -> FrictionLaw:
    friction = _table(f"friction of {joint}", text)
    for key in friction:
        if key not in FRICTION_KEYS:
            raise ModelError(
                f"friction of {joint}: {shown(key)} is none of {', '.join(FRICTION_KEYS)}"
            )
    return friction_from_keys(f"joint {joint!r}", friction)


def _table(where: str, text: str) -> dict[str, Any]:
    """Keys and values as a file has them between braces."""
    if len(text) > LONGEST_TEXT:
        raise ModelError(f"{where}: expected at most {LONGEST_TEXT} characters, got {len(text)}")
    try:
        line = " ".join(text.split()).rstrip(",")
        found: dict[str, Any] = tomllib.loads(f"x = {{{line}}}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise ModelError(
            f"{where}: expected keys and values, as viscous = 0.1, coulomb = 0.5; {error}"
        ) from None
    return found


def _only(where: str, text: str) -> float | None:
    limits = typed_limits(where, text, 1)
    return None if limits is None else limits[0]


def _toml(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    words = ", ".join(f"{float(x):.{DIGITS}g}" for x in values)
    return f"[{words}]" if isinstance(value, tuple) else words
