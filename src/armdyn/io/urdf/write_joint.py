"""Joints for a URDF file."""

import math

from armdyn.arrays import Array
from armdyn.io.urdf.element import element, numbers, place
from armdyn.io.urdf.joint import DYNAMICS, FRICTION_WORDS, UNLIMITED
from armdyn.io.xml import Element
from armdyn.model import FrictionLaw, Joint, Limits, Mimic
from armdyn.model.friction import PARAMETERS, TERMS
from armdyn.model.friction.law import SMOOTH_VELOCITY


def fixed_joint(name: str, parent: str, child: str, placement: Array) -> Element:
    """A joint that does not move."""
    ends = (element("parent", link=parent), element("child", link=child))
    return element("joint", place("origin", placement), *ends, name=name, type="fixed")


def moving_joint(joint: Joint, parent: str, child: str) -> Element:
    """A joint that moves."""
    unlimited = math.isinf(joint.limits.lower) and math.isinf(joint.limits.upper)
    kind = joint.type.urdf[-1 if unlimited else 0]
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


def _dynamics(friction: FrictionLaw) -> Element | None:
    values = {key: getattr(friction, name) for key, name in DYNAMICS.items()}
    if not any(values.values()):
        return None
    return element("dynamics", **{key: numbers(value) for key, value in values.items()})


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
    rotor = joint.rotor
    words: dict[str, float] = {}
    if rotor.inertia or rotor.gear_ratio != 1:
        words |= {"rotor_inertia": rotor.inertia, "gear_ratio": rotor.gear_ratio}
    words |= _friction_words(joint.friction)
    if not words:
        return None
    return element("armdyn", **{key: numbers(value) for key, value in words.items()})


def _friction_words(law: FrictionLaw) -> dict[str, float]:
    """The parameters that <dynamics> cannot say, those of one term together."""
    usual = {name: parameter.default for name, parameter in PARAMETERS.items()}
    usual["coulomb_negative"] = law.coulomb_positive
    words: dict[str, float] = {}
    for parameters in (*(term.parameters for term in TERMS), (SMOOTH_VELOCITY,)):
        names = [p.name for p in parameters if p.name in FRICTION_WORDS]
        if any(getattr(law, name) != usual[name] for name in names):
            words |= {name: min(getattr(law, name), UNLIMITED) for name in names}
    return words
