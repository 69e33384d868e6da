"""Limits, friction and drives that are missing, contradictory or in the wrong units."""

import math
from collections.abc import Callable, Iterator

from armdyn.model import FrictionLaw, Joint, RobotModel
from armdyn.model.validate import Finding

FULL_TURN = 2 * math.pi
LARGEST_USUAL_EXPONENT = 3.0
"""Friction that grows faster with the speed than by this power looks like a mistake."""


def joint_findings(model: RobotModel) -> Iterator[Finding]:
    """What is odd about the joints of a robot."""
    for joint in model.joints:
        where, rotor = f"joint {joint.name!r}", joint.rotor
        for odd, message in _suspicions(joint):
            if odd:
                yield Finding("warning", where, message)
        if rotor.inertia == 0 and abs(rotor.gear_ratio) != 1:
            text = f"the gear ratio {rotor.gear_ratio:g} has no effect without rotor inertia"
            yield Finding("note", where, text)
    yield from _missing_everywhere(model)


def _suspicions(joint: Joint) -> Iterator[tuple[bool, str]]:
    """Messages, and whether they are true of the joint."""
    limits, turns, ratio = joint.limits, joint.type.turns, joint.rotor.gear_ratio
    hinge = turns and not joint.type.slides  # a screw makes many turns, and fast ones
    largest = max((abs(v) for v in (limits.lower, limits.upper) if math.isfinite(v)), default=0.0)
    span = f"limits {limits.lower:g} to {limits.upper:g}"
    yield not turns and not _bounded(joint), "a sliding joint without limits of position"
    yield (
        limits.lower == limits.upper,
        f"both limits are {limits.lower:g} {joint.type.unit}, so the joint cannot move",
    )
    yield (
        hinge and 2 * FULL_TURN < largest <= 720,
        f"{span} rad are {largest / FULL_TURN:.0f} turns; are these degrees?",
    )
    yield (
        not turns and largest > 20,
        f"{span} m are longer than a house; are these millimetres?",
    )
    yield (
        hinge and 60 < limits.velocity <= 720,
        f"a velocity limit of {limits.velocity:g} rad/s; are these degrees?",
    )
    for what, value in (("velocity", limits.velocity), ("effort", limits.effort)):
        yield (
            value == 0,
            f"the {what} limit is 0, which forbids all motion; leave it out if it is not known",
        )
    yield (
        limits.effort < limits.continuous_effort < math.inf,
        f"the continuous effort {limits.continuous_effort:g} exceeds the effort limit "
        f"{limits.effort:g}",
    )
    yield from _odd_friction(joint.friction, limits.effort)
    yield (
        joint.rotor.inertia != 0 and abs(ratio) < 1,
        f"the gear ratio {ratio:g} makes the motor slower than the joint; it is the turns of the "
        "motor for one of the joint",
    )


def _odd_friction(law: FrictionLaw, effort: float) -> Iterator[tuple[bool, str]]:
    for given in law.idle():
        yield True, f"{given} has no effect"
    level = max(abs(law.static_level(direction) + law.offset) for direction in (-1.0, 1.0))
    yield (
        0 < effort < level,
        f"dry friction{' with the offset' if law.offset else ''} of {level:g} exceeds the effort "
        f"limit {effort:g}, so the actuator cannot move the joint",
    )
    yield (
        law.power > 0 and law.power_exponent > LARGEST_USUAL_EXPONENT,
        f"friction grows with the speed to the power of {law.power_exponent:g}; a power law has an "
        f"exponent of {LARGEST_USUAL_EXPONENT:g} at most",
    )
    yield (
        bool(law.viscous_positive) != bool(law.viscous_negative),
        "viscous friction acts in one direction only",
    )


def _missing_everywhere(model: RobotModel) -> Iterator[Finding]:
    """One note a kind of number that joints lack, not one a joint."""
    where = f"robot {model.name!r}"
    wanted: tuple[tuple[str, Callable[[Joint], bool]], ...] = (
        ("range of positions", lambda j: j.type.turns and not _bounded(j)),
        ("velocity limit", lambda j: math.isinf(j.limits.velocity)),
        ("effort limit", lambda j: math.isinf(j.limits.effort)),
    )
    for what, lacking in wanted:
        driven = [joint for joint in model.joints if joint.actuated]
        names = [joint.name for joint in driven if lacking(joint)]
        if names:
            which = "any joint" if len(names) == len(driven) else ", ".join(names)
            yield Finding("note", where, f"no {what} is given for {which}")
    if model.is_frictionless:
        text = "no joint has friction; torques are those of a frictionless arm"
        yield Finding("note", where, text)


def _bounded(joint: Joint) -> bool:
    return math.isfinite(joint.limits.lower) and math.isfinite(joint.limits.upper)
