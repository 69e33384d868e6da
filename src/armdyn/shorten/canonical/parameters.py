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


def parameters(model: RobotModel, robot: CanonicalRobot | None = None) -> dict[str, float]:
    """Masses, centres of mass, inertias, rotors, lengths and offsets by symbol, zeros included."""
    robot = canonical(model) if robot is None else robot
    found: dict[str, float] = {}
    for i, (link, up) in enumerate(zip(robot.links, link_numbers(robot), strict=True), start=1):
        found |= _inertial(link, i)
        found |= {f"Ia{i}": model.joints[i - 1].rotor.reflected, f"d{i}": float(link.r)}
        if link.type.pitched:
            found[f"p{i}"] = float(link.type.slide)
        if link.parent >= 0:
            lengths = zip(LENGTHS, link.across, strict=True)
            found |= {name + up: float(value) for name, value in lengths}
    drives = enumerate(model.drives, start=len(robot.links) + 1)
    return found | {f"Ia{k}": drive.rotor.reflected for k, drive in drives}


def _inertial(link: CanonicalLink, i: int) -> dict[str, float]:
    mass, com, tensor = about_com(link.J, link.u, link.M)
    axes, first = (("mx", "my", "mz"), link.u) if not mass and np.any(link.u) else ("xyz", com)
    numbers = {"m": mass} | dict(zip(axes, first, strict=True))
    numbers |= {f"I{name}": tensor[a, b] for name, a, b in ENTRIES}
    return {f"{symbol}{i}": float(value) for symbol, value in numbers.items()}


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
