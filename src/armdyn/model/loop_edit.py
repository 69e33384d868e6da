"""Trees that loops close, and joints that follow others in them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from armdyn.arrays import Array, frozen
from armdyn.errors import UnknownNameError
from armdyn.model.cut_joints import COUPLING, CutJoint
from armdyn.model.joint import Joint
from armdyn.model.loop import Loop
from armdyn.model.robot import RobotModel
from armdyn.model.transform import check_transform


def loop_between(
    model: RobotModel,
    name: str,
    cut: CutJoint,
    a: tuple[str, Array],
    b: tuple[str, Array],
    length: float = 0.0,
) -> Loop:
    """A loop whose ends are places, (4, 4), in named frames of the robot."""
    (link_a, A), (link_b, B) = (
        (frame.link, frozen(frame.placement @ check_transform(f"loop {name!r}: end {end}", T)))
        for end, (link, T) in (("a", a), ("b", b))
        for frame in [model.frame(link)]
    )
    return Loop(name, cut, link_a, link_b, A, B, length)


def coupling_between(
    model: RobotModel, name: str, follower: str, leader: str, coefficients: Sequence[float]
) -> Loop:
    """A coupling of two joints by their names: q = c₀ + c₁ q_leader + c₂ q_leader² + ..."""
    names = [joint.name for joint in model.joints]
    for joint in (follower, leader):
        if joint not in names:
            raise UnknownNameError(f"joint coupled in {model.name!r} named", joint, names)
    ends = names.index(follower), names.index(leader)
    return Loop(name, COUPLING, *ends, coefficients=tuple(float(c) for c in coefficients))


def with_loops(
    model: RobotModel,
    loops: Sequence[Loop],
    passive: Collection[str],
    assembly: Mapping[str, float],
) -> RobotModel:
    """The robot with loops in place of those it has.

    Joints that mimic others are coupled to them in a robot with loops.

    Args:
        model: The robot.
        loops: Its cut joints and couplings.
        passive: Names of the joints that have no motor and follow from the loops; those that
            couplings move need not be named.
        assembly: Positions near which all loops are closed [rad or m]; 0 for joints without one.
    """
    names = [joint.name for joint in model.joints]
    for what, given in (("passive joint", passive), ("joint in the assembly", assembly)):
        for name in given:
            if name not in names:
                raise UnknownNameError(f"{what} of {model.name!r} named", name, names)
    every = (*loops, *mimic_couplings(model)) if loops else ()
    following = {loop.link_a for loop in every if loop.couples}

    def closed(i: int, joint: Joint) -> Joint:
        moved = joint.name not in passive and i not in following
        return replace(joint, actuated=moved, mimic=None if every else joint.mimic)

    return replace(
        model,
        joints=tuple(closed(i, joint) for i, joint in enumerate(model.joints)),
        loops=every,
        assembly=frozen([assembly.get(name, 0.0) for name in names]) if loops else None,
    )


def mimic_couplings(model: RobotModel) -> list[Loop]:
    """The joints that mimic others as couplings."""
    pairs = [(joint.name, joint.mimic) for joint in model.joints if joint.mimic is not None]
    return [
        coupling_between(
            model, f"{name} follows {m.leader}", name, m.leader, (m.offset, m.multiplier)
        )
        for name, m in pairs
    ]
