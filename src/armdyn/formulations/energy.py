"""The energy of a link, and of a robot.

With v of the origin of the frame on the joint, and h = m c and I about this origin,

    K_i = ½ m v·v + v·(ω×h) + ½ ω·I ω,    U_i = -g·(m O + h),  zero at the origin of the world,

and the Lagrangian is L = Σ K_i - Σ U_i, equation (2.3) of `lagrange_euler`.
"""

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import WorldFrames, velocities, world_frames
from armdyn.formulations.spatial import cross, dot, rotate, rotate_back
from armdyn.formulations.springs import spring_energy
from armdyn.model import RobotModel


@record
class LinkEnergies:
    """Energies of each moving link, (..., N) [J]; rotors are no links."""

    kinetic: Array
    potential: Array

    @classmethod
    def of(cls, rows: Array) -> "LinkEnergies":
        """Of both, (..., 2, N)."""
        return cls(rows[..., 0, :], rows[..., 1, :])


def link_energies(model: RobotModel, q: Array, qd: Array) -> LinkEnergies:
    """Energies of each link at positions and velocities of all joints, (..., N)."""
    frames = world_frames(model, q)
    w, v = velocities(model, frames, qd)
    kinetic = []
    for link, R, w_i, v_i in zip(model.links, frames.R, w, v, strict=True):
        body = link.inertia
        turning, along = rotate_back(R, w_i), rotate_back(R, v_i)
        momentum = 0.5 * body.mass * along + cross(turning, body.first_moment)
        kinetic.append(dot(along, momentum) + 0.5 * dot(turning, rotate(body.moment, turning)))
    return LinkEnergies(np.stack(kinetic, -1), np.stack(_potentials(model, frames), -1))


def potential_energy(model: RobotModel, q: Array) -> Array:
    """Energy of the moving links in the field of gravity, zero at the origin of the world.

    What springs have is in it.
    """
    springs = spring_energy(model, model.springs, q)
    return sum(_potentials(model, world_frames(model, q)), springs)


def _potentials(model: RobotModel, frames: WorldFrames) -> list[Array]:
    bodies = [link.inertia for link in model.links]
    return [
        -((body.mass * O + rotate(R, body.first_moment)) @ model.gravity)
        for body, R, O in zip(bodies, frames.R, frames.O, strict=True)
    ]
