"""Laws of mechanics that hold for every robot, to the last digits (derivatives by complex step)."""

import numpy as np
import pytest

from armdyn import Robot
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.kinematics import jacobian
from armdyn.formulations.rotors import spin_loads
from armdyn.loops.coordinates import coordinates_of
from armdyn.model.transform import rotation_about, transform
from support.peers import close
from support.rotor_bodies import with_rotor_bodies

STEP = 1e-30


def rate(function, q, qd):
    """The derivative of a function of q along qd, exact to rounding."""
    return function(q + 1j * STEP * qd).imag / STEP


def link_masses(arm):
    """The mass matrix of links, and of rotors that spin, as a function of coordinates.

    These may be complex.
    """
    at, bodies = coordinates_of(arm.model), with_rotor_bodies(arm.model)

    def matrix(q):
        return at.matrix(bodies.matrix(mass_matrix(bodies.model, bodies.all(at.positions(q)))))

    return matrix


def height_energy(arm):
    """The potential energy as such a function."""
    at = coordinates_of(arm.model)
    return lambda q: potential_energy(arm.model, at.positions(q))


def test_rate_of_mass_matrix_less_twice_coriolis_is_skew(arm):
    q, qd, _ = arm.states()
    C = arm.robot.coriolis_matrix(q, qd)
    close(rate(link_masses(arm), q, qd), C + C.T, 1e-11)


def test_coriolis_matrix_is_that_of_the_christoffel_symbols(arm):
    (q, qd, _), robot = arm.states(), arm.robot
    symbols = robot.christoffel(q)
    dM = np.stack([rate(link_masses(arm), q, e) for e in np.eye(robot.n)], -1)
    by_definition = 0.5 * (dM + np.swapaxes(dM, 1, 2) - np.moveaxis(dM, 2, 0))
    close(symbols, by_definition, 1e-11)
    close(robot.coriolis_matrix(q, qd), symbols @ qd, 1e-11)
    close(robot.coriolis_vector(q, qd), symbols @ qd @ qd, 1e-11)


def test_gravity_is_the_gradient_of_potential_energy(arm):
    q, _, _ = arm.states()
    gradient = [rate(height_energy(arm), q, e) for e in np.eye(len(q))]
    close(arm.robot.gravity_vector(q), gradient, 1e-11)


def test_power_of_actuators_is_rate_of_energy_and_heat(arm):
    (q, qd, qdd), robot = arm.states(), arm.robot
    energy_rate = (
        qd @ robot.mass_matrix(q) @ qdd
        + 0.5 * qd @ rate(link_masses(arm), q, qd) @ qd
        + rate(height_energy(arm), q, qd)
    )
    heat = qd @ robot.friction_torque(qd)
    close(qd @ robot.inverse_dynamics(q, qd, qdd), energy_rate + heat, 1e-10)


def test_friction_but_its_offset_takes_energy_at_every_motor(arm):
    _, qd, _ = arm.states()
    model = arm.model
    rates = coordinates_of(model).with_drives().rates(qd)
    heat = [
        own.friction.torque(v, np.sign(v)) * v - own.friction.offset * v
        for own, v in zip(model.driven, rates, strict=True)
    ]
    assert all(h > 0 for h, own in zip(heat, model.driven, strict=True) if not own.friction.is_zero)
    offsets = sum(own.friction.offset * v for own, v in zip(model.driven, rates, strict=True))
    close(qd @ arm.robot.friction_torque(qd), sum(heat) + offsets, 1e-12)


def test_forward_dynamics_inverts_inverse_dynamics(arm):
    (q, qd, qdd), robot, wrench = arm.states(3), arm.robot, arm.wrench()
    tau = robot.inverse_dynamics(q, qd, qdd, wrench)
    close(
        robot.forward_dynamics(q, qd, tau, wrench),
        qdd,
        1e-13 * np.linalg.cond(robot.mass_matrix(q)).max(),
    )


def test_mass_matrix_is_symmetric_positive_and_the_slope_of_torque(arm):
    (q, qd, qdd), robot = arm.states(), arm.robot
    M = robot.mass_matrix(q)
    close(M, M.T, 1e-13)
    assert np.linalg.eigvalsh(M).min() > 0
    step = robot.inverse_dynamics(q, qd, qdd) - robot.inverse_dynamics(q, qd, 0 * qdd)
    close(step, M @ qdd, 1e-11)
    close(robot.kernel("momentum")(q, qd), M @ qd, 1e-12)


