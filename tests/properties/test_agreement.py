"""One trusted number: every formulation and every quantity against Pinocchio."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, TopologyError
from armdyn.model.transform import rotation_from_rpy
from armdyn.quantities.formulations import CHAINS, FORMULATIONS, NEED_COM
from support.peers import PinocchioArm, close

METHODS = ("composite_body", "articulated_body", "denoc")


def accelerations_close(arm, actual, expected):
    """To what the condition of the mass matrix lets through."""
    q, _, _ = arm.states()
    close(actual, expected, 1e-13 * np.linalg.cond(arm.robot.mass_matrix(q)))


def test_torques_by_every_formulation_equal_pinocchio(arm):
    states, wrench = arm.states(), arm.wrench()
    expected = PinocchioArm(arm).torques(*states, wrench) + arm.robot.friction_torque(states[1])
    close(arm.robot.inverse_dynamics(*states, wrench), expected, 1e-11)
    for name in FORMULATIONS:
        refused = [TopologyError] * (name in CHAINS and not arm.model.is_chain)
        refused += [ModelError] * (name in NEED_COM and arm.bodies == "regrouped")
        if refused:
            with pytest.raises(tuple(refused)):
                arm.robot.inverse_dynamics(*states, wrench, formulation=name)
        else:
            tau = arm.robot.inverse_dynamics(*states, wrench, formulation=name)
            close(tau, expected, 1e-11)


def test_every_quantity_equals_pinocchio(arm):
    (q, qd, _), robot, other = arm.states(), arm.robot, PinocchioArm(arm)
    close(robot.mass_matrix(q), other.mass_matrix(q), 1e-11)
    close(robot.coriolis_matrix(q, qd) @ qd, other.coriolis_matrix(q, qd) @ qd, 1e-11)
    close(robot.gravity_vector(q), other.gravity_vector(q), 1e-11)
    close(robot.bias(q, qd), other.bias(q, qd), 1e-11)
    close(robot.kinetic_energy(q, qd), 0.5 * qd @ other.mass_matrix(q) @ qd, 1e-11)
    # of base parameters it is known but for a constant
    climbed = robot.potential_energy(q) - robot.potential_energy(0 * q)
    close(climbed, other.potential_energy(q) - other.potential_energy(0 * q), 1e-11)


@pytest.mark.arms(where=lambda arm: arm.bodies != "regrouped")
def test_potential_energy_is_zero_at_the_origin_of_the_world(arm):
    q, _, _ = arm.states()
    close(arm.robot.potential_energy(q), PinocchioArm(arm).potential_energy(q), 1e-11)


def test_kinematics_equal_pinocchio(arm):
    (q, qd, _), robot, other = arm.states(), arm.robot, PinocchioArm(arm)
    close(robot.forward_kinematics(q), other.tool(q), 1e-12)
    world, tool, world_rate = other.jacobians(q, qd)
    close(robot.jacobian(q, "world"), world, 1e-12)
    close(robot.jacobian(q, "tool"), tool, 1e-12)
    close(robot.jacobian_dot(q, qd), world_rate, 1e-11)


def test_forward_dynamics_by_every_method_equals_pinocchio(arm):
    (q, qd, tau), robot, other, wrench = arm.states(), arm.robot, PinocchioArm(arm), arm.wrench()
    rest = tau - robot.friction_torque(qd) - other.torques(q, qd, 0 * qd, wrench)
    expected = np.linalg.solve(other.mass_matrix(q), rest)
    accelerations_close(arm, robot.forward_dynamics(q, qd, tau, wrench), expected)
    for method in METHODS:
        if method != "composite_body" and arm.model.is_coupled:
            with pytest.raises(ModelError, match="composite_body"):
                robot.forward_dynamics(q, qd, tau, wrench, method=method)
        else:
            found = robot.forward_dynamics(q, qd, tau, wrench, method=method)
            accelerations_close(arm, found, expected)


def test_torques_by_every_formulation_agree_on_a_base_that_moves(arm):
    rng, (q, qd, qdd), robot = np.random.default_rng(arm.seed), arm.states(2), arm.robot
    turn = rotation_from_rpy(rng.uniform(-2, 2, 3))
    base = armdyn.BaseMotion(turn, *rng.uniform(-3, 3, (3, 2, 3)))
    load = {"external_wrench": arm.wrench(), "base_motion": base}
    expected = robot.inverse_dynamics(q, qd, qdd, **load)
    centred = all(link.inertia.has_com for link in arm.model.links)
    left_out = {"minimal", *(() if arm.model.is_chain else CHAINS), *(() if centred else NEED_COM)}
    for name in (name for name in FORMULATIONS if name not in left_out):
        close(robot.inverse_dynamics(q, qd, qdd, formulation=name, **load), expected, 1e-10)
    with pytest.raises(ModelError, match="'minimal' regroups what a base that moves would feel"):
        robot.inverse_dynamics(q, qd, qdd, formulation="minimal", **load)


@pytest.mark.parametrize(
    "name", ["newton_euler_base", "denoc_recursive", "augmented_body_intrinsic"]
)
def test_recursions_start_from_the_motion_of_the_base(name):
    """Joints at rest turn with their base; a first joint at its origin accelerates as it does."""
    rng, zero = np.random.default_rng(0), np.zeros(6)
    robot = armdyn.load("puma560")
    w, wd, a = rng.normal(size=(3, 3))
    found = robot.formulate(name, zero, zero, zero, base_motion=armdyn.BaseMotion(None, w, wd, a))
    turning = [t[:3] for t in found.t] if name == "denoc_recursive" else found.w
    close(turning, [w] * 6, 1e-14)
