"""Where the mass of a robot is, how it moves with the joints, and the momentum that it has.

With the first moments s_i = m_i O_i + R_i h_i of the links in the world, the mass m of all links
and of the base, and sums over joint i and all that it carries,

    m c = Σ s_j,    m J_i = z_i × Σ (s_j - m_j O_i)   (revolute),    z_i Σ m_j   (prismatic)

The momentum is the wrench that the base receives for the acceleration q̇ from rest, without gravity;
about the centre of mass its moment is n - (c - O_0) × f. Rotors are in it as masses of links, and
by their own spin where its axis is known.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import spin_loads
from armdyn.formulations.spatial import cross, rotate
from armdyn.model import RobotModel
from armdyn.quantities.quantity import quantity
from armdyn.quantities.traced_robot import TracedRobot


def no_bodies(model: RobotModel) -> str:
    """Why the links of a robot are no bodies with a mass; empty if they are."""
    if model.reduced:
        return (
            "the inertias are a reduced set, which is right in torques but says neither masses nor "
            "centres of mass; take a description that has those of every link"
        )
    return "" if total_mass(model) else "neither its links nor its base have a mass"


_of_bodies = partial(quantity, fixed=("payload",), absent=no_bodies)


def total_mass(model: RobotModel) -> float:
    """Mass of the links and the base [kg]."""
    return float(sum(link.inertia.mass for link in (model.base_link, *model.links)))


def center_of_mass(model: RobotModel, q: Array) -> Array:
    """The centre of mass of the links and the base in the world at q (..., N), (..., 3) [m]."""
    frames = world_frames(model, q)
    bodies = ((i, link.inertia) for i, link in enumerate((model.base_link, *model.links), -1))
    moments = (
        body.mass * O + rotate(R, body.first_moment)
        for body, (R, O) in ((body, frames.link(i)) for i, body in bodies)
    )
    return sum(moments, np.zeros(3)) / total_mass(model)


@_of_bodies(
    symbol="Jc", result="three rows [m/s] for each unit of qd", shape=(3, "n"), terms=("links",)
)
def _center_of_mass_jacobian(s: TracedRobot, q: Array) -> Array:
    """Jacobian of the centre of mass in world axes: its velocity is J qd."""
    model, at = s.plain, s.here(q)
    frames = world_frames(model, at.q)
    masses = [link.inertia.mass for link in model.links]
    bodies = zip(model.links, frames.R, frames.O, strict=True)
    moments = [link.inertia.mass * O + R @ link.inertia.first_moment for link, R, O in bodies]
    columns = [at.q] * len(masses)
    for i, joint in reversed(list(enumerate(model.joints))):
        z, m, moment = frames.z[i], masses[i], moments[i]
        columns[i] = joint.type.combine(m * z, cross(z, moment - m * frames.O[i]))
        if joint.parent >= 0:
            masses[joint.parent] += m
            moments[joint.parent] = moments[joint.parent] + moment
    return at.columns(np.stack(columns, -1)) / total_mass(model)


@_of_bodies(
    symbol="Jcd", result="three rows [m/s^2] for each unit of qd", shape=(3, "n"), terms=("links",)
)
def _center_of_mass_jacobian_dot(s: TracedRobot, q: Array, qd: Array) -> Array:
    """Derivative in time of the Jacobian of the centre of mass."""
    J = s.nodes(_center_of_mass_jacobian.build(s, q))
    return np.array(s.along(list(J.flat), q, list(qd)), dtype=object).reshape(J.shape)


@_of_bodies(
    symbol="hG",
    result="linear momentum [kg m/s], then angular momentum [kg m^2/s]",
    shape=(6,),
    terms=("links",),
)
def _centroidal_momentum(s: TracedRobot, q: Array, qd: Array) -> Array:
    """Momentum of the links, and their angular momentum about the centre of mass, world axes."""
    at, rest = s.here(q), np.zeros(len(s.model.joints))
    still = replace(s.plain, gravity=frozen(np.zeros(3)))
    R, O = still.base[:3, :3], still.base[:3, 3]
    motion = at.q, rest, at.rates(qd)
    force, moment = (R @ v for v in newton_euler(still, *motion).base)
    if s.model.spins:  # they are no masses, so only the moment is another one
        spins = spin_loads(still, *motion, s.momenta)
        moment = R @ (newton_euler(still, *motion, spins.wrench).base[1] + spins.base)
    about_center = moment - cross(center_of_mass(still, at.q) - O, force)
    return np.concatenate([force, about_center])


@_of_bodies(symbol="c", result="position [m]", shape=(3,), terms=("links",))
def _center_of_mass(s: TracedRobot, q: Array) -> Array:
    """Centre of mass of the links and the base in the world."""
    return center_of_mass(s.plain, s.here(q).q)
