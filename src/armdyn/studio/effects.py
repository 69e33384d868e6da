"""What moves at the mass centres: velocities, and the forces that turning axes bring about."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.spatial import rotate
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel

STEP = 1e-4
"""Step of the differences, in radians or metres of the fastest joint."""


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """Vectors at the centres of mass of the links, in world axes, (N, 3) each."""

    points: Array
    velocities: Array
    """[m/s]."""
    centrifugal: Array
    """Minus mass times what each joint alone would accelerate the centre by, q̇ constant [N]."""
    coriolis: Array
    """The same of each two joints together [N]."""


def effects(model: RobotModel, q: Array, qd: Array) -> Effects:
    """The effects of velocities: second derivatives of the centres c(q) along q̇, and of each q̇_j.

    d²c/dt² at constant q̇ is Σ ∂²c/∂q_j∂q_k q̇_j q̇_k: terms with j = k are centrifugal, the others
    are those of Coriolis.
    """
    at = coordinates_of(model)
    coms = np.array([link.inertia.com for link in model.links])
    masses = np.array([link.inertia.mass for link in model.links])

    def centres(q: Array) -> Array:
        frames = world_frames(model, at.positions(q))
        R, O = np.reshape(frames.R, (-1, 3, 3)), np.reshape(frames.O, (-1, 3))
        return np.asarray(O + rotate(R, coms))

    here, fastest = centres(q), float(np.abs(qd).max(initial=0.0))
    if fastest == 0:
        still = np.zeros_like(here)
        return Effects(here, still, still, still)
    h = STEP / fastest

    def bent(rates: Array) -> tuple[Array, Array]:
        """First and second derivative of the centres along rates."""
        ahead, behind = centres(q + h * rates), centres(q - h * rates)
        return (ahead - behind) / (2 * h), (ahead - 2 * here + behind) / h**2

    velocities, whole = bent(qd)
    alone = np.zeros_like(here)
    for j in np.flatnonzero(qd):
        alone += bent(qd * (np.arange(len(qd)) == j))[1]
    force = -masses[:, None]
    return Effects(here, velocities, force * alone, force * (whole - alone))
