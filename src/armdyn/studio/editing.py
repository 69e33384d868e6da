"""The numbers of a link and its joint as they are edited, and the robot that they make."""

import math
import tomllib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ModelError, shown
from armdyn.io import changes
from armdyn.io.friction import FRICTION_KEYS, friction_from_keys, keys_from_friction
from armdyn.model import RobotModel

NONE = "none"
"""What stands for a limit that is not known."""
LONGEST_TEXT = 400
"""Characters of a field at most."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """What can be edited of a part."""

    mass: float
    com: Array
    """In the frame that the part is named after, (3,) [m]."""
    moments: Array
    """Ixx, Iyy, Izz about the centre of mass [kg m²]."""
    products: Array
    """Ixy, Ixz, Iyz [kg m²]."""
    rotor_inertia: float
    gear_ratio: float
    friction: str
    """As in a table of a file: viscous = 0.1, coulomb = 0.5."""
    position: str
    """Limits of the joint: two numbers, or none."""
    velocity: str
    effort: str
    shape: str = ""
    """Instead of mass, centre and tensor: type = "box", size = [0.1, 0.1, 0.3], density = 2700."""


def numbers(model: RobotModel, part: Part) -> Numbers:
    """The present numbers of a part."""
    body = next(b for b in model.links[part.link].bodies if b.name == part.name)
    joint, inertia = model.joints[part.link], body.inertia
    tensor = np.asarray(inertia.moment_about_com)
    laws = keys_from_friction(joint.friction)
    friction = ", ".join(f"{key} = {_toml(value)}" for key, value in laws)
    ends = joint.limits.lower, joint.limits.upper
    return Numbers(
        float(inertia.mass), np.array(inertia.com), np.diag(tensor).copy(),
        tensor[[0, 0, 1], [1, 2, 2]], float(joint.rotor.inertia), float(joint.rotor.gear_ratio),
        friction, " ".join(map(_word, ends)) if np.isfinite(ends).any() else NONE,
        _word(joint.limits.velocity), _word(joint.limits.effort),
    )  # fmt: skip


def edited(model: RobotModel, part: Part, new: Numbers) -> RobotModel:
    """The robot with other numbers of a part.

    Raises:
        ModelError: A number or a text that means nothing; it names the link or the joint.
    """
    joint = model.joints[part.link].name
    if new.shape.strip():
        body: dict[str, Any] = {"shape": _table(f"shape of {part.name}", new.shape)}
    else:
        xx, yy, zz = new.moments
        xy, xz, yz = new.products
        tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        body = {"mass": new.mass, "com": list(new.com), "inertia": tensor}
    made: RobotModel = changes.with_link(model, part.name, None, body)
    friction = _table(f"friction of {joint}", new.friction)
    keys: dict[str, Any] = {
        "rotor_inertia": new.rotor_inertia,
        "gear_ratio": new.gear_ratio,
        "limits": _limits(f"position limits of {joint}", new.position, 2),
        "velocity_limit": _limits(f"velocity limit of {joint}", new.velocity, 1),
        "effort_limit": _limits(f"effort limit of {joint}", new.effort, 1),
    }
    for key in friction:
        if key not in FRICTION_KEYS:
            raise ModelError(
                f"friction of {joint}: {shown(key)} is none of {', '.join(FRICTION_KEYS)}"
            )
    made = changes.with_joint(made, joint, keys)
    law = friction_from_keys(f"joint {joint!r}", friction)
    joints = (replace(j, friction=law) if j.name == joint else j for j in made.joints)
    return replace(made, joints=tuple(joints))


def _table(where: str, text: str) -> dict[str, Any]:
    """Keys and values as a file has them between braces."""
    if len(text) > LONGEST_TEXT or "\n" in text:
        raise ModelError(f"{where}: expected one line of at most {LONGEST_TEXT} characters")
    try:
        found: dict[str, Any] = tomllib.loads(f"x = {{{text.strip().rstrip(',')}}}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise ModelError(
            f"{where}: expected keys and values, as viscous = 0.1, coulomb = 0.5; {error}"
        ) from None
    return found


def _limits(where: str, text: str, count: int) -> Any:
    words = text.replace(",", " ").split()
    if text.strip() in ("", NONE):
        return None
    try:
        values = [math.inf if word == NONE else float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != count or any(map(math.isnan, values)):
        asked = "two numbers" if count == 2 else "a number"
        raise ModelError(f"{where}: expected {asked}, or {NONE!r}, got {shown(text)}")
    return tuple(values) if count == 2 else values[0]


def _word(value: float) -> str:
    return f"{value:.10g}" if math.isfinite(value) else NONE


def _toml(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else repr(float(value))
