"""Rates of torques along a motion, and what motors must do so that elastic joints follow one.

The torques of a motion are functions of q, q̇ and q̈, and so their rates are exact derivatives of
the program along it, with the jerk q⃛ and the snap q⁗:

    τ̇ = ∂τ/∂q q̇ + ∂τ/∂q̇ q̈ + ∂τ/∂q̈ q⃛        τ̈ the same of τ̇

Behind a transmission of stiffness K the link side needs σ = ID(q, q̇, q̈), which winds it up, and
the motor moves by θ, with B its inertia, all seen from the link:

    θ = q + σ/K    τ = B θ̈ + σ = B (q̈ + σ̈/K) + σ

This is the reduced model, in which rotors have the energy of their own spin alone, without damping.
Reference: M. Spong, Modeling and control of elastic joint robots, 1987; A. De Luca and W. Book,
Robots with flexible elements, Springer Handbook of Robotics, 2016, section 11.1.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.friction import friction_torque
from armdyn.graph.differentiate import jvp
from armdyn.model import FrictionLaw, Joint, RobotModel, Rotor, Transmission
from armdyn.quantities.quantity import TERMS, TORQUE_OPTIONS, quantity
from armdyn.quantities.traced_robot import TracedRobot


def elastic_joints(model: RobotModel) -> list[int]:
    """Which joints have transmissions that give."""
    return [i for i, joint in enumerate(model.joints) if joint.transmission.gives]


def link_side(model: RobotModel) -> RobotModel:
    """The robot beyond its transmissions: rotors there are locked in what carries them."""

    def beyond(joint: Joint) -> Joint:
        if not joint.transmission.gives:
            return joint
        stays = joint.transmission.friction_side == "link"
        law = joint.friction if stays else FrictionLaw()
        return replace(joint, rotor=Rotor(), friction=law, transmission=Transmission())

    return replace(model, joints=tuple(map(beyond, model.joints)))


def not_elastic(model: RobotModel) -> str:
    """Why a robot has no motors that move apart from their links; empty if it has some."""
    if not elastic_joints(model):
        return "no joint has a transmission_stiffness; give some by with_elasticity"
    faults = (f"joint {joint.name!r}: {joint.fault}" for joint in model.joints if joint.fault)
    return next(faults, "")


def not_invertible(model: RobotModel, damped: bool = False) -> str:
    """Why the snap of a motion does not say what the motors must do; empty if it does.

    With `damped`, as if damping did not matter.
    """
    if reason := not_elastic(model):
        return reason
    for joint in (model.joints[i] for i in elastic_joints(model)):
        if joint.rotor.spins:
            return (
                f"with a rotor that spins on its link, as that of {joint.name!r}, motors depend on "
                "two more derivatives of the motion for each joint, and are not computed; "
                "robot.elastic.reduced leaves the spin out"
            )
        if joint.transmission.damping and not damped:
            return (
                f"with damping, as in {joint.name!r}, the motor follows from the motion until "
                "then; robot.elastic.feedforward computes it along a motion"
            )
    return ""


Motion = tuple[Array, ...]
"""q, q̇, q̈, q⃛ and q⁗."""


class _Rates:
    """Rates along a motion q, q̇, q̈, q⃛, q⁗ of nodes."""

    def __init__(self, s: TracedRobot, motion: Motion):
        self.s, here = s, s.here(motion[0])
        turning = [*s.nodes(here.slopes @ motion[1])] if here.unknown else []
        self.symbols = [*here.unknown, *np.concatenate(motion[:4])]
        self.along = [*turning, *np.concatenate(motion[1:])]

    def __call__(self, torques: Array) -> list[Array]:
        """Torques with their first and second rates, (n,) each."""
        found = [self.s.nodes(torques)]
        for _ in range(2):
            nodes = jvp(found[-1], self.symbols, self.along)
            found.append(np.array(nodes, dtype=object))
        return found


def _torques(s: TracedRobot, side: TracedRobot, motion: Motion) -> list[Array]:
    """Torques of one side of a robot with their rates, friction put aside."""
    rates, (q, qd, qdd, *_) = _Rates(side, motion), motion
    found = rates(side.torques(q, qd, qdd))
    if not s.request.friction:
        return found
    return [x + s.aside(f) for x, f in zip(found, rates(side.friction_torque(q, qd)), strict=True)]


def _jumping(model: RobotModel) -> str:
    """Why the torques of a robot have no rates; empty if they have."""
    for owner in model.driven:
        if owner.friction.jumps:
            return (
                f"the friction of {owner.name!r} jumps with the sign of the velocity, so that its "
                "torque has no rate; give it a smooth_velocity, or leave friction out "
                "(friction=False, --no-friction)"
            )
    return ""


_rates = partial(
    quantity, terms=tuple(term for term in TERMS if term != "wrench"), options=TORQUE_OPTIONS
)


@_rates(
    symbol="T",
    result="torques [{torque}], then their rates [{torque}/s] and the rates of these",
    shape=(3, "n"),
    jumping=_jumping,
)
def _inverse_dynamics_rates(
    s: TracedRobot, q: Array, qd: Array, qdd: Array, qddd: Array, qdddd: Array
) -> Array:
    """Torques of the actuators for a motion, and their first and second rates along it."""
    return np.stack(_torques(s, s, (q, qd, qdd, qddd, qdddd)))


@_rates(
    symbol="U",
    result="torques of the motors [{torque}], then their positions [{unit}], velocities and "
    "accelerations; of a joint whose transmission is rigid those of the joint",
    shape=(4, "n"),
    absent=not_invertible,
    jumping=lambda model: _jumping(link_side(model)),
)
def _elastic_inverse_dynamics(
    s: TracedRobot, q: Array, qd: Array, qdd: Array, qddd: Array, qdddd: Array
) -> Array:
    """What motors behind transmissions that give must do for a motion of the links.

    It is torques, positions, velocities and accelerations, seen from the links.
    """
    # τ, θ, θ̇ and θ̈, (4, n); without a transmission θ is q
    side = replace(s, model=link_side(s.model))
    side.put_aside, side.groups = s.put_aside, s.groups
    sigma = _torques(s, side, (q, qd, qdd, qddd, qdddd))
    rows = {i: k for k, i in enumerate(s.model.independent)}
    elastic = elastic_joints(s.model)
    places = [rows[i] for i in elastic]
    compliance = np.zeros(s.n)
    compliance[places] = [1.0 / s.model.joints[i].transmission.stiffness for i in elastic]
    theta = [x + compliance * torque for x, torque in zip((q, qd, qdd), sigma, strict=True)]
    tau = s.nodes(sigma[0])
    tau[places] = tau[places] + s.rotors[elastic] * theta[2][places]
    if s.request.friction:
        at_motors = replace(s.model, joints=tuple(map(_motor_friction, s.model.joints)), drives=())
        every = s.nodes(np.zeros(len(s.model.joints)))
        every[elastic] = theta[1][places]
        felt = s.nodes(friction_torque(at_motors, every))
        tau[places] = tau[places] + s.aside(felt[elastic])
    return np.stack([tau, *map(s.nodes, theta)])


def _motor_friction(joint: Joint) -> Joint:
    """A joint with the friction that its motor has apart from the link."""
    own = joint.transmission.gives and joint.transmission.friction_side == "motor"
    return joint if own else replace(joint, friction=FrictionLaw())
