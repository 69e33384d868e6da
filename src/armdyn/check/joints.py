"""Limits, friction and drives that are missing, contradictory or in the wrong units."""

import math
from collections.abc import Callable, Iterator

from armdyn.model import Joint, RobotModel
from armdyn.model.validate import Finding, Level

FULL_TURN = 2 * math.pi


def joint_findings(model: RobotModel) -> Iterator[Finding]:
    """What is odd about the joints of a robot."""
    for joint in model.joints:
        for level, message in (*_limits(joint), *_friction(joint), *_drive(joint)):
            yield Finding(level, f"joint {joint.name!r}", message)
    yield from _missing_everywhere(model)


def _limits(joint: Joint) -> Iterator[tuple[Level, str]]:
    limits, unit, slides = joint.limits, joint.type.unit, not joint.type.turns
    largest = max((abs(v) for v in (limits.lower, limits.upper) if math.isfinite(v)), default=0.0)
    if slides and not _bounded(joint):
        yield "warning", "a sliding joint without limits of position"
    if limits.lower == limits.upper:
        yield "warning", f"both limits are {limits.lower:g} {unit}, so the joint cannot move"
    if not slides and 2 * FULL_TURN < largest <= 720:
        yield (
            "warning",
            f"limits {limits.lower:g} to {limits.upper:g} rad are {largest / FULL_TURN:.0f} turns; "
            "are these degrees?",
        )
    if slides and largest > 20:
        yield (
            "warning",
            f"limits {limits.lower:g} to {limits.upper:g} m are longer than a house; "
            "are these millimetres?",
        )
    if not slides and 60 < limits.velocity <= 720:
        yield "warning", f"a velocity limit of {limits.velocity:g} rad/s; are these degrees?"
    for what, value in (("velocity", limits.velocity), ("effort", limits.effort)):
        if value == 0:
            yield (
                "warning",
                f"the {what} limit is 0, which forbids all motion; leave it out if it is not known",
            )


def _friction(joint: Joint) -> Iterator[tuple[Level, str]]:
    for given in joint.friction.idle():
        yield "warning", f"{given} has no effect"
    dry = max(abs(joint.friction.static_level(direction)) for direction in (-1.0, 1.0))
    if 0 < joint.limits.effort < dry:
        yield (
            "warning",
            f"dry friction of {dry:g} exceeds the effort limit "
            f"{joint.limits.effort:g}, so the actuator cannot move the joint",
        )


def _drive(joint: Joint) -> Iterator[tuple[Level, str]]:
    rotor = joint.rotor
    if rotor.inertia == 0 and abs(rotor.gear_ratio) != 1:
        yield "note", f"the gear ratio {rotor.gear_ratio:g} has no effect without rotor inertia"
    if rotor.inertia and abs(rotor.gear_ratio) < 1:
        yield (
            "warning",
            f"the gear ratio {rotor.gear_ratio:g} makes the motor slower than the joint; it is the "
            "turns of the motor for one of the joint",
        )


def _missing_everywhere(model: RobotModel) -> Iterator[Finding]:
    """One note a kind of number that joints lack, not one a joint."""
    wanted: tuple[tuple[str, Callable[[Joint], bool]], ...] = (
        ("range of positions", lambda j: j.type.turns and not _bounded(j)),
        ("velocity limit", lambda j: math.isinf(j.limits.velocity)),
        ("effort limit", lambda j: math.isinf(j.limits.effort)),
    )
    for what, lacking in wanted:
        names = [joint.name for joint in model.joints if lacking(joint)]
        if names:
            which = "any joint" if len(names) == len(model.joints) else ", ".join(names)
            yield Finding("note", f"robot {model.name!r}", f"no {what} is given for {which}")
    if all(joint.friction.is_zero for joint in model.joints):
        text = "no joint has friction; torques are those of a frictionless arm"
        yield Finding("note", f"robot {model.name!r}", text)


def _bounded(joint: Joint) -> bool:
    return math.isfinite(joint.limits.lower) and math.isfinite(joint.limits.upper)
