"""The constants of the minimal formulation: gauges and units applied before any motion.

Everything here depends on the robot alone and costs nothing at run time.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

from armdyn.loops.values import Pair
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot, cos_sin
from armdyn.shorten.canonical.regroup import hand_down, is_zero, regroup, slide_origin
from armdyn.shorten.minimal.axes import Matrix, Scalar, Vector
from armdyn.shorten.minimal.choices import Choices, Unit


@dataclass(frozen=True, slots=True)
class Constants:
    """What link i is computed with; lengths and moments come in the units chosen (T8)."""

    J: Matrix
    spin: Scalar
    """Jxx + Jyy before the isotropic part was cleared: what resists turning about z."""
    force_u: Vector
    moment_u: Vector
    """First moment, as it enters forces, and as it enters moments."""
    M: Scalar
    """Mass: of a prismatic link, or kept at the origin of a revolute one."""
    across_out: Vector
    across_in: Vector
    """Position in the parent, as it enters accelerations, and as it enters moments; so r."""
    r_out: Scalar
    r_in: Scalar
    gravity: Vector
    """For a joint on the base: the field of gravity before its motion."""
    weight: Pair = (0.0, 0.0)
    """Torque of the weight per cosine and sine of the sum of angles, where weights are apart."""

    @property
    def outward(self) -> Hashable:
        """The constants that the motion of the link is computed with."""
        return self.across_out, self.r_out, self.r_in, self.gravity


@dataclass(frozen=True, slots=True)
class Units:
    """The units of accelerations of origins and of forces."""

    length: Scalar = 1.0
    force: Scalar = 1.0


def constants(robot: CanonicalRobot, choices: Choices) -> tuple[list[Constants], Units]:
    """The constants of every link, and the units they are in."""
    return constants_of_reduced(reduced(robot, choices), choices)


def constants_of_reduced(robot: CanonicalRobot, choices: Choices) -> tuple[list[Constants], Units]:
    """The same for a robot whose inertias have been handed down as chosen."""
    units = _units(robot, choices)
    result = [_constants(link, units) for link in robot.links]
    for i, choice in enumerate(choices.links):
        if choice.isotropic:
            _clear_isotropic(robot, result, i, choice.isotropic)
    if choices.weight_apart:
        for i, (link, path) in enumerate(zip(robot.links, robot.paths, strict=True)):
            # A and B of the torque A cos + B sin of the weight, at the sum of angles
            (x, y), (gx, gy) = link.u[:2], robot.links[path[0]].gravity[:2]
            weight = gx * y - gy * x, gx * x + gy * y
            result[i] = replace(result[i], weight=weight, gravity=(0.0, 0.0, 0.0))
    return result, units


def reduced(robot: CanonicalRobot, choices: Choices) -> CanonicalRobot:
    """The robot with its inertias handed down as chosen (T1, T7)."""
    robot = moved_origins(robot, choices)
    clear = ["xyz".index(c.point_mass) if c.point_mass else None for c in choices.links]
    return hand_down(robot, () if choices.weight_apart else clear)


def moved_origins(robot: CanonicalRobot, choices: Choices) -> CanonicalRobot:
    """The robot, regrouped if chosen, with the origins that pass their offsets on."""
    robot = regroup(robot) if choices.regrouped else robot
    for i, choice in enumerate(choices.links):
        robot = slide_origin(robot, i) if choice.passes_on else robot
    return robot


def _units(robot: CanonicalRobot, choices: Choices) -> Units:
    length: Scalar = 1.0
    if choices.length is not None:
        kind, value = choices.length[0], _constant(robot, choices.length)
        if not is_zero(value) and kind != "M":
            length = 1.0 / value if kind == "u" else value
    force: Scalar = 1.0
    if choices.force is not None:
        kind, value = choices.force[0], _constant(robot, choices.force)
        if not is_zero(value) and kind != "gravity":
            force = value * length if kind == "M" else value if kind == "u" else 1.0 / value
    return Units(length, force)


def _constant(robot: CanonicalRobot, unit: Unit) -> Scalar:
    kind, i, k = unit
    value = getattr(robot.links[i], kind)
    return value if kind in ("r", "M") else value[k]


def _constants(link: CanonicalLink, units: Units) -> Constants:
    def scaled(vector: Any, by: Scalar) -> Vector:
        x, y, z = (v * by for v in vector.tolist())
        return x, y, z

    def divided(vector: Any, by: Scalar) -> Vector:
        x, y, z = (0.0 if is_zero(v) else v / by for v in vector.tolist())
        return x, y, z

    J = tuple(map(tuple, link.J.tolist()))
    ratio = link.M if is_zero(link.M) else (link.M * units.length) / units.force
    return Constants(
        J,
        J[0][0] + J[1][1],
        divided(link.u, units.force),
        scaled(link.u, units.length),
        ratio,
        divided(link.across, units.length),
        scaled(link.across, units.force),
        0.0 if is_zero(link.r) else link.r / units.length,
        link.r * units.force,
        divided(link.gravity, units.length),
    )


def _clear_isotropic(robot: CanonicalRobot, result: list[Constants], i: int, entry: str) -> None:
    """Clear λ (1 - z zᵀ) of J: it turns with joint 1 alone, as λ sin²α, and about z (T5)."""
    first = robot.links[robot.paths[i][1]]
    J = [list(row) for row in result[i].J]
    k = "xyz".index(entry[0])
    shift = J[k][k]
    sa = cos_sin(first.alpha)[1]
    root = result[first.parent]
    result[first.parent] = replace(root, spin=root.spin + shift * (sa * sa))
    for axis in (0, 1):
        J[axis][axis] = 0.0 if axis == k else J[axis][axis] - shift
    result[i] = replace(result[i], J=tuple(map(tuple, J)))
