"""A robot with a joint, a rotor, a link or limits changed by the keys of tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from armdyn.errors import ModelError, check_all_known, check_known, shown
from armdyn.io.keys import (
    BODY_KEYS,
    JOINT_KEYS,
    NO_RATIO,
    inertia_from_keys,
    joint_from_keys,
    keys_from_motor,
    keys_from_part,
    named_place,
    rotor_from_keys,
)
from armdyn.model import Drive, Inertia, Joint, RobotModel, Rotor
from armdyn.model.edit import noted
from armdyn.model.link import Body, Link

Owner = TypeVar("Owner", Joint, Drive)


def with_joint(model: RobotModel, name: str, keys: Mapping[str, Any]) -> RobotModel:
    """The robot with some numbers of a joint changed; others stay as they are."""
    check_known(f"joint of {model.name!r} named", name, [joint.name for joint in model.joints])
    check_all_known(f"number of a joint (of {name!r})", keys, JOINT_KEYS)
    joints = tuple(_changed(j, keys) if j.name == name else j for j in model.joints)
    given = [f"{key} {shown(value)}" for key, value in keys.items() if "limit" not in key]
    model = noted(model, f"joint {name!r}: {', '.join(given)}") if given else model
    return replace(model, joints=joints, letters={})


def with_limits(
    model: RobotModel, position: Any = None, velocity: Any = None, effort: Any = None
) -> RobotModel:
    """The robot with other limits: for each kind one for each joint, or some by name."""
    given = {"limits": position, "velocity_limit": velocity, "effort_limit": effort}
    names = [joint.name for joint in model.coordinate_joints]
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
    check_all_known(f"number of a link (of {name!r})", keys, BODY_KEYS)
    if (body is None) == (not keys):
        raise ModelError(f"link {name!r}: give an Inertia, or some of {', '.join(BODY_KEYS)}")
    if body is not None and not isinstance(body, Inertia):
        raise ModelError(f"link {name!r}: expected an armdyn.Inertia, got {shown(body)}")

    def changed(link: Link) -> Link:
        return Link(
            link.name, tuple(_other(b, body, keys) if b.name == name else b for b in link.bodies)
        )

    base, *links = map(changed, parts)
    model = noted(model, f"link {name!r}: {', '.join(keys) or 'another body'}")
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
    where, limits = f"joint {joint.name!r}", joint.limits
    _check_ratio(where, joint.rotor, keys)
    now = {"limits": (limits.lower, limits.upper), **dict(keys_from_part(limits))}
    given = now | dict(keys_from_motor(joint)) | dict(keys)
    return replace(joint, **joint_from_keys(where, given))


def with_rotor(model: RobotModel, name: str, keys: Mapping[str, Any]) -> RobotModel:
    """The robot with another rotor of a joint or drive; what is None stays as it is.

    Without an axis, it adds to the diagonal of the mass matrix alone.
    """
    names = [owner.name for owner in model.driven]
    check_known(f"joint or drive of {model.name!r} named", name, names)
    given = {key: value for key, value in keys.items() if value is not None}

    def changed(owner: Owner) -> Owner:
        if owner.name != name:
            return owner
        _check_ratio(f"rotor of {name!r}", owner.rotor, given)
        now = {k: v for k, v in keys_from_part(owner.rotor) if k in ("rotor_inertia", "gear_ratio")}
        return replace(owner, rotor=rotor_from_keys(f"rotor of {name!r}", now | given))

    return replace(
        noted(model, f"rotor of {name!r}: {', '.join(given) or 'its axis neglected'}"),
        joints=tuple(map(changed, model.joints)),
        drives=tuple(map(changed, model.drives)),
    )


def with_rotors_along_joints(model: RobotModel, ratio: float | None = None) -> RobotModel:
    """The robot with each rotor of a joint spinning about the axis of the joint on the parent.

    Descriptions that say neither axes nor carriers often mean that, and none says so. With a ratio,
    joints that turn without a rotor get one of that ratio, of no inertia yet.
    """
    for joint in model.joints:
        wanted = joint.rotor.inertia if ratio is None else joint.type.turns
        if wanted and not joint.rotor.spins:
            if ratio is not None and joint.rotor.inertia:
                raise ModelError(
                    f"joint {joint.name!r} of {model.name!r} has a rotor of which only the inertia "
                    "behind the gear is known, and has no place for another one; say how it spins "
                    f"with with_rotor({joint.name!r}, ...), or leave it out: rotor_inertia 0"
                )
            carrier, place = named_place(model, joint.parent)
            axis = place[:3, :3].T @ joint.placement[:3, :3] @ joint.axis
            keys = {"rotor_axis": axis, "rotor_carrier": carrier, "gear_ratio": ratio}
            model = with_rotor(model, joint.name, keys)
    return model


def with_elasticity(model: RobotModel, keys: Mapping[str, Any]) -> RobotModel:
    """The robot with other transmissions: by key a value for each joint, some by name, or one."""
    names = [joint.name for joint in model.coordinate_joints]
    given: dict[str, dict[str, Any]] = {}
    for key, values in keys.items():
        each = values if values is not None and np.ndim(values) else dict.fromkeys(names, values)
        each = values if isinstance(values, Mapping) else each
        for name, value in _by_name(key, each, names):
            if value is not None:
                given.setdefault(name, {})[key] = value
    for name, numbers in given.items():
        model = with_joint(model, name, numbers)
    return model


def _check_ratio(where: str, rotor: Rotor, keys: Mapping[str, Any]) -> None:
    """Refuse to make a rotor spin of which only the inertia behind the gear is known."""
    unknown = not rotor.spins and abs(rotor.gear_ratio) == 1
    if "rotor_axis" in keys and "gear_ratio" not in keys and unknown:
        raise ModelError(f"{where}: {NO_RATIO}")


def _by_name(key: str, values: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    if values is None:
        return []
    if isinstance(values, Mapping):
        return list(values.items())
    try:
        return list(zip(names, values, strict=True))
    except (TypeError, ValueError):
        raise ModelError(
            f"{key}: expected a mapping of joints to values, or one for each of the joints "
            f"{', '.join(names)}, got {shown(values)}"
        ) from None
