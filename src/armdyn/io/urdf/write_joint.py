"""Joints for a URDF file."""

import math

from armdyn.arrays import Array
from armdyn.io.urdf.element import element, numbers, place
from armdyn.io.urdf.joint import UNLIMITED
from armdyn.io.xml import Element
from armdyn.model import Friction, Joint, Limits, Mimic


def fixed_joint(name: str, parent: str, child: str, placement: Array) -> Element:
    """A joint that does not move."""
    ends = (element("parent", link=parent), element("child", link=child))
    return element("joint", place("origin", placement), *ends, name=name, type="fixed")


def moving_joint(joint: Joint, parent: str, child: str) -> Element:
    """A revolute, continuous or prismatic joint."""
    unlimited = math.isinf(joint.limits.lower) and math.isinf(joint.limits.upper)
    kind = "continuous" if unlimited and not joint.prismatic else joint.kind
    return element(
        "joint",
        place("origin", joint.placement),
        element("parent", link=parent),
        element("child", link=child),
        element("axis", xyz=numbers(joint.axis)),
        _limit(joint.limits, kind),
        _dynamics(joint.friction),
        _mimic(joint.mimic),
        _joint_words(joint),
        name=joint.name,
        type=kind,
    )


def _limit(limits: Limits, kind: str) -> Element | None:
    values = {"effort": limits.effort, "velocity": limits.velocity}
    if kind != "continuous":
        values |= {"lower": limits.lower, "upper": limits.upper}
    elif math.isinf(limits.effort) and math.isinf(limits.velocity):
        return None
    finite = {key: min(max(value, -UNLIMITED), UNLIMITED) for key, value in values.items()}
    return element("limit", **{key: numbers(value) for key, value in finite.items()})


def _dynamics(friction: Friction) -> Element | None:
    if not (friction.viscous or friction.coulomb_positive):
        return None
    return element(
        "dynamics",
        damping=numbers(friction.viscous),
        friction=numbers(friction.coulomb_positive),
    )


def _mimic(mimic: Mimic | None) -> Element | None:
    if mimic is None:
        return None
    return element(
        "mimic",
        joint=mimic.leader,
        multiplier=numbers(mimic.multiplier),
        offset=numbers(mimic.offset),
    )


def _joint_words(joint: Joint) -> Element | None:
    friction, rotor = joint.friction, joint.rotor
    words: dict[str, float] = {}
    if rotor.inertia or rotor.gear_ratio != 1:
        words |= {"rotor_inertia": rotor.inertia, "gear_ratio": rotor.gear_ratio}
    if friction.coulomb_negative != friction.coulomb_positive:
        words["coulomb_negative"] = friction.coulomb_negative
    if friction.stribeck or math.isfinite(friction.stribeck_velocity):
        words["stribeck"] = friction.stribeck
        words["stribeck_velocity"] = min(friction.stribeck_velocity, UNLIMITED)
    if friction.smooth_velocity:
        words["smooth_velocity"] = friction.smooth_velocity
    if not words:
        return None
    return element("armdyn", **{key: numbers(value) for key, value in words.items()})