def test_ledger_adds_up(arm):
    (q, qd, qdd), robot, wrench = arm.states(2), arm.robot, arm.wrench(2)
    ledger = robot.ledger(q, qd, qdd, wrench)
    close(ledger.total, robot.inverse_dynamics(q, qd, qdd, wrench), 1e-11)
    rubbing = ledger.viscous + ledger.coulomb + ledger.stribeck + ledger.offset
    close(rubbing, robot.friction_torque(qd), 1e-13)
    close(ledger.gravity, robot.gravity_vector(q), 1e-11)
    masses = np.einsum("bij,bj->bi", robot.mass_matrix(q), qdd)
    from_rest, steady = robot.ledger(q, 0 * qd, qdd), robot.ledger(q, qd, 0 * qdd)
    close(ledger.inertial + ledger.rotor + from_rest.spin, masses, 1e-11)
    close(ledger.coriolis + steady.spin, robot.coriolis_vector(q, qd), 1e-11)


def test_energies_of_links_and_rotors_are_those_of_the_robot(arm):
    (q, qd, _), robot = arm.states(), arm.robot
    if arm.bodies == "regrouped":
        with pytest.warns(UserWarning, match="reduced set"):
            links = robot.link_energies(q, qd)
    else:
        links = robot.link_energies(q, qd)
    from_rest = robot.ledger(q, 0 * qd, qd)
    rotors = from_rest.rotor + from_rest.spin
    close(links.kinetic.sum() + 0.5 * qd @ rotors, robot.kinetic_energy(q, qd), 1e-12)
    close(links.potential.sum(), robot.potential_energy(q), 1e-12)


@pytest.mark.parametrize("axes", ["world", "tool", "link1"])
def test_wrench_enters_by_the_transposed_jacobian(arm, axes):
    states, robot, wrench = arm.states(), arm.robot, arm.wrench()
    free, at = robot.inverse_dynamics(*states), coordinates_of(arm.model)
    link = robot.link_names[arm.seed % len(robot.link_names)]
    on = {"wrench_link": link, "wrench_frame": axes}
    J = robot.jacobian(states[0], axes, link)
    close(robot.inverse_dynamics(*states, wrench, **on), free - J.T @ wrench, 1e-11)
    for link in robot.link_names:
        on |= {"wrench_link": link, "formulation": "newton_euler"}
        frame = arm.model.frame(link), None if axes == "world" else arm.model.frame(axes)
        J = at.columns(jacobian(arm.model, at.positions(states[0]), *frame))
        close(robot.inverse_dynamics(*states, wrench, **on), free - J.T @ wrench, 1e-11)


def test_jacobian_rate_is_the_derivative_of_the_entries(arm):
    (q, qd, _), robot, at = arm.states(), arm.robot, coordinates_of(arm.model)
    tool = arm.model.tool_frame

    def tool_jacobian(x):
        return at.columns(jacobian(arm.model, at.positions(x), tool))

    close(robot.jacobian_dot(q, qd), rate(tool_jacobian, q, qd), 1e-11)
    step = 1e-5
    for axes in ("tool", "link1"):
        difference = robot.jacobian(q + step * qd, axes) - robot.jacobian(q - step * qd, axes)
        close(robot.jacobian_dot(q, qd, axes), difference / (2 * step), 1e-7)


def test_frames_and_jacobians_of_links_are_those_of_each(arm):
    (q, qd, qdd), robot = arm.states(), arm.robot
    names = [link.name for link in arm.model.links]
    frames, jacobians = robot.link_frames(q), robot.link_jacobians(q)
    last = names[-1]
    close(frames[-1], robot.forward_kinematics(q, last), 1e-12)
    close(jacobians[-1], robot.jacobian(q, link=last), 1e-12)
    step = 1e-6
    moved = robot.link_frames(q + step * qd) - robot.link_frames(q - step * qd)
    close(moved[:, :3, 3] / (2 * step), jacobians[:, :3] @ qd, 1e-7)
    spin = np.einsum("kij,klj->kil", moved[:, :3, :3] / (2 * step), frames[:, :3, :3])
    turning = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], -1)
    close(turning, jacobians[:, 3:] @ qd, 1e-7)
    velocity, acceleration = robot.kernel("frame_motion")(q, qd, qdd)
    close(velocity, robot.jacobian(q) @ qd, 1e-12)
    close(acceleration, robot.jacobian(q) @ qdd + robot.jacobian_dot(q, qd) @ qd, 1e-11)


@pytest.mark.filterwarnings("ignore:.*reduced set")
def test_reactions_along_axes_are_torques_of_links(arm):
    (q, qd, qdd), robot = arm.states(), arm.robot
    at = coordinates_of(arm.model).at(q)
    joints, frames = arm.model.joints, robot.kernel("joint_frames")(q)
    wrenches = robot.reactions(q, qd, qdd)
    along = [
        joint.type.combine(frame[:3, :3] @ joint.axis @ w[:3], frame[:3, :3] @ joint.axis @ w[3:])
        for joint, frame, w in zip(joints, frames, wrenches, strict=True)
    ]
    motors = at.torques(spin_loads(arm.model, *at.motion(qd, qdd)).motors)
    motors = motors + robot.ledger(q, qd, qdd).rotor
    links = robot.inverse_dynamics(q, qd, qdd, friction=False) - motors
    close(at.torques(np.array(along)), links, 1e-11)


