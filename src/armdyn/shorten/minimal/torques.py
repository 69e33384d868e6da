"""The torques by the fewest operations known.

Links are in modified Denavit-Hartenberg frames, each with second moment J, first moment u and mass
M about its origin. With b = S(w') + S(w)² and al the acceleration of the origin (gravity included),
the inertial wrench of a link about its origin is

    F = M al + b u,    N = vee(b J - (b J)ᵀ) + u × al

summed inward as e and n, e leaving out what M = 0 leaves out. What makes it short:

    T1   inertia on a joint axis is handed to the parent, so Jzz = MZ = M = 0 on a revolute link
    T2   N from J and b, not from the inertia tensor: 13 products for a full link
    T3   the axis z_i is fixed in both links, so the third column of b_i is a column of b of the
         parent, turned about z_i; angular accelerations are never rotated
    T4   parallel joints: w, column and n go directly from and to the first axes of the group, with
         the sine and cosine of the sum of the angles
    T5   behind joint 1, J = λ (1 - z zᵀ) is felt by joint 1 as a constant and about z, nothing else
    T6   the last link is computed before its rotation, its constants being rotated instead
    T7   a mass kept at the origin of joint j may clear an entry of the first moment of its parent
    T8   accelerations and forces in units that make constants 1
    T9   which squares are formed, and 2 w_z where the angular acceleration is not needed
    T10  a twist that is no quarter turn, with its tangent

The choices are data (`choices`), fed floats it computes, fed nodes it is traced. Reference
for T1: M. Gautier and W. Khalil 1990; for b and e: M. Renaud 1987.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames, wrench_torques
from armdyn.model import RobotModel
from armdyn.shorten.canonical.frames import CanonicalRobot, canonical
from armdyn.shorten.minimal.axes import Scalar, Vector
from armdyn.shorten.minimal.choices import Choices
from armdyn.shorten.minimal.constants import constants
from armdyn.shorten.minimal.link import LinkLoad, MovingLink, inward
from armdyn.shorten.minimal.options import options


@dataclass(frozen=True, slots=True)
class Minimal:
    """The joint torques, (..., N)."""

    tau: Array


Rate = Array | float
"""Velocities or accelerations (..., N), or the number 0 where all are zero."""


def minimal(
    robot: CanonicalRobot, q: Array, qd: Rate, qdd: Rate, choices: Choices | None = None
) -> Minimal:
    """Joint torques of a tree of links in canonical frames, whose entries may be nodes."""
    choices = options(robot).start if choices is None else choices
    links = moving_links(robot, choices, q, qd, qdd)
    carried: list[list[LinkLoad]] = [[] for _ in links]
    tau: list[Scalar] = []
    for i, link in reversed(list(enumerate(links))):
        torque, load = inward(link, link.choice, link.fixed, carried[i])
        tau.append(np.broadcast_to(torque, q.shape[:-1]))
        if link.up is not None:
            carried[robot.links[i].parent].append(load)
    return Minimal(np.stack(tau[::-1], -1))


def moving_links(
    robot: CanonicalRobot, choices: Choices, q: Array, qd: Rate, qdd: Rate
) -> list[MovingLink]:
    """The links in motion; arguments as in `minimal`."""
    fixed, units = constants(robot, choices)
    states = states_of_joints(robot, q, qd, qdd)
    links: list[MovingLink] = []
    for i, (link, choice) in enumerate(zip(robot.links, choices.links, strict=True)):
        up = links[link.parent] if link.parent >= 0 else None
        links.append(MovingLink(link, choice, fixed[i], units, up, states[i]))
    return links


def states_of_joints(robot: CanonicalRobot, q: Array, qd: Rate, qdd: Rate) -> list[Vector]:
    """Position, velocity and acceleration of each joint, counted along its z axis."""
    q, qd, qdd = (np.broadcast_to(np.asarray(v), q.shape) for v in (q, qd, qdd))
    signs = enumerate(link.sign for link in robot.links)
    return [(s * q[..., i][()], s * qd[..., i][()], s * qdd[..., i][()]) for i, s in signs]


def minimal_torques(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Array | None = None
) -> Minimal:
    """Joint torques of any robot, its frames being found once; arguments as in `newton_euler`."""
    tau = minimal(_canonical(model), q, qd, qdd).tau
    if wrench is not None:
        tau = tau + wrench_torques(model, world_frames(model, q), wrench)
    return Minimal(tau)


_canonical = lru_cache(maxsize=64)(canonical)
