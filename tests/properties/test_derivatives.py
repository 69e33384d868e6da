"""Derivatives of the dynamics: Pinocchio's analytical ones, complex step and differences."""

import pickle
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn import Robot
from armdyn.errors import SingularityError
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model import FrictionLaw, Mimic
from armdyn.quantities.registry import quantity_program
from armdyn.quantities.request import Request
from support.peers import close, pin_model
from support.random_robots import kinds, random_model, random_states, seeds

STEP = 1e-30
driven = st.builds(random_model, kinds, seeds, st.booleans(), st.just(True), st.just(True))


def coupled(seed, friction=False):
    """A tree in which two joints follow others, one of them through the other."""
    model = random_model("RPRRR", seed, tree=True, rotors=True, friction=friction)
    joints = list(model.joints)
    joints[2] = replace(joints[2], mimic=Mimic(joints[0].name, -1.5, 0.2))
    joints[4] = replace(joints[4], mimic=Mimic(joints[2].name, 0.7, -0.1))
    return replace(model, joints=tuple(joints))


def pinocchio_derivatives(function, model, *state):
    """Pinocchio's derivatives, copied: what it returns are views of its workspace."""
    other, data = pin_model(model)
    return [np.array(matrix) for matrix in function(other, data, *state)]


def slopes(function, x):
    """The Jacobian of a function of one vector by central differences."""
    step = 1e-6
    ends = [(function(x + step * e), function(x - step * e)) for e in np.eye(len(x))]
    return np.stack([(up - down) / (2 * step) for up, down in ends], -1)


@given(model=driven, seed=seeds)
def test_inverse_dynamics_derivatives_are_those_of_pinocchio(model, seed):
    q, qd, qdd = random_states(model, seed)
    mine = Robot(model).inverse_dynamics_derivatives(q, qd, qdd, friction=False)
    dq, dqd, _ = pinocchio_derivatives(pin.computeRNEADerivatives, model, q, qd, qdd)
    close(mine.dq, dq)
    close(mine.dqd, dqd)


@given(model=driven, seed=seeds)
def test_forward_dynamics_derivatives_are_those_of_pinocchio(model, seed):
    q, qd, tau = random_states(model, seed)
    mine = Robot(model).forward_dynamics_derivatives(q, qd, tau, friction=False)
    dq, dqd, dtau = pinocchio_derivatives(pin.computeABADerivatives, model, q, qd, tau)
    close(mine.dq, dq)
    close(mine.dqd, dqd)
    close(mine.dtau, dtau)


@given(seed=seeds)
def test_coupled_joints_differentiate_as_their_torques_do(seed):
    model = coupled(seed)
    at = Coordinates.of(model)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, size=(3, 3))

    def torques(q, qd):
        motion = at.positions(q), at.rates(qd), at.rates(qdd)
        return at.torques(newton_euler(model, *motion).tau)

    mine = Robot(model).inverse_dynamics_derivatives(q, qd, qdd, friction=False)
    for j, e in enumerate(np.eye(3)):
        close(mine.dq[:, j], torques(q + 1j * STEP * e, qd).imag / STEP, 1e-11)
        close(mine.dqd[:, j], torques(q, qd + 1j * STEP * e).imag / STEP, 1e-11)


@given(seed=seeds)
def test_forward_dynamics_of_coupled_joints_with_friction_by_differences(seed):
    robot = Robot(coupled(seed, friction=True))
    q, qd, tau = np.random.default_rng(seed).uniform(0.2, 1, size=(3, 3))
    mine = robot.forward_dynamics_derivatives(q, qd, tau)
    close(mine.dq, slopes(lambda x: robot.forward_dynamics(x, qd, tau), q), 1e-5)
    close(mine.dqd, slopes(lambda x: robot.forward_dynamics(q, x, tau), qd), 1e-5)
    close(mine.dtau, slopes(lambda x: robot.forward_dynamics(q, qd, x), tau), 1e-5)


@given(model=driven, seed=seeds)
def test_slope_in_acceleration_is_the_mass_matrix(model, seed):
    q, qd, qdd = random_states(model, seed)
    robot = Robot(model)
    step = robot.inverse_dynamics(q, qd, qdd) - robot.inverse_dynamics(q, qd, 0 * qdd)
    close(robot.inverse_dynamics_derivatives(q, qd, qdd).dqdd @ qdd, step, 1e-11)


