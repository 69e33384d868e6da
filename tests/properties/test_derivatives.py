"""Derivatives of the dynamics: Pinocchio's analytical ones, complex step and differences."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import SingularityError
from armdyn.formulations.newton_euler import newton_euler
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import FrictionLaw
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.arms import ARMS
from support.peers import PinocchioArm, close
from support.programs import EvaluatedRobot
from support.rotor_bodies import with_rotor_bodies

STEP = 1e-30


def slopes(function, x):
    """The Jacobian of a function of one vector by central differences."""
    step = 1e-6
    ends = [(function(x + step * e), function(x - step * e)) for e in np.eye(len(x))]
    return np.stack([(up - down) / (2 * step) for up, down in ends], -1)


def test_inverse_dynamics_derivatives_are_those_of_pinocchio(arm):
    states = arm.states()
    mine = arm.robot.inverse_dynamics_derivatives(*states, friction=False)
    dq, dqd = PinocchioArm(arm).torque_derivatives(*states)
    close(mine.dq, dq, 1e-11)
    close(mine.dqd, dqd, 1e-11)


# bodies that turn at a hundred radians a second cost Pinocchio some digits
@pytest.mark.arms(where=lambda arm: not arm.spins)
def test_forward_dynamics_derivatives_are_those_of_pinocchio(arm):
    (q, qd, tau), other = arm.states(), PinocchioArm(arm)
    mine = arm.robot.forward_dynamics_derivatives(q, qd, tau, friction=False)
    M = other.mass_matrix(q)
    qdd = np.linalg.solve(M, tau - other.bias(q, qd))
    dq, dqd = (-np.linalg.solve(M, slope) for slope in other.torque_derivatives(q, qd, qdd))
    tolerance = 1e-13 * np.linalg.cond(M) ** 2
    close(mine.dq, dq, tolerance)
    close(mine.dqd, dqd, tolerance)
    close(mine.dtau, np.linalg.inv(M), tolerance)


def test_torques_of_newton_and_euler_have_these_derivatives_by_complex_step(arm):
    q, qd, qdd = arm.states()
    at, bodies = coordinates_of(arm.model), with_rotor_bodies(arm.model)

    def torques(q, qd):
        motion = map(bodies.all, (at.positions(q), at.rates(qd), at.rates(qdd)))
        return at.torques(bodies.torques(newton_euler(bodies.model, *motion).tau))

    mine = arm.robot.inverse_dynamics_derivatives(q, qd, qdd, friction=False)
    slope = arm.robot.kernel("inverse_dynamics_slope", friction=False)
    for j, e in enumerate(np.eye(len(q))):
        by_q = torques(q + 1j * STEP * e, qd).imag / STEP
        by_qd = torques(q, qd + 1j * STEP * e).imag / STEP
        close(mine.dq[:, j], by_q, 1e-11)
        close(mine.dqd[:, j], by_qd, 1e-11)
        close(slope(q, qd, qdd, e, e), [by_q, by_qd], 1e-11)


def test_derivatives_with_friction_are_those_by_differences(arm):
    (q, qd, tau), robot = arm.states(), arm.robot
    torque = robot.inverse_dynamics_derivatives(q, qd, tau)
    close(torque.dqd, slopes(lambda x: robot.inverse_dynamics(q, x, tau), qd), 1e-7)
    mine = robot.forward_dynamics_derivatives(q, qd, tau)
    tolerance = 1e-8 * np.linalg.cond(robot.mass_matrix(q))
    close(mine.dq, slopes(lambda x: robot.forward_dynamics(x, qd, tau), q), tolerance)
    close(mine.dqd, slopes(lambda x: robot.forward_dynamics(q, x, tau), qd), tolerance)
    close(mine.dtau, slopes(lambda x: robot.forward_dynamics(q, qd, x), tau), tolerance)


def test_slope_in_acceleration_is_the_mass_matrix(arm):
    (q, qd, qdd), robot = arm.states(), arm.robot
    step = robot.inverse_dynamics(q, qd, qdd) - robot.inverse_dynamics(q, qd, 0 * qdd)
    close(robot.inverse_dynamics_derivatives(q, qd, qdd).dqdd @ qdd, step, 1e-11)


@pytest.mark.parametrize("smooth", [0.0, 0.3])
@pytest.mark.parametrize("speed", [-0.4, -0.05, 0.05, 0.4])
def test_friction_adds_the_slope_of_its_curve(smooth, speed):
    robot = with_friction(FrictionLaw(0.5, 2.0, 3.0, 1.5, 0.2, smooth))
    q, qd = np.zeros(robot.n), np.array([speed, -speed, 2 * speed])
    added = (
        robot.inverse_dynamics_derivatives(q, qd, q).dqd
        - robot.inverse_dynamics_derivatives(q, qd, q, friction=False).dqd
    )
    close(added, slopes(robot.friction_torque, qd), 1e-7)


def test_at_rest_a_true_sign_has_no_slope():
    robot = with_friction(FrictionLaw(0.5, 2.0, 3.0, 1.5, 0.2))
    rest = np.zeros(robot.n)
    close(robot.inverse_dynamics_derivatives(rest, rest, rest).dqd, 0.5 * np.eye(robot.n), 1e-13)


def with_friction(friction):
    """An arm of three joints that all have this friction."""
    model = ARMS["point_masses"].model
    joints = tuple(replace(joint, friction=friction) for joint in model.joints)
    return EvaluatedRobot(replace(model, joints=joints))


@pytest.mark.arms(compiled=True)
def test_batches_of_any_shape_give_the_same_numbers(arm):
    q, qd, qdd = arm.states(2, 3)
    robot = Robot(arm.model)
    n = robot.n
    together = robot.inverse_dynamics_derivatives(q, qd[0, 0], qdd)
    forward = robot.forward_dynamics_derivatives(q, qd[0, 0], qdd)
    close(together.dq, arm.robot.inverse_dynamics_derivatives(q, qd[0, 0], qdd).dq, 1e-13)
    for index in np.ndindex(2, 3):
        one = robot.inverse_dynamics_derivatives(q[index], qd[0, 0], qdd[index])
        assert np.array_equal(together.dq[index], one.dq)
        assert np.array_equal(together.dqd[index], one.dqd)
        one = robot.forward_dynamics_derivatives(q[index], qd[0, 0], qdd[index])
        assert np.array_equal(forward.dqd[index], one.dqd)
    empty = np.zeros((0, n))
    assert robot.inverse_dynamics_derivatives(empty, empty, empty).dqd.shape == (0, n, n)
    assert robot.forward_dynamics_derivatives(empty, empty, empty).dtau.shape == (0, n, n)


@pytest.mark.thorough(reason="robots of 15 and 30 joints, which are traced and compiled for long")
def test_many_joints_in_linear_size():
    sizes = {}
    for n in (15, 30):
        long = replace(ARMS["general_6r"], name=f"{n}R", kinds="R" * n)
        states = long.states()
        mine = Robot(long.model).inverse_dynamics_derivatives(*states)
        dq, dqd = PinocchioArm(long).torque_derivatives(*states)
        close(mine.dq, dq)
        close(mine.dqd, dqd)
        program = quantity_program(long.model, Request("inverse_dynamics_slope"))
        sizes[n] = program.operations.total
    assert sizes[30] < 2.2 * sizes[15]


def test_a_robot_can_be_sent_to_another_process_after_use():
    arm = ARMS["scara"]
    robot, states = Robot(arm.model), arm.states()
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
