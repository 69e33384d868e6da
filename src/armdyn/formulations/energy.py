"""Energies of a robot."""

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.spatial import rotate
from armdyn.model import RobotModel


def potential_energy(model: RobotModel, q: Array) -> Array:
    """Energy of the moving links in the field of gravity: -Σ g·(m p_C), zero at the origin."""
    frames = world_frames(model, q)
    total = np.zeros(q.shape[:-1])
    for link, R, O in zip(model.links, frames.R, frames.O, strict=True):
        body = link.inertia
        total = total - (body.mass * O + rotate(R, body.first_moment)) @ model.gravity
    return total
