"""What can be exported: each function's result and arguments in words."""

from dataclasses import dataclass

_TENSOR = "Ixx, Ixy, Iyy, Ixz, Iyz, Izz"


@dataclass(frozen=True, slots=True)
class Result:
    """What a function gives."""

    name: str
    meaning: str
    about: str
    """What its entries are, with {torque}, {rate} and so on for the units."""
    solves: bool = False
    """Whether a mass matrix is solved for."""


RESULTS = {
    "inverse_dynamics": Result(
        "tau",
        "Torques of the actuators for a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + f(qd).",
        "torques, positive if they drive the joint forward [{torque}]",
    ),
    "forward_dynamics": Result(
        "qdd",
        "Accelerations that torques cause: M(q) qdd = tau - C(q, qd) qd - g(q) - f(qd). "
        "Not a number where the mass matrix is singular.",
        "accelerations [{acceleration}]",
        solves=True,
    ),
    "mass_matrix": Result("M", "The mass matrix, symmetric and full.", "the matrix [{inertia}]"),
    "coriolis_matrix": Result(
        "C",
        "The Coriolis matrix of the Christoffel symbols: dM/dt - 2 C is skew.",
        "the matrix, which times qd is a torque [{torque}]",
    ),
    "coriolis_vector": Result(
        "h", "Coriolis and centrifugal torques C(q, qd) qd.", "torques [{torque}]"
    ),
    "gravity_vector": Result(
        "g", "Torques that hold the arm at rest against gravity.", "torques [{torque}]"
    ),
    "bias": Result(
        "b",
        "Torques of a motion without acceleration: C(q, qd) qd + g(q) + f(qd).",
        "torques [{torque}]",
    ),
    "friction_torque": Result(
        "f", "What the actuators must add to overcome friction.", "torques [{torque}]"
    ),
    "ledger": Result(
        "L",
        "The torques of a motion, term by term.",
        "rows inertial, Coriolis, gravity, viscous, Coulomb, Stribeck, rotor, external [{torque}]",
    ),
    "kinetic_energy": Result("", "Kinetic energy, qd' M qd / 2.", "energy [J]"),
    "potential_energy": Result(
        "", "Energy in the field of gravity, zero at the world origin.", "energy [J]"
    ),
    "forward_kinematics": Result(
        "T",
        "The frame of {link} in the world.",
        "homogeneous transform, lengths in m: columns x, y, z, origin",
    ),
    "jacobian": Result(
        "J",
        "Geometric Jacobian of {link} in {frame} axes: (v, omega) = J qd.",
        "three linear rows [m/s], then three angular [rad/s], for each unit of qd",
    ),
    "jacobian_dot": Result(
        "Jd",
        "Derivative in time of the Jacobian of {link} in {frame} axes.",
        "three linear rows, then three angular",
    ),
    "regressor": Result(
        "Y",
        "The regressor of the links: tau = Y(q, qd, qdd) p without friction and rotors.",
        "Y; p has for each link m, m cx, m cy, m cz, " + _TENSOR + ", the tensor about the "
        "origin of the link",
    ),
    "base_regressor": Result(
        "Y",
        "The columns of the regressor that belong to the base parameters of the links.",
        "Y, without friction and rotors",
    ),
    "inverse_dynamics_derivatives": Result(
        "D", "Derivatives of the torques of a motion.", "dtau/dq, then dtau/dqd"
    ),
    "inverse_dynamics_slope": Result(
        "D",
        "Change of the torques of a motion along a direction dq, and along a direction dqd.",
        "(dtau/dq) dq, then (dtau/dqd) dqd",
    ),
    "forward_dynamics_derivatives": Result(
        "D",
        "Derivatives of the accelerations that torques cause. Not a number where the mass matrix "
        "is singular.",
        "dqdd/dq, then dqdd/dqd, then dqdd/dtau",
        solves=True,
    ),
}
ARGUMENTS = {
    "q": "positions [{unit}]",
    "qd": "velocities [{rate}]",
    "qdd": "accelerations [{acceleration}]",
    "tau": "torques of the actuators [{torque}]",
    "dq": "direction of q",
    "dqd": "direction of qd",
    "payload": "body at the tool, in tool axes: m, m cx, m cy, m cz, " + _TENSOR + " [kg, m]; the "
    "tensor about the origin of the tool",
    "gravity": "field of gravity, pointing down, world axes [m/s^2]",
}