@pytest.mark.filterwarnings("ignore:the field .* points up")
def test_turning_base_and_gravity_together_changes_no_torque(arm):
    states, robot = arm.states(), arm.robot
    turn = transform(rotation_about(np.array([0.6, 0.0, 0.8]), 1.1), (1.0, -2.0, 0.5))
    turned = robot.with_base(turn @ arm.model.base).with_gravity(turn[:3, :3] @ arm.model.gravity)
    close(turned.inverse_dynamics(*states), robot.inverse_dynamics(*states), 1e-11)


@pytest.mark.arms(where=lambda arm: not arm.mimics and not arm.drives)
def test_locked_joints_are_joints_that_stand_still(arm):
    (q, qd, qdd), robot = arm.states(), arm.robot
    held = [i for i in range(robot.n) if (arm.seed >> i) & 1][: robot.n - 1] or [robot.n - 2]
    qd[held], qdd[held] = 0.0, 0.0
    free = [i for i in range(robot.n) if i not in held]
    locked = robot.with_locked({robot.joint_names[i]: q[i] for i in held})
    assert locked.joint_names == tuple(robot.joint_names[i] for i in free)
    tau = locked.inverse_dynamics(q[free], qd[free], qdd[free])
    close(tau, robot.inverse_dynamics(q, qd, qdd)[free], 1e-11)
    close(locked.forward_kinematics(q[free]), robot.forward_kinematics(q), 1e-11)
    assert {b.name for link in locked.model.links for b in link.bodies} <= set(robot.link_names)


@pytest.mark.arms(where=lambda arm: arm.bodies != "regrouped")
def test_payload_is_a_body_at_the_tool_and_can_be_put_down(arm):
    states, robot = arm.states(), arm.robot
    com = np.array([0.1, -0.2, 0.3])
    loaded = robot.with_payload(1.5, com, np.diag([0.02, 0.03, 0.04]))
    q = states[0]
    R = robot.forward_kinematics(q)[:3, :3]
    weight = 1.5 * arm.model.gravity
    hanging = np.concatenate([weight, np.cross(R @ com, weight)])
    holding = robot.inverse_dynamics(q, 0 * q, 0 * q, external_wrench=hanging, friction=False)
    close(loaded.gravity_vector(q), holding, 1e-11)
    put_down = loaded.without_payload()
    assert np.array_equal(put_down.inverse_dynamics(*states), robot.inverse_dynamics(*states))
    difference = np.linalg.eigvalsh(loaded.mass_matrix(q) - robot.mass_matrix(q))
    assert difference.min() > -1e-9
    argument = robot.kernel("inverse_dynamics", payload=True)
    body = robot.payload_vector(1.5, com, np.diag([0.02, 0.03, 0.04]))
    close(argument(*states, body), loaded.inverse_dynamics(*states), 1e-11)


def test_configuration_space_form_gives_the_torques(arm):
    (q, qd, qdd), robot = arm.states(), arm.robot
    form = robot.configuration_space(q)
    j, k = np.triu_indices(robot.n, 1)
    tau = form.M @ qdd + form.B @ (qd[j] * qd[k]) + form.C @ qd**2 + form.G
    close(tau, robot.inverse_dynamics(q, qd, qdd, friction=False), 1e-10)


@pytest.mark.arms(compiled=True)
def test_kernels_give_what_their_programs_say_to_batches_of_any_shape(arm):
    q, qd, qdd = arm.states(2, 3)
    robot = Robot(arm.model)
    together = robot.inverse_dynamics(q, qd, qdd)
    close(together, arm.robot.inverse_dynamics(q, qd, qdd), 1e-13)
    for index in np.ndindex(2, 3):
        one = robot.inverse_dynamics(q[index], qd[index], qdd[index])
        assert np.array_equal(together[index], one)
    spread = [np.broadcast_to(x, q.shape) for x in (q[0, 0], qd, qdd[0])]
    one_q = robot.inverse_dynamics(q[0, 0], qd, qdd[0])
    assert np.array_equal(one_q, robot.inverse_dynamics(*spread))
    empty = np.zeros((0, robot.n))
    assert robot.mass_matrix(empty).shape == (0, robot.n, robot.n)
    assert robot.forward_dynamics(empty, empty, empty).shape == (0, robot.n)
