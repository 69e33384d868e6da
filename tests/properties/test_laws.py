"""Laws of mechanics that hold for every robot, to the last digits (derivatives by complex step)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armdyn import Robot
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.kinematics import jacobian
from armdyn.model.transform import rotation_about, transform
from support.peers import close
from support.random_robots import kinds, random_model, random_states, robots, seeds

STEP = 1e-30
driven = st.builds(random_model, kinds, seeds, st.booleans(), st.just(True), st.just(True))


def rate(function, q, qd):
    """The derivative of a function of q along qd, exact to rounding."""
    return function(q + 1j * STEP * qd).imag / STEP


@given(model=robots, seed=seeds)
def test_rate_of_mass_matrix_less_twice_coriolis_is_skew(model, seed):
    q, qd, _ = random_states(model, seed)
    M_rate = rate(lambda x: mass_matrix(model, x), q, qd)
    C = Robot(model).coriolis_matrix(q, qd)
    close(M_rate, C + C.T, 1e-11)


@given(model=robots, seed=seeds)
def test_coriolis_matrix_is_that_of_the_christoffel_symbols(model, seed):
    q, qd, _ = random_states(model, seed)
    robot = Robot(model)
    symbols = robot.christoffel(q)
    n = robot.n
    dM = [rate(lambda x: mass_matrix(model, x), q, e) for e in np.eye(n)]
    by_definition = np.array(
        [
            [[0.5 * (dM[k][i, j] + dM[j][i, k] - dM[i][j, k]) for k in range(n)] for j in range(n)]
            for i in range(n)
        ]
    )
    close(symbols, by_definition, 1e-11)
    close(robot.coriolis_matrix(q, qd), symbols @ qd, 1e-11)
    close(robot.coriolis_vector(q, qd), symbols @ qd @ qd, 1e-11)


@given(model=robots, seed=seeds)
def test_gravity_is_the_gradient_of_potential_energy(model, seed):
    q, _, _ = random_states(model, seed)
    gradient = [rate(lambda x: potential_energy(model, x), q, e) for e in np.eye(len(q))]
    close(Robot(model).gravity_vector(q), gradient, 1e-11)


@given(model=driven, seed=seeds)
def test_power_of_actuators_is_rate_of_energy_and_heat(model, seed):
    q, qd, qdd = random_states(model, seed)
    robot = Robot(model)
    M_rate = rate(lambda x: mass_matrix(model, x), q, qd)
    energy_rate = (
        qd @ robot.mass_matrix(q) @ qdd
        + 0.5 * qd @ M_rate @ qd
        + rate(lambda x: potential_energy(model, x), q, qd)
    )
    heat = qd @ robot.friction_torque(qd)
    assert heat > 0
    close(qd @ robot.inverse_dynamics(q, qd, qdd), energy_rate + heat, 1e-10)


@given(model=driven, seed=seeds)
def test_forward_dynamics_inverts_inverse_dynamics(model, seed):
    q, qd, qdd = random_states(model, seed, batch=(3,))
    wrench = np.random.default_rng(seed).normal(size=6)
    robot = Robot(model)
    tau = robot.inverse_dynamics(q, qd, qdd, wrench)
    for method in ("composite_body", "articulated_body", "denoc"):
        close(robot.forward_dynamics(q, qd, tau, wrench, method=method), qdd)


@given(model=driven, seed=seeds)
def test_mass_matrix_is_symmetric_positive_and_the_slope_of_torque(model, seed):
    q, qd, qdd = random_states(model, seed)
    robot = Robot(model)
    M = robot.mass_matrix(q)
    close(M, M.T, 1e-13)
    assert np.linalg.eigvalsh(M).min() > 0
    step = robot.inverse_dynamics(q, qd, qdd) - robot.inverse_dynamics(q, qd, 0 * qdd)
    close(step, M @ qdd, 1e-11)


@given(model=driven, seed=seeds)
def test_ledger_adds_up(model, seed):
    q, qd, qdd = random_states(model, seed, batch=(2,))
    wrench = np.random.default_rng(seed).normal(size=(2, 6))
    robot = Robot(model)
    ledger = robot.ledger(q, qd, qdd, wrench)
    close(ledger.total, robot.inverse_dynamics(q, qd, qdd, wrench), 1e-11)
    rubbing = ledger.viscous + ledger.coulomb + ledger.stribeck + ledger.offset
    close(rubbing, robot.friction_torque(qd), 1e-13)


@given(model=robots, seed=seeds)
def test_wrench_enters_by_the_transposed_jacobian(model, seed):
    q, qd, qdd = random_states(model, seed)
    wrench = np.random.default_rng(seed).normal(size=6)
    robot = Robot(model)
    free = robot.inverse_dynamics(q, qd, qdd)
    link = robot.link_names[seed % len(robot.link_names)]
    axes = ("world", "tool", "link1")[seed % 3]
    loaded = robot.inverse_dynamics(q, qd, qdd, wrench, wrench_link=link, wrench_frame=axes)
    J = robot.jacobian(q, axes, link)
    close(loaded, free - J.T @ wrench, 1e-11)
    for link in robot.link_names:
        on = {"wrench_link": link, "wrench_frame": axes, "formulation": "newton_euler"}
        frame = robot.model.frame(link), None if axes == "world" else robot.model.frame(axes)
        J = Coordinates.of(model).columns(
            jacobian(model, Coordinates.of(model).positions(q), *frame)
        )
        close(robot.inverse_dynamics(q, qd, qdd, wrench, **on), free - J.T @ wrench, 1e-11)


@given(model=robots, seed=seeds)
def test_jacobian_rate_is_the_derivative_of_the_entries(model, seed):
    q, qd, _ = random_states(model, seed)
    robot = Robot(model)
    J_rate = rate(lambda x: jacobian(model, x, model.tool_frame), q, qd)
    close(robot.jacobian_dot(q, qd), J_rate, 1e-11)
    step = 1e-5
    for axes in ("tool", "link1"):
        difference = robot.jacobian(q + step * qd, axes) - robot.jacobian(q - step * qd, axes)
        close(robot.jacobian_dot(q, qd, axes), difference / (2 * step), 1e-7)


@given(model=robots, seed=seeds)
def test_turning_base_and_gravity_together_changes_no_torque(model, seed):
    states = random_states(model, seed)
    turn = transform(rotation_about(np.array([0.6, 0.0, 0.8]), 1.1), (1.0, -2.0, 0.5))
    robot = Robot(model)
    turned = robot.with_base(turn @ model.base).with_gravity(turn[:3, :3] @ model.gravity)
    close(turned.inverse_dynamics(*states), robot.inverse_dynamics(*states), 1e-11)


@given(model=robots, seed=seeds, data=st.data())
def test_locked_joints_are_joints_that_stand_still(model, seed, data):
    q, qd, qdd = random_states(model, seed)
    if len(q) < 2:
        return
    joints = st.lists(st.integers(0, len(q) - 1), min_size=1, max_size=len(q) - 1, unique=True)
    held = data.draw(joints)
    qd[held], qdd[held] = 0.0, 0.0
    free = [i for i in range(len(q)) if i not in held]
    robot = Robot(model)
    locked = robot.with_locked({model.joints[i].name: q[i] for i in held})
    assert locked.joint_names == tuple(model.joints[i].name for i in free)
    tau = locked.inverse_dynamics(q[free], qd[free], qdd[free])
    close(tau, robot.inverse_dynamics(q, qd, qdd)[free], 1e-11)
    close(locked.forward_kinematics(q[free]), robot.forward_kinematics(q), 1e-11)
    assert {b.name for link in locked.model.links for b in link.bodies} <= set(robot.link_names)


@given(model=robots, seed=seeds)
def test_payload_is_a_body_at_the_tool_and_can_be_put_down(model, seed):
    states = random_states(model, seed)
    robot = Robot(model)
    com = np.array([0.1, -0.2, 0.3])
    loaded = robot.with_payload(1.5, com, np.diag([0.02, 0.03, 0.04]))
    q = states[0]
    R = robot.forward_kinematics(q)[:3, :3]
    weight = 1.5 * model.gravity
    hanging = np.concatenate([weight, np.cross(R @ com, weight)])
    holding = robot.inverse_dynamics(q, 0 * q, 0 * q, external_wrench=hanging)
    close(loaded.gravity_vector(q), holding, 1e-11)
    assert np.array_equal(
        loaded.without_payload().inverse_dynamics(*states), robot.inverse_dynamics(*states)
    )
    difference = np.linalg.eigvalsh(loaded.mass_matrix(q) - robot.mass_matrix(q))
    assert difference.min() > -1e-9


@given(model=robots, seed=seeds)
def test_configuration_space_form_gives_the_coriolis_vector(model, seed):
    q, qd, qdd = random_states(model, seed)
    robot = Robot(model)
    form = robot.configuration_space(q)
    j, k = np.triu_indices(robot.n, 1)
    tau = form.M @ qdd + form.B @ (qd[j] * qd[k]) + form.C @ qd**2 + form.G
    close(tau, robot.inverse_dynamics(q, qd, qdd), 1e-10)


@given(model=robots, seed=seeds)
def test_batches_of_any_shape_give_the_same_numbers(model, seed):
    q, qd, qdd = random_states(model, seed, batch=(2, 3))
    robot = Robot(model)
    together = robot.inverse_dynamics(q, qd, qdd)
    for index in np.ndindex(2, 3):
        close(together[index], robot.inverse_dynamics(q[index], qd[index], qdd[index]), 1e-13)
    spread = [np.broadcast_to(x, q.shape) for x in (q[0, 0], qd, qdd[0])]
    close(robot.inverse_dynamics(q[0, 0], qd, qdd[0]), robot.inverse_dynamics(*spread), 1e-13)
    empty = np.zeros((0, robot.n))
    assert robot.mass_matrix(empty).shape == (0, robot.n, robot.n)
    assert robot.forward_dynamics(empty, empty, empty).shape == (0, robot.n)
