"""Every quantity of a robot as a straight-line program.

Torques and mass matrices come from the minimal formulation, whatever follows from them by
differentiation comes from the graph, and kinematics from the pages of `armdyn.formulations`.
"""

from collections.abc import Callable, Mapping

import numpy as np

from armdyn.arrays import Array
from armdyn.compiler.program import Program
from armdyn.errors import SingularityError
from armdyn.expr.differentiate import jacobian as derivatives
from armdyn.expr.differentiate import jvp
from armdyn.expr.evaluate import settle
from armdyn.expr.visit import transcribe
from armdyn.formulations import kinematics as kin
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.friction import friction_rows
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.regressor import regressor
from armdyn.model import Frame, RobotModel
from armdyn.quantities.acceleration import acceleration, loads, solve
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot


def quantity_program(model: RobotModel, request: Request) -> Program:
    """The program of a quantity.

    Its arguments are those of `OPTIONS`, then payload, gravity and wrenches if they are asked for.
    """
    request.check(model)
    subject = TracedRobot(model, request)
    quantity = QUANTITIES[request.quantity]
    return program_of(subject, request.quantity, quantity, subject.inputs)


def program_of(
    subject: TracedRobot,
    what: str,
    quantity: Callable[[TracedRobot], Array],
    inputs: Mapping[str, int],
) -> Program:
    """The program of what a function makes of a robot in a graph.

    Args:
        subject: The robot.
        what: A name for it, for the message if it does not exist.
        quantity: From the robot to the entries.
        inputs: Length of each argument, in order.
    """
    try:
        outputs = subject.nodes(quantity(subject))
        settled = np.array(settle(outputs.flat), dtype=object).reshape(outputs.shape)
    except ZeroDivisionError:
        raise SingularityError(
            f"{what}: the mass matrix is singular whatever the configuration, because "
            f"a joint of {subject.model.name!r} moves no inertia; give its link a mass, or the "
            "joint a rotor inertia"
        ) from None
    return Program.from_outputs(settled, inputs)


def _inverse_dynamics(s: TracedRobot) -> Array:
    q, qd, qdd = map(s.vector, ("q", "qd", "qdd"))
    if s.request.method is not None:
        return _formulated(s, q, qd, qdd)
    return s.torques(q, qd, qdd) + s.friction(qd) + loads(s, q)


