"""The lengths of an arm that a design may change."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from armdyn.canonical.frames import CanonicalRobot, canonical
from armdyn.canonical.parameters import link_numbers, parameters
from armdyn.canonical.redesign import redesign
from armdyn.model import RobotModel


@dataclass(frozen=True, slots=True)
class Length:
    """A length that may change."""

    symbol: str
    joint: int
    """Index of the joint that it places."""
    along: bool
    """Whether it is the offset along the joint's own axis, not the length of the parent."""
    value: float
    low: float
    high: float


def movable_lengths(model: RobotModel, robot: CanonicalRobot) -> dict[str, tuple[int, bool]]:
    """The lengths that can change: by symbol, the joint placed and whether along its own axis.

    Moving the joint must change this one number and nothing else. That fails where the frames are
    placed so that a number is zero, as for a sliding axis, whose place has no meaning.
    """
    found = {}
    for i, (link, up) in enumerate(zip(robot.links, link_numbers(robot), strict=True)):
        if link.parent >= 0:
            for symbol, along in ((f"a{up}", False), (f"d{i + 1}", True)):
                if not (along and link.type.slides) and _movable(model, robot, i, along):
                    found[symbol] = (i, along)
    return found


def _movable(model: RobotModel, robot: CanonicalRobot, i: int, along: bool) -> bool:
    step = 0.1
    moved = canonical(redesign(model, {}, **{"offsets" if along else "lengths": {i: step}}))
    expected, found = (
        np.array([[*x.across, x.r, x.alpha, x.gamma, *x.J.flat, *x.u] for x in arm.links])
        for arm in (robot, moved)
    )
    expected[i, 3 if along else 0] += step
    return np.allclose(found, expected, rtol=1e-9, atol=1e-9)


def variable_lengths(
    model: RobotModel,
    robot: CanonicalRobot,
    movable: Mapping[str, tuple[int, bool]],
    symbols: Collection[str],
    limits: Mapping[str, tuple[float, float]],
) -> list[Length]:
    """The lengths among the symbols, with their values and bounds [m].

    A bound that is not given is zero or twice the length.
    """
    numbers, found = parameters(model, robot), []
    for symbol, (joint, along) in movable.items():
        if symbol in symbols:
            value = numbers[symbol].value
            usual = sorted((0.0, 2 * value)) if value else (0.0, robot_size(robot))
            low, high = limits.get(symbol, (-math.inf, math.inf))
            low = low if math.isfinite(low) else min(usual[0], high)
            high = high if math.isfinite(high) else max(usual[1], low)
            found.append(Length(symbol, joint, along, value, low, high))
    return found


def robot_size(robot: CanonicalRobot) -> float:
    """The largest length or distance of a centre of mass from its joint [m]; 1 if all are zero."""
    lengths = [float(np.linalg.norm(link.across)) for link in robot.links]
    offsets = [abs(float(link.r)) for link in robot.links]
    centres = [float(np.linalg.norm(link.u)) / link.M for link in robot.links if link.M > 0]
    return max([*lengths, *offsets, *centres]) or 1.0
