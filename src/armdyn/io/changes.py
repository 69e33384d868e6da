"""Changes of joints, links and limits by the keys that tables of robots have."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from armdyn.errors import ModelError, check_known, shown
from armdyn.io.dh import MAGNITUDES, inertia_from_keys, limits_from_keys
from armdyn.io.keys import FRICTION_KEYS, friction_from_keys, keys_from_motor, rotor_from_keys
from armdyn.model import Inertia, Joint, Limits, RobotModel
from armdyn.model.link import Body, Link

LIMIT_KEYS = ("limits", *MAGNITUDES)
JOINT_KEYS = (*LIMIT_KEYS, "rotor_inertia", "gear_ratio", *FRICTION_KEYS)
"""What can be changed of a joint, as in a row of a DH table."""
BODY_KEYS = ("mass", "com", "inertia", "inertia_about", "shape")
"""What can be changed of a link."""


def with_joint(model: RobotModel, name: str, keys: Mapping[str, Any]) -> RobotModel:
    """The robot with some numbers of a joint changed; others stay as they are."""
    check_known(f"joint of {model.name!r} named", name, [joint.name for joint in model.joints])
    for key in keys:
        check_known(f"number of a joint (of {name!r})", key, JOINT_KEYS)
    joints = tuple(_changed(j, keys) if j.name == name else j for j in model.joints)
    return replace(model, joints=joints, letters={})


def with_limits(
    model: RobotModel, position: Any = None, velocity: Any = None, effort: Any = None
) -> RobotModel:
    """The robot with other limits: for each kind one for each joint, or some by name."""
    given = {"limits": position, "velocity_limit": velocity, "effort_limit": effort}
    names = [model.joints[i].name for i in model.independent]
    for key, values in given.items():
        for name, value in _by_name(key, values, names):
            model = with_joint(model, name, {key: value})
    return model


def with_link(model: RobotModel, name: str, body: Inertia | None, keys: Mapping[str, Any]) -> Any:
    """The robot with another body as a part of a link, in the frame that the part is named after.

    It is given whole, or by the keys of a row of a DH table, of which others stay as they are.
    """
    parts = (model.base_link, *model.links)
    names = [part.name for link in parts for part in link.bodies]
    check_known(f"link of {model.name!r} named", name, names)
    for key in keys:
        check_known(f"number of a link (of {name!r})", key, BODY_KEYS)
    if (body is None) == (not keys):
        raise ModelError(f"link {name!r}: give an Inertia, or some of {', '.join(BODY_KEYS)}")
    if body is not None and not isinstance(body, Inertia):
        raise ModelError(f"link {name!r}: expected an armdyn.Inertia, got {shown(body)}")

    def changed(link: Link) -> Link:
        return Link(
            link.name, tuple(_other(b, body, keys) if b.name == name else b for b in link.bodies)
        )

    base, *links = map(changed, parts)
    return replace(model, base_link=base, links=tuple(links), letters={})


def _other(part: Body, body: Inertia | None, keys: Mapping[str, Any]) -> Body:
    if body is not None:
        return replace(part, inertia=body)
    given = dict(keys)
    if "shape" not in keys:
        now = part.inertia
        known = {"mass": now.mass, "com": now.com}
        if keys.get("inertia_about", "com") == "com" or "inertia" not in keys:
            known["inertia"] = now.moment_about_com
        given = known | given
    return replace(part, inertia=inertia_from_keys(f"link {part.name!r}", given))


def _changed(joint: Joint, keys: Mapping[str, Any]) -> Joint:
    where = f"joint {joint.name!r}"
    now = dict(keys_from_motor(joint)) | {
        "limits": (joint.limits.lower, joint.limits.upper),
        "velocity_limit": joint.limits.velocity,
        "effort_limit": joint.limits.effort,
        "continuous_effort": joint.limits.continuous_effort,
        "gear_ratio": joint.rotor.gear_ratio,
        "rotor_inertia": joint.rotor.inertia,
    }
    given = now | dict(keys)
    rotor = rotor_from_keys(where, given)
    if rotor.fault:
        raise ModelError(f"{where}: {rotor.fault}")
    friction = {key: given[key] for key in FRICTION_KEYS if key in given}
    return replace(
        joint,
        limits=_limits(where, given),
        rotor=rotor,
        friction=friction_from_keys(where, friction),
    )


def _limits(where: str, given: Mapping[str, Any]) -> Limits:
    known = {key: math.inf if value is None else value for key, value in given.items()}
    if given["limits"] is None:
        known["limits"] = (-math.inf, math.inf)
    return limits_from_keys(where, known)


def _by_name(key: str, values: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    if values is None:
        return []
    if isinstance(values, Mapping):
        return list(values.items())
    try:
        return list(zip(names, values, strict=True))
    except (TypeError, ValueError):
        raise ModelError(
            f"{key}: expected a mapping of joints to limits, or one for each of the joints "
            f"{', '.join(names)}, got {shown(values)}"
        ) from None