@pytest.mark.parametrize("smooth", [0.0, 0.3])
@pytest.mark.parametrize("speed", [-0.4, -0.05, 0.05, 0.4])
def test_friction_adds_the_slope_of_its_curve(smooth, speed):
    model = random_model("R", 1)
    friction = FrictionLaw(0.5, 2.0, 3.0, 1.5, 0.2, smooth)
    robot = Robot(replace(model, joints=(replace(model.joints[0], friction=friction),)))
    q, qd = np.zeros(1), np.array([speed])
    added = (
        robot.inverse_dynamics_derivatives(q, qd, q).dqd
        - robot.inverse_dynamics_derivatives(q, qd, q, friction=False).dqd
    )
    close(added, slopes(robot.friction_torque, qd), 1e-7)


def test_at_rest_a_true_sign_has_no_slope():
    model = random_model("R", 1)
    friction = FrictionLaw(0.5, 2.0, 3.0, 1.5, 0.2)
    robot = Robot(replace(model, joints=(replace(model.joints[0], friction=friction),)))
    rest = np.zeros(1)
    assert robot.inverse_dynamics_derivatives(rest, rest, rest).dqd == [[0.5]]


@settings(max_examples=3)
@given(model=driven, seed=seeds)
def test_batches_of_any_shape_give_the_same_numbers(model, seed):
    q, qd, qdd = random_states(model, seed, batch=(2, 3))
    robot = Robot(model)
    n = robot.n
    together = robot.inverse_dynamics_derivatives(q, qd[0, 0], qdd)
    forward = robot.forward_dynamics_derivatives(q, qd[0, 0], qdd)
    for index in np.ndindex(2, 3):
        one = robot.inverse_dynamics_derivatives(q[index], qd[0, 0], qdd[index])
        close(together.dq[index], one.dq, 1e-13)
        close(together.dqd[index], one.dqd, 1e-13)
        one = robot.forward_dynamics_derivatives(q[index], qd[0, 0], qdd[index])
        close(forward.dqd[index], one.dqd, 1e-9)
    empty = np.zeros((0, n))
    assert robot.inverse_dynamics_derivatives(empty, empty, empty).dqd.shape == (0, n, n)
    assert robot.forward_dynamics_derivatives(empty, empty, empty).dtau.shape == (0, n, n)


@pytest.mark.thorough
def test_many_joints_in_linear_size():
    sizes = {}
    for n in (15, 30):
        robot = Robot(random_model("R" * n, 7))
        q, qd, qdd = random_states(robot.model, 8)
        mine = robot.inverse_dynamics_derivatives(q, qd, qdd)
        dq, dqd, _ = pinocchio_derivatives(pin.computeRNEADerivatives, robot.model, q, qd, qdd)
        close(mine.dq, dq)
        close(mine.dqd, dqd)
        program = quantity_program(robot.model, Request("inverse_dynamics_slope"))
        sizes[n] = program.operations.total
    assert sizes[30] < 2.2 * sizes[15]


def test_a_robot_can_be_sent_to_another_process_after_use():
    robot = Robot(random_model("RRP", 9))
    states = random_states(robot.model, 10)
    used = robot.inverse_dynamics_derivatives(*states).dq
    again = pickle.loads(pickle.dumps(robot)).inverse_dynamics_derivatives(*states).dq
    assert np.array_equal(used, again)


def test_not_a_number_goes_through_and_stays_in_its_state():
    robot = armdyn.load("two_link")
    q = np.array([[0.1, 0.2], [np.nan, 0.2]])
    dq = robot.forward_dynamics_derivatives(q, 0 * q, np.ones_like(q)).dq
    assert np.isfinite(dq[0]).all()
    assert np.isnan(dq[1]).any()


@pytest.mark.filterwarnings("ignore:robot .* no row has a mass")
def test_accelerations_without_inertia_are_an_error():
    robot = armdyn.from_dh([dict(joint="revolute", a=1.0), dict(joint="revolute", a=1.0)])
    with pytest.raises(SingularityError, match="mass matrix is singular"):
        robot.forward_dynamics_derivatives([0.1, 0.2], [0, 0], [1, 1])