def _formulated(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    at, name = s.at, s.request.method or ""
    full = at.positions(q)
    motion = s.plain, full, at.rates(qd), at.rates(qdd)
    links = FORMULATIONS[name](*motion, s.wrench(full)).tau
    return at.torques(links + s.rotors * at.rates(qdd)) + s.friction(qd)


def _forward_dynamics(s: TracedRobot) -> Array:
    return acceleration(s, *map(s.vector, ("q", "qd", "tau")))


def _mass_matrix(s: TracedRobot) -> Array:
    return s.mass_matrix(s.vector("q"))


def _coriolis_matrix(s: TracedRobot) -> Array:
    """C_ij = ½ ∂(C q̇)_i/∂q̇_j: the vector is quadratic in the velocities, with symmetric c_ijk."""
    qd = s.vector("qd")
    return 0.5 * np.asarray(derivatives(list(s.nodes(_coriolis_vector(s))), list(qd)))


def _coriolis_vector(s: TracedRobot) -> Array:
    return s.torques(s.vector("q"), s.vector("qd"), s.zero, weight=False)


def _gravity_vector(s: TracedRobot) -> Array:
    return s.torques(s.vector("q"), s.zero, s.zero)


def _bias(s: TracedRobot) -> Array:
    qd = s.vector("qd")
    return s.torques(s.vector("q"), qd, s.zero) + s.friction(qd)


def _friction_torque(s: TracedRobot) -> Array:
    return s.friction_torque(s.vector("qd"))


def _ledger(s: TracedRobot) -> Array:
    """The terms of the torque in the order of `Ledger`, (8, n)."""
    q, qd, qdd = map(s.vector, ("q", "qd", "qdd"))
    at, still = s.at, s.zero
    friction = friction_rows(s.model, at.rates(qd))
    rotor = at.torques(s.rotors * at.rates(qdd))
    terms = {
        "inertial": s.links(q, still, qdd, weight=False),
        "coriolis": s.links(q, qd, still, weight=False),
        "gravity": s.links(q, still, still),
        **{row: at.torques(torque) for row, torque in friction.items()},
        "rotor": rotor,
        "external": loads(s, q),
    }
    return np.stack([terms[name] for name in Ledger.__slots__])


def _kinetic_energy(s: TracedRobot) -> Array:
    """½ q̇ᵀ (M q̇): M q̇ is the torque of the acceleration q̇ from rest."""
    qd = s.vector("qd")
    return 0.5 * (qd @ s.torques(s.vector("q"), s.zero, qd, weight=False))


def _potential_energy(s: TracedRobot) -> Array:
    return potential_energy(s.plain, s.at.positions(s.vector("q")))


def _forward_kinematics(s: TracedRobot) -> Array:
    frames = kin.world_frames(s.plain, s.at.positions(s.vector("q")))
    return homogeneous(*kin.frame_in_world(frames, s.plain.frame(s.request.link)))


def _jacobian(s: TracedRobot) -> Array:
    link, axes = _frames(s)
    return s.at.columns(kin.jacobian(s.plain, s.at.positions(s.vector("q")), link, axes))


def _jacobian_dot(s: TracedRobot) -> Array:
    link, axes = _frames(s)
    motion = s.at.positions(s.vector("q")), s.at.rates(s.vector("qd"))
    return s.at.columns(kin.jacobian_rate(s.plain, *motion, link, axes))


def _frames(s: TracedRobot) -> tuple[Frame, Frame | None]:
    axes = s.request.frame
    return s.plain.frame(s.request.link), None if axes == "world" else s.plain.frame(axes)


def _regressor(s: TracedRobot) -> Array:
    q, qd, qdd = map(s.vector, ("q", "qd", "qdd"))
    return s.at.rows(regressor(s.plain, s.at.positions(q), s.at.rates(qd), s.at.rates(qdd)))


def _base_regressor(s: TracedRobot) -> Array:
    return _regressor(s)[:, list(base_parameters(s.model).columns)]


def _torque_derivatives(s: TracedRobot) -> Array:
    """∂τ/∂q and ∂τ/∂q̇, (2, n, n)."""
    q, qd, qdd = map(s.vector, ("q", "qd", "qdd"))
    tau = list(s.nodes(s.torques(q, qd, qdd) + s.friction(qd)))
    return np.stack([derivatives(tau, list(q)), derivatives(tau, list(qd))])


def _torque_slope(s: TracedRobot) -> Array:
    """The change of the torques along a direction of q, and along one of q̇, (2, n)."""
    q, qd, qdd, dq, dqd = map(s.vector, ("q", "qd", "qdd", "dq", "dqd"))
    tau = list(s.nodes(s.torques(q, qd, qdd) + s.friction(qd)))
    return np.array([jvp(tau, list(q), list(dq)), jvp(tau, list(qd), list(dqd))])


def _acceleration_derivatives(s: TracedRobot) -> Array:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ, (3, n, n), by implicit differentiation (see `slopes`)."""
    q, qd, tau = map(s.vector, ("q", "qd", "tau"))
    qdd = s.graph.inputs("qdd", s.n)
    torques = list(s.nodes(s.torques(q, qd, qdd) + s.friction(qd)))
    slopes = [derivatives(torques, list(q)), derivatives(torques, list(qd))]
    M = s.nodes(s.mass_matrix(q))
    found = solve(s, M, tau - s.friction(qd) - s.torques(q, qd, s.zero))
    at_motion = substituted(np.concatenate([-slopes[0], -slopes[1]], -1), qdd, found)
    solved = solve(s, M, np.concatenate([at_motion, np.eye(s.n)], -1))
    return np.stack(np.split(solved, 3, -1))


def substituted(values: Array, symbols: Array, by: Array) -> Array:
    """Nodes with others in place of symbols."""
    known = dict(zip((x.index for x in symbols), by, strict=True))
    graph = symbols[0].graph
    made = transcribe(values.flat, graph, lambda node: known.get(node.index))
    return np.array(made, dtype=object).reshape(values.shape)


QUANTITIES: dict[str, Callable[[TracedRobot], Array]] = {
    "inverse_dynamics": _inverse_dynamics,
    "forward_dynamics": _forward_dynamics,
    "mass_matrix": _mass_matrix,
    "coriolis_matrix": _coriolis_matrix,
    "coriolis_vector": _coriolis_vector,
    "gravity_vector": _gravity_vector,
    "bias": _bias,
    "friction_torque": _friction_torque,
    "ledger": _ledger,
    "kinetic_energy": _kinetic_energy,
    "potential_energy": _potential_energy,
    "forward_kinematics": _forward_kinematics,
    "jacobian": _jacobian,
    "jacobian_dot": _jacobian_dot,
    "regressor": _regressor,
    "base_regressor": _base_regressor,
    "inverse_dynamics_derivatives": _torque_derivatives,
    "inverse_dynamics_slope": _torque_slope,
    "forward_dynamics_derivatives": _acceleration_derivatives,
}
"""For each name a function from a robot in a graph to the entries of the quantity."""
