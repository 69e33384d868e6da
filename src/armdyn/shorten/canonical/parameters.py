"""The parameters of a robot by name: what equations are written in and what a design may change.

A robot is seen in its canonical frames (`armdyn.shorten.canonical.frames`): z_i on joint i, x_i
along the common normal to the next joint. Joints and links are counted from 1.

    m2              mass of link 2 [kg]
    x2 y2 z2        its centre of mass in frame 2 [m]
    Ixx2 ... Iyz2   its inertia tensor about the centre of mass, axes of frame 2 [kg m²]
    Ia2             inertia of rotor 2, felt at the joint [kg m² or kg]; rotors of drives that turn
                    with several joints follow those of the joints
    a1              length of link 1, from axis 1 to axis 2 [m]; a1_4 to axis 4 where it branches
    d2              offset along axis 2 [m]
    p2              pitch of joint 2, if it is helical [m/rad]
    alpha1          twist of link 1, from axis 1 to axis 2 [rad]
    phi2            offset of joint 2 [rad]
    Fv2 Fc2 ...     friction of joint 2, see `armdyn.model.friction`
    g               strength of gravity [m/s²]; gx, gy, gz where it is along no axis of the base

A link without mass that has a first moment (of a reduced parameter set) has mx2, my2, mz2 [kg m]
instead of a centre of mass, and its tensor is about the origin.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot, canonical

ENTRIES = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2))
"""Names and places of the six entries of a tensor."""
LENGTHS = ("a", "ay", "az")
"""Names of the position of an axis in the frame before it."""
MOMENT_TOLERANCE = 1e-13
"""Largest entry, relative to the moments it is a difference of, that counts as zero."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a robot."""

    symbol: str
    word: str
    """Its name for people: "link2.com.x"."""
    link: int
    value: float


def parameters(model: RobotModel, robot: CanonicalRobot | None = None) -> dict[str, Parameter]:
    """Masses, centres of mass, inertias, rotors, lengths and offsets by symbol, zeros included."""
    robot = canonical(model) if robot is None else robot
    found: dict[str, Parameter] = {}
    for i, (link, up) in enumerate(zip(robot.links, link_numbers(robot), strict=True)):
        rotor = model.joints[i].rotor.reflected
        numbers = [*_inertial(link, i), (f"Ia{i + 1}", "rotor", rotor)]
        numbers.append((f"d{i + 1}", "offset", float(link.r)))
        if link.type.pitched:
            numbers.append((f"p{i + 1}", "pitch", float(link.type.slide)))
        for symbol, part, value in numbers:
            found[symbol] = Parameter(symbol, f"link{i + 1}.{part}", i, value)
        if link.parent >= 0:
            branch = "".join(up.partition("_")[1:])
            for axis, name, value in zip(("", ".y", ".z"), LENGTHS, link.across, strict=True):
                word = f"link{link.parent + 1}.length{branch}{axis}"
                found[name + up] = Parameter(name + up, word, link.parent, float(value))
    for k, drive in enumerate(model.drives, start=1):
        last = int(np.flatnonzero(model.drive_ratios[k - 1])[-1])
        symbol = f"Ia{len(robot.links) + k}"
        found[symbol] = Parameter(symbol, f"drive{k}.rotor", last, drive.rotor.reflected)
    return found


def _inertial(link: CanonicalLink, i: int) -> Iterator[tuple[str, str, float]]:
    mass, com, tensor = about_com(link.J, link.u, link.M)
    n, has_com = i + 1, bool(mass)
    yield f"m{n}", "mass", mass
    vector = com if has_com or not np.any(link.u) else link.u
    for axis, value in zip("xyz", vector, strict=True):
        symbol = axis if vector is com else f"m{axis}"
        yield f"{symbol}{n}", f"{'com' if vector is com else 'moment'}.{axis}", float(value)
    for name, a, b in ENTRIES:
        yield f"I{name}{n}", f"inertia.{name}", float(tensor[a, b])


def about_com(J: Array, u: Array, mass: float) -> tuple[float, Array, Array]:
    """Mass, centre of mass (without mass the origin) and tensor about it, from J and u."""
    com = u / mass if mass else np.zeros(3)
    scale = MOMENT_TOLERANCE * np.abs(J).max(initial=0.0)
    centred = J - mass * np.outer(com, com)
    centred = np.where(np.abs(centred) <= scale, 0.0, centred)
    tensor = np.trace(centred) * np.eye(3) - centred
    return float(mass), com, np.where(np.abs(tensor) <= scale, 0.0, tensor)


def link_numbers(robot: CanonicalRobot) -> list[str]:
    """Number of each length and twist: "1" behind link 1, "1_4" for its second child, link 4."""
    up = [parent + 1 for parent in robot.parents]
    first = {p: i for i, p in reversed(list(enumerate(up)))}
    return [str(p) if first[p] == i else f"{p}_{i + 1}" for i, p in enumerate(up)]
